import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grain, pixel, quarters, writeImages } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import colorPaletteExtractor from './color-palette-extractor.ts';
import duplicateImageFinder from './duplicate-image-finder.ts';
import imageComparer from './image-comparer.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  const solid = (background: string, width = 60) => ({
    create: { width, height: 40, channels: 4 as const, background },
  });
  const photo = await grain(240, 160);
  return writeImages(directory, {
    'one.png': quarters().png().toBuffer(),
    'spot.png': sharp(await quarters().png().toBuffer())
      .composite([{ input: { create: { width: 10, height: 8, channels: 3, background: '#fff' } }, left: 30, top: 50 }])
      .png()
      .toBuffer(),
    'wider.png': quarters().extend({ right: 20, background: '#ffffff' }).png().toBuffer(),
    'photo.png': photo.png().toBuffer(),
    'turned.jpg': photo.clone().rotate(270).withMetadata({ orientation: 6 }).jpeg({ quality: 60 }).toBuffer(),
    'small.webp': photo.clone().resize(90).webp().toBuffer(),
    'red.png': sharp(solid('#ff0000')).png().toBuffer(),
    'blue.png': sharp(solid('#0000ff')).png().toBuffer(),
    'red2.png': sharp(solid('#fe0000', 90)).png().toBuffer(),
    'clear.png': sharp(solid('#00000000')).png().toBuffer(),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function readJson(path: string | undefined) {
  return JSON.parse(await readFile(path ?? '', 'utf8')) as never;
}

test('a difference is counted, placed and painted', async () => {
  await using run = await runTool(imageComparer, [files['one.png'], files['spot.png']]);
  expect(run.outputs.map(({ filename, type }) => [filename, type])).toEqual([
    ['one-diff.png', 'png'],
    ['one-comparison.json', 'json'],
  ]);
  expect(await readJson(run.outputs[1]?.path)).toMatchObject({
    identical: false,
    same_size: true,
    different_pixels: 80,
    total_pixels: 240 * 160,
    differences_in: { x: 30, y: 50, width: 10, height: 8 },
  });
  expect(await pixel(run.outputs[0]?.path ?? '', 34, 54)).toEqual([255, 0, 0]);
  await using same = await runTool(imageComparer, [files['one.png'], files['one.png']], { output: 'side_by_side' });
  expect(await readJson(same.outputs[1]?.path)).toMatchObject({ identical: true, differences_in: null });
  expect((await sharp(same.outputs[0]?.path).metadata()).width).toBeGreaterThan(3 * 240);
});

test('what only one of two images has is a difference, whatever its colour', async () => {
  await using run = await runTool(imageComparer, [files['one.png'], files['wider.png']], { output: 'overlay' });
  expect(await readJson(run.outputs[1]?.path)).toMatchObject({
    same_size: false,
    different_pixels: 20 * 160,
    compared_on: { width: 260, height: 160 },
    differences_in: { x: 240, y: 0, width: 20, height: 160 },
  });
});

test('copies in other sizes, formats and turns are found, and nothing else', async () => {
  const inputs = ['photo.png', 'red.png', 'turned.jpg', 'blue.png', 'small.webp', 'red2.png', 'one.png'] as const;
  await using run = await runTool(
    duplicateImageFinder,
    inputs.map((name) => files[name]),
  );
  const report: { groups: { keep: number; images: { index: number }[] }[]; unique: number[] } = await readJson(
    run.outputs[0]?.path,
  );
  expect(report.groups.map(({ images }) => images.map(({ index }) => index))).toEqual([
    [0, 2, 4],
    [1, 5],
  ]);
  expect(report.groups[0]?.keep).toBe(0);
  expect(report.unique).toEqual([3, 6]);
});

test('a palette has the colours of a drawing and their shares', async () => {
  await using run = await runTool(colorPaletteExtractor, [files['one.png']]);
  const report: { colors: { color: string; share: number }[] } = await readJson(run.outputs[0]?.path);
  expect(report.colors.map(({ color }) => color).toSorted()).toEqual(['#2850dc', '#28b43c', '#dc2828', '#f0c828']);
  for (const { share } of report.colors) expect(share).toBeCloseTo(0.25, 2);
  expect((await sharp(run.outputs[1]?.path).metadata()).width).toBe(4 * 96);
  await using few = await runTool(colorPaletteExtractor, [files['photo.png']], { count: '5', format: 'hsl' });
  const photo: { colors: { color: string; share: number }[] } = await readJson(few.outputs[0]?.path);
  expect(photo.colors).toHaveLength(5);
  for (const { color } of photo.colors) expect(color).toMatch(/^hsl\(\d+, \d+%, \d+%\)$/);
  expect(photo.colors.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 2);
  await using red = await runTool(colorPaletteExtractor, [files['red.png']], { format: 'rgb' });
  expect(await readJson(red.outputs[0]?.path)).toMatchObject({ colors: [{ color: 'rgb(255, 0, 0)', share: 1 }] });
  await expect(runTool(colorPaletteExtractor, [files['clear.png']])).rejects.toMatchObject({ code: 'invalid_input' });
});
