import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  animation,
  animationDelays,
  difference,
  pixel,
  quarterColors,
  quarters,
  writeImages,
} from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import imageRotator from './image-rotator.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  return writeImages(directory, {
    'photo.png': quarters(240, 160).png().toBuffer(),
    'photo.jpg': quarters(240, 160).jpeg({ quality: 95 }).toBuffer(),
    'turned.jpg': quarters(240, 160).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer(),
    'grey.jpg': quarters(240, 160).toColourspace('b-w').jpeg().toBuffer(),
    'moving.gif': animation('gif'),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

type Corner = keyof typeof quarterColors;

/** Which quarter shows in the top left corner, and the size. */
async function turn(name: keyof typeof files, form: Record<string, string>) {
  await using run = await runTool(imageRotator, [files[name]], form);
  const path = run.outputs[0]?.path ?? '';
  const { width, height, orientation = 1 } = await sharp(path).metadata();
  const seen = await pixel(path, 10, 10);
  const corners = Object.entries(quarterColors) as [Corner, readonly number[]][];
  const corner = corners.find(([, color]) => difference(seen, color) < 10)?.[0];
  return { corner, size: `${width}x${height}`, orientation };
}

for (const [form, corner, size] of [
  [{}, 'bottomLeft', '160x240'],
  [{ angle: '-90' }, 'topRight', '160x240'],
  [{ angle: '180' }, 'bottomRight', '240x160'],
  [{ angle: '360' }, 'topLeft', '240x160'],
  [{ angle: '0', flip: 'horizontal' }, 'topRight', '240x160'],
  [{ angle: '0', flip: 'vertical' }, 'bottomLeft', '240x160'],
  [{ angle: '0', flip: 'both' }, 'bottomRight', '240x160'],
  [{ angle: '90', flip: 'horizontal' }, 'bottomRight', '160x240'],
] as const) {
  test(`${JSON.stringify(form)} brings ${corner} to the top left`, async () => {
    expect(await turn('photo.png', form)).toEqual({ corner, size, orientation: 1 });
  });
}

test('turning starts from the upright picture, or from the stored one when asked', async () => {
  expect(await turn('turned.jpg', { angle: '90' })).toEqual({ corner: 'bottomRight', size: '240x160', orientation: 1 });
  const stored = await turn('turned.jpg', { angle: '90', auto_orient: 'false' });
  expect(stored).toEqual({ corner: 'bottomLeft', size: '160x240', orientation: 1 });
});

test('corners show the background, or nothing', async () => {
  await using filled = await runTool(imageRotator, [files['photo.png']], { angle: '45', background: '#ff00ff' });
  expect(difference(await pixel(filled.outputs[0]?.path ?? '', 2, 2), [255, 0, 255])).toBeLessThan(4);
  await using clear = await runTool(imageRotator, [files['photo.png']], { angle: '45', background: 'transparent' });
  const { data } = await sharp(clear.outputs[0]?.path).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  expect(data[3]).toBe(0);
  await using jpeg = await runTool(imageRotator, [files['photo.jpg']], { angle: '45', background: 'transparent' });
  expect(difference(await pixel(jpeg.outputs[0]?.path ?? '', 2, 2), [255, 255, 255])).toBeLessThan(4);
});

test('a coloured background on a grey photo is coloured', async () => {
  await using run = await runTool(imageRotator, [files['grey.jpg']], { angle: '30', background: '#ff0000' });
  expect(difference(await pixel(run.outputs[0]?.path ?? '', 2, 2), [255, 0, 0])).toBeLessThan(8);
});

test('a grey photo turned by 90 stays grey', async () => {
  await using run = await runTool(imageRotator, [files['grey.jpg']]);
  expect((await sharp(run.outputs[0]?.path).metadata()).channels).toBe(1);
});

test('every frame of an animation turns', async () => {
  await using run = await runTool(imageRotator, [files['moving.gif']]);
  const path = run.outputs[0]?.path ?? '';
  const metadata = await sharp(path, { pages: -1 }).metadata();
  expect(metadata).toMatchObject({ width: 40, pageHeight: 60, pages: 3, delay: animationDelays, loop: 2 });
  for (const page of [0, 1, 2]) {
    // The white bar was on the left and is now on top.
    const frame = await sharp(path, { page }).png().toBuffer();
    expect(difference(await pixel(frame, 20, 3), [255, 255, 255])).toBeLessThan(8);
    expect(difference(await pixel(frame, 3, 40), [255, 255, 255])).toBeGreaterThan(50);
  }
});
