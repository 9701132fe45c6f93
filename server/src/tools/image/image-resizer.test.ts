import { mkdtemp, readFile, rm } from 'node:fs/promises';
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
import { runTool } from '../../../test/run-tool.ts';
import imageConverter from './image-converter.ts';
import imageResizer from './image-resizer.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  return writeImages(directory, {
    'photo.jpg': quarters(240, 160).jpeg().toBuffer(),
    'turned.jpg': quarters(240, 160).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    'moving.webp': animation('webp'),
    'moving.gif': animation('gif'),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function sizeOf(path: string, form: Record<string, string>) {
  await using run = await runTool(imageResizer, [path], form);
  const { width, height, pageHeight } = await sharp(run.outputs[0]?.path, { pages: -1 }).metadata();
  return `${width}x${pageHeight ?? height}`;
}

for (const [form, expected] of [
  [{ width: '120' }, '120x80'],
  [{ height: '40' }, '60x40'],
  [{ percent: '50' }, '120x80'],
  [{ percent: '150' }, '360x240'],
  [{ width: '100', height: '100' }, '100x67'],
  [{ width: '100', height: '100', fit: 'outside' }, '150x100'],
  [{ width: '100', height: '100', fit: 'cover' }, '100x100'],
  [{ width: '100', height: '100', fit: 'contain' }, '100x100'],
  [{ width: '100', height: '100', fit: 'fill' }, '100x100'],
  [{ width: '480' }, '240x160'],
  [{ width: '480', enlarge: 'true' }, '480x320'],
] as const) {
  test(`240x160 with ${new URLSearchParams(form)} becomes ${expected}`, async () => {
    expect(await sizeOf(files['photo.jpg'], form)).toBe(expected);
  });
}

test('sizes are those of the upright picture', async () => {
  expect(await sizeOf(files['turned.jpg'], { width: '80' })).toBe('80x120');
});

test('contain fills the border with the background', async () => {
  const form = { width: '100', height: '100', fit: 'contain', background: '#ff00ff' };
  await using run = await runTool(imageResizer, [files['photo.jpg']], form);
  const path = run.outputs[0]?.path ?? '';
  expect(difference(await pixel(path, 50, 3), [255, 0, 255])).toBeLessThan(8);
  expect(difference(await pixel(path, 10, 25), quarterColors.topLeft)).toBeLessThan(8);
});

for (const name of ['moving.gif', 'moving.webp'] as const) {
  test(`${name} keeps moving`, async () => {
    await using run = await runTool(imageResizer, [files[name]], { width: '30' });
    const metadata = await sharp(run.outputs[0]?.path, { pages: -1 }).metadata();
    expect(metadata).toMatchObject({ width: 30, pageHeight: 20, pages: 3, delay: animationDelays });
  });
}

test('a format that nobody writes becomes a PNG, and one can be chosen', async () => {
  await using psd = await runTool(imageResizer, [keptFixture('layers.psd')], { width: '60' });
  expect(psd.outputs[0]).toMatchObject({ filename: 'layers.png', type: 'png' });
  await using webp = await runTool(imageResizer, [files['photo.jpg']], { width: '60', format: 'webp' });
  expect(webp.outputs[0]).toMatchObject({ filename: 'photo.webp', type: 'webp' });
});

test('several files keep their order, and equal names stay apart', async () => {
  const paths = [files['photo.jpg'], files['moving.gif'], files['photo.jpg']];
  await using run = await runTool(imageResizer, paths, { width: '20' });
  expect(run.outputs.map(({ filename }) => filename)).toEqual(['photo.jpg', 'moving.gif', 'photo-1.jpg']);
});

test('a run that was ended stops', async () => {
  const ended = AbortSignal.abort();
  await expect(runTool(imageResizer, [files['photo.jpg']], { width: '20' }, ended)).rejects.toThrow('aborted');
});

test('a size is needed, once', async () => {
  await expect(runTool(imageResizer, [files['photo.jpg']], {})).rejects.toThrow('width');
  await expect(runTool(imageResizer, [files['photo.jpg']], { width: '5', percent: '5' })).rejects.toThrow('percent');
});

test('an icon holds no picture larger than was asked for', async () => {
  await using icon = await runTool(imageConverter, [files['photo.jpg']], { format: 'ico' });
  await using run = await runTool(imageResizer, [icon.outputs[0]!], { width: '48' });
  const file = await readFile(run.outputs[0]!.path);
  const edges = Array.from({ length: file.readUInt16LE(4) }, (_, index) => file[6 + index * 16]);
  expect(edges).toEqual([16, 24, 32, 48]);
});
