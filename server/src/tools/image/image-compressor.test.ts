import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  animation,
  animationDelays,
  difference,
  grain,
  hugePngHeader,
  keptFixture,
  meanDifference,
  pixel,
  quarterColors,
  quarters,
  writeImages,
} from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import imageCompressor from './image-compressor.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  const photo = await grain(800, 600);
  const jpeg = await photo.clone().jpeg({ quality: 95 }).toBuffer();
  const gps = { IFD0: { Artist: 'Somebody Secret' }, IFD3: { GPSLatitude: '52/1 30/1 0/1', GPSLatitudeRef: 'N' } };
  const tagged = quarters().withExif(gps);
  return writeImages(directory, {
    'photo.jpg': jpeg,
    'tiny.jpg': quarters().jpeg({ quality: 1 }).toBuffer(),
    'ribbon.png': (await grain(20, 4000)).png().toBuffer(),
    'tagged.jpg': tagged.clone().withMetadata({ orientation: 6, exif: gps }).jpeg({ quality: 5 }).toBuffer(),
    'tagged.webp': tagged.clone().webp({ quality: 1 }).toBuffer(),
    'tagged.avif': tagged.clone().avif({ quality: 1 }).toBuffer(),
    'flat.png': quarters().png({ compressionLevel: 0 }).toBuffer(),
    'photo.png': (await grain(200, 150)).png().toBuffer(),
    'cut.jpg': jpeg.subarray(0, jpeg.length / 2),
    'huge.png': hugePngHeader(),
    'moving.gif': animation('gif'),
    'drawing.svg': `<?xml version="1.0"?>
      <!-- made by hand -->
      <svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" viewBox="0 0 100 50">
        <g><g><rect id="spot" x="0.0000" y="0.0000" width="50.0000" height="50" fill="#ff0000"/></g></g>
      </svg>`,
    'bomb.svg': `<!DOCTYPE svg [<!ENTITY a "${'x'.repeat(50)}">${[...'bcdefghijklm']
      .map((name, index) => `<!ENTITY ${name} "${`&${String.fromCharCode(97 + index)};`.repeat(10)}">`)
      .join('')}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&m;</text></svg>`,
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function compress(name: keyof typeof files, form: Record<string, string> = {}) {
  const run = await runTool(imageCompressor, [files[name]], form);
  const [output] = run.outputs;
  if (output === undefined) throw new Error('no output');
  return { ...run, ...output, given: (await stat(files[name])).size };
}

test('a JPEG gets smaller and still looks the same', async () => {
  await using result = await compress('photo.jpg');
  expect(result.filename).toBe('photo.jpg');
  expect(result.type).toBe('jpeg');
  expect(result.sizeBytes).toBeLessThan(result.given * 0.7);
  expect(await meanDifference(result.path, files['photo.jpg'])).toBeLessThan(6);
});

test('the default is byte for byte what sharp makes of it', async () => {
  await using result = await compress('photo.jpg', { progressive: 'false' });
  const bare = await sharp(files['photo.jpg']).jpeg({ quality: 80 }).toBuffer();
  expect((await readFile(result.path)).equals(bare)).toBe(true);
});

test('lower quality gives a smaller file, and effort=best a smaller one still', async () => {
  await using fine = await compress('photo.jpg', { quality: '80' });
  await using coarse = await compress('photo.jpg', { quality: '30' });
  await using best = await compress('photo.jpg', { quality: '30', effort: 'best' });
  expect(coarse.sizeBytes).toBeLessThan(fine.sizeBytes);
  expect(best.sizeBytes).toBeLessThan(coarse.sizeBytes);
});

test('progressive is chosen by size unless it is told', async () => {
  const isProgressive = async (form: Record<string, string>) => {
    await using result = await compress('photo.jpg', form);
    return (await sharp(result.path).metadata()).isProgressive;
  };
  expect(await isProgressive({})).toBe(true);
  expect(await isProgressive({ progressive: 'false' })).toBe(false);
});

test('an image that would grow is returned as it was', async () => {
  await using result = await compress('tiny.jpg', { quality: '100' });
  expect(result.sizeBytes).toBe(result.given);
  expect(await meanDifference(result.path, files['tiny.jpg'])).toBe(0);
});

for (const name of ['tagged.jpg', 'tagged.webp', 'tagged.avif'] as const) {
  test(`${name}: what is returned as it was still loses its metadata, not its orientation`, async () => {
    expect((await sharp(files[name]).metadata()).exif?.includes('Somebody Secret')).toBe(true);
    await using result = await compress(name, { quality: '100', effort: 'fast' });
    expect(result.sizeBytes).toBeLessThanOrEqual(result.given);
    expect((await readFile(result.path)).includes('Somebody Secret')).toBe(false);
    const expected = name === 'tagged.jpg' ? 6 : undefined;
    expect((await sharp(result.path).metadata()).orientation).toBe(expected);
    expect(await meanDifference(result.path, files[name])).toBe(0);
  });
}

test('metadata stays when strip_metadata is off', async () => {
  await using result = await compress('tagged.jpg', { quality: '3', strip_metadata: 'false' });
  expect((await sharp(result.path).metadata()).exif?.includes('Somebody Secret')).toBe(true);
});

test('lossless keeps every pixel of a JPEG and a PNG', async () => {
  await using jpeg = await compress('tagged.jpg', { mode: 'lossless' });
  expect(jpeg.sizeBytes).toBeLessThan(jpeg.given);
  expect(await meanDifference(jpeg.path, files['tagged.jpg'])).toBe(0);
  await using png = await compress('flat.png', { mode: 'lossless' });
  expect(png.sizeBytes).toBeLessThan(png.given / 10);
  expect(await meanDifference(png.path, files['flat.png'])).toBe(0);
});

test('a PNG becomes a palette', async () => {
  await using result = await compress('photo.png', { quality: '70' });
  expect(result.sizeBytes).toBeLessThan(result.given / 2);
  expect((await sharp(result.path).metadata()).isPalette).toBe(true);
});

for (const [name, kilobytes] of [
  ['photo.jpg', 20],
  ['photo.jpg', 3],
  ['photo.png', 8],
] as const) {
  test(`${name} meets a target of ${kilobytes} kB`, async () => {
    await using result = await compress(name, { mode: 'target_size', target_size_kb: String(kilobytes) });
    expect(result.sizeBytes).toBeLessThanOrEqual(kilobytes * 1000);
    expect(result.sizeBytes).toBeGreaterThan(kilobytes * 1000 * 0.5);
    expect((await sharp(result.path).metadata()).width).toBeGreaterThanOrEqual(16);
  });
}

test('a target that cannot be met fails with the size that was reached', async () => {
  await expect(compress('ribbon.png', { mode: 'target_size', target_size_kb: '1' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/^"ribbon.png" cannot be brought to 1 kB; the smallest size reached is \d+ kB\.$/),
  });
});

test('target_size needs a target', async () => {
  await expect(compress('photo.jpg', { mode: 'target_size' })).rejects.toThrow('target_size_kb');
});

test('max_width and max_height shrink in proportion and never enlarge', async () => {
  await using smaller = await compress('photo.jpg', { max_width: '400', max_height: '150' });
  expect(await sharp(smaller.path).metadata()).toMatchObject({ width: 200, height: 150 });
  await using same = await compress('photo.jpg', { max_width: '5000' });
  expect(await sharp(same.path).metadata()).toMatchObject({ width: 800, height: 600 });
});

test('an animated GIF keeps its frames, their timing and its loops', async () => {
  await using result = await compress('moving.gif', { quality: '60' });
  const metadata = await sharp(result.path, { pages: -1 }).metadata();
  expect(metadata).toMatchObject({ pages: 3, delay: animationDelays, loop: 2 });
  await using webp = await compress('moving.gif', { format: 'webp' });
  expect(webp.filename).toBe('moving.webp');
  expect((await sharp(webp.path, { pages: -1 }).metadata()).pages).toBe(3);
});

test('a drawing is optimised as a drawing and keeps its viewBox and ids', async () => {
  await using result = await compress('drawing.svg');
  const svg = await readFile(result.path, 'utf8');
  expect(result.type).toBe('svg');
  expect(result.sizeBytes).toBeLessThan(result.given * 0.7);
  expect(svg).toContain('viewBox="0 0 100 50"');
  expect(svg).toContain('id="spot"');
  expect(difference(await pixel(result.path, 10, 10), [255, 0, 0])).toBeLessThan(2);
});

test('a drawing becomes pixels when a format is asked for', async () => {
  await using result = await compress('drawing.svg', { format: 'png' });
  expect(await sharp(result.path).metadata()).toMatchObject({ format: 'png', width: 100, height: 50 });
});

test('HEIC is read with its colours', async () => {
  await using run = await runTool(imageCompressor, [keptFixture('photo.heic')], { format: 'jpeg' });
  const path = run.outputs[0]?.path ?? '';
  expect(run.outputs[0]?.filename).toBe('photo.jpg');
  expect(difference(await pixel(path, 20, 20), quarterColors.topLeft)).toBeLessThan(8);
  expect(difference(await pixel(path, 220, 20), quarterColors.topRight)).toBeLessThan(8);
});

test('a file that is cut short is told by its name, without the engine’s words', async () => {
  await expect(compress('cut.jpg')).rejects.toMatchObject({
    code: 'invalid_input',
    file: 'cut.jpg',
    message: '"cut.jpg" cannot be read as a JPEG image: it is damaged or cut short.',
  });
});

test('an image that claims too many pixels is refused before it is decoded', async () => {
  await expect(compress('huge.png')).rejects.toMatchObject({
    code: 'resource_limit',
    message: expect.stringContaining('100 million pixels'),
  });
});

test('entities that expand without end are refused, as drawing and as pixels', async () => {
  await expect(compress('bomb.svg')).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(compress('bomb.svg', { format: 'png' })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('lossless JPEG from another format, or resized, is refused before it runs', async () => {
  await expect(compress('flat.png', { mode: 'lossless', format: 'jpeg' })).rejects.toThrow('format');
  await expect(compress('photo.jpg', { mode: 'lossless', max_width: '10' })).rejects.toThrow('mode');
});
