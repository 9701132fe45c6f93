import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  animation,
  animationDelays,
  difference,
  keptFixture,
  pixel,
  quarterColors,
  quarters,
  writeImages,
} from '../../../test/image-fixtures.ts';
import { hasThumbnail } from '../../engines/image-metadata.ts';
import { runTool } from '../../../test/run-tool.ts';
import imageCropper from './image-cropper.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  const spot = { create: { width: 20, height: 20, channels: 3, background: '#ff0000' } } as const;
  return writeImages(directory, {
    'photo.png': quarters(240, 160).png().toBuffer(),
    'turned.jpg': quarters(240, 160).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer(),
    'spot.png': sharp({ create: { width: 300, height: 200, channels: 3, background: '#888888' } })
      .composite([{ input: spot, left: 250, top: 150 }])
      .png()
      .toBuffer(),
    'moving.gif': animation('gif'),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function crop(name: keyof typeof files, form: Record<string, string>) {
  const run = await runTool(imageCropper, [files[name]], form);
  const path = run.outputs[0]?.path ?? '';
  const { width, height } = await sharp(path).metadata();
  return { ...run, path, size: `${width}x${height}` };
}

for (const [form, size] of [
  [{ x: '10', y: '20', width: '100', height: '50' }, '100x50'],
  [{ x: '50', y: '25', width: '25', height: '50', unit: 'percent' }, '60x80'],
  [{ width: '100' }, '100x160'],
  [{ aspect_ratio: '1:1' }, '160x160'],
  [{ aspect_ratio: '16:9' }, '240x135'],
  [{ aspect_ratio: '2:1', width: '100' }, '100x50'],
  [{ aspect_ratio: '1/2', height: '100' }, '50x100'],
  [{ x: '200', y: '100', width: '100', height: '100' }, '40x60'],
  [{ width: '5000', height: '5000' }, '240x160'],
] as const) {
  test(`240x160 with ${new URLSearchParams(form)} leaves ${size}`, async () => {
    await using result = await crop('photo.png', form);
    expect(result.size).toBe(size);
  });
}

for (const [gravity, corner] of [
  ['top-left', 'topLeft'],
  ['top-right', 'topRight'],
  ['bottom-right', 'bottomRight'],
  ['bottom-left', 'bottomLeft'],
] as const) {
  test(`gravity ${gravity} keeps that corner`, async () => {
    await using result = await crop('photo.png', { width: '40', height: '40', gravity });
    expect(await pixel(result.path, 20, 20)).toEqual([...quarterColors[corner]]);
  });
}

test('the centre is in the middle', async () => {
  await using result = await crop('photo.png', { width: '40', height: '40' });
  expect(await pixel(result.path, 19, 19)).toEqual([...quarterColors.topLeft]);
  expect(await pixel(result.path, 20, 20)).toEqual([...quarterColors.bottomRight]);
});

test('places are those of the upright picture', async () => {
  await using result = await crop('turned.jpg', { x: '100', y: '10', width: '50', height: '50' });
  expect(difference(await pixel(result.path, 25, 25), quarterColors.topLeft)).toBeLessThan(8);
});

for (const strategy of ['attention', 'entropy']) {
  test(`${strategy} finds the only spot, at its own size`, async () => {
    await using result = await crop('spot.png', { width: '60', height: '50', strategy });
    expect(result.size).toBe('60x50');
    const { channels } = await sharp(result.path).stats();
    expect(channels[0]?.max).toBe(255);
    expect((channels[0]?.mean ?? 0) - (channels[1]?.mean ?? 0)).toBeGreaterThan(20);
  });
}

test('an animation is cropped as a whole, also by what it shows', async () => {
  for (const form of [
    { x: '0', y: '0', width: '20', height: '30' },
    { width: '20', height: '30', strategy: 'attention' },
  ]) {
    await using result = await crop('moving.gif', form);
    const metadata = await sharp(result.path, { pages: -1 }).metadata();
    expect(metadata).toMatchObject({ width: 20, pageHeight: 30, pages: 3, delay: animationDelays });
  }
});

for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
  test(`the small copy of the picture inside a ${format} goes, the rest of its EXIF stays`, async () => {
    const path = join(directory, `thumbnail.${format}`);
    await sharp(keptFixture('thumbnail.jpg')).keepMetadata().toFormat(format).toFile(path);
    expect(hasThumbnail((await sharp(path).metadata()).exif)).toBe(true);
    await using run = await runTool(imageCropper, [path], { width: '50', height: '50' });
    const { exif } = await sharp(run.outputs[0]?.path).metadata();
    expect(exif?.includes('Somebody')).toBe(true);
    expect(hasThumbnail(exif)).toBe(false);
  });
}

test('a part outside the image fails and says how large the image is', async () => {
  await expect(crop('photo.png', { x: '300', y: '0', width: '10', height: '10' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('240 x 160'),
  });
});

for (const [form, field] of [
  [{}, 'width'],
  [{ aspect_ratio: 'wide' }, 'aspect_ratio'],
  [{ aspect_ratio: '0:5' }, 'aspect_ratio'],
  [{ width: '10', height: '10', aspect_ratio: '1:1' }, 'aspect_ratio'],
  [{ width: '10', x: '5', strategy: 'attention' }, 'strategy'],
  [{ width: '150', unit: 'percent' }, 'width'],
] as const) {
  test(`${JSON.stringify(form)} is refused for its ${field}`, async () => {
    await expect(crop('photo.png', form)).rejects.toThrow(`"${field}"`);
  });
}
