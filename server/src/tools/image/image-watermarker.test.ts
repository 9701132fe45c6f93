import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { animation, animationDelays, difference, pixel, writeImages } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import imageWatermarker from './image-watermarker.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

function plain(width: number, height: number, background: string) {
  return sharp({ create: { width, height, channels: 3, background } });
}

async function makeFiles() {
  return writeImages(directory, {
    'black.png': plain(400, 300, '#000000').png().toBuffer(),
    'grey.png': plain(400, 300, '#404040').toColourspace('b-w').png().toBuffer(),
    'small.png': plain(20, 12, '#000000').png().toBuffer(),
    'turned.jpg': plain(400, 300, '#000000').withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    'logo.png': plain(50, 50, '#ff0000').png().toBuffer(),
    'logo.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" width="10" height="10"><circle cx="5" cy="5" r="5" fill="#00ff00"/></svg>',
    'moving.gif': animation('gif'),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function watermark(names: (keyof typeof files)[], form: Record<string, string>) {
  const run = await runTool(
    imageWatermarker,
    names.map((name) => files[name]),
    form,
  );
  return { ...run, path: run.outputs[0]?.path ?? '' };
}

/** Where something else than black shows: left, top, right, bottom, and the brightest value. */
async function bounds(path: string) {
  const { data, info } = await sharp(path)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const box = { left: info.width, top: info.height, right: -1, bottom: -1, brightest: 0 };
  for (let at = 0; at < data.length; at++) {
    const value = data[at] ?? 0;
    if (value < 16) continue;
    const x = Math.floor(at / 3) % info.width;
    const y = Math.floor(at / 3 / info.width);
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
    box.brightest = Math.max(box.brightest, value);
  }
  return box;
}

test('text stands at the bottom right, as far from the edges as the margin, half transparent', async () => {
  await using result = await watermark(['black.png'], { text: 'Millrun', margin: '20' });
  const box = await bounds(result.path);
  expect(box.right).toBeGreaterThan(370);
  expect(box.right).toBeLessThan(380);
  expect(box.bottom).toBeLessThan(280);
  expect(box.left).toBeGreaterThan(180);
  expect(box.top).toBeGreaterThan(220);
  expect(box.brightest).toBeGreaterThan(120);
  expect(box.brightest).toBeLessThan(135);
});

test('font size, colour, opacity and place are heeded', async () => {
  const form = { text: 'Hi', font_size: '100', color: '#ff0000', opacity: '1', position: 'top-left' };
  await using result = await watermark(['black.png'], form);
  const box = await bounds(result.path);
  expect(box.bottom - box.top).toBeGreaterThan(65);
  expect(box.bottom - box.top).toBeLessThan(110);
  expect(box.left).toBeLessThan(40);
  const { channels } = await sharp(result.path).stats();
  expect(channels.map(({ max }) => max)).toEqual([255, 0, 0]);
});

test('markup in the text is text', async () => {
  const form = { text: '<b>&amp;</b> "x" <span size="99999">', opacity: '1' };
  await using result = await watermark(['black.png'], form);
  const literal = await bounds(result.path);
  await using bare = await watermark(['black.png'], { text: '&', opacity: '1' });
  const sign = await bounds(bare.path);
  expect(literal.right - literal.left).toBeGreaterThan(3 * (sign.right - sign.left));
});

test('rotation turns the text', async () => {
  const form = { text: 'Millrun', position: 'center', opacity: '1' };
  await using flat = await watermark(['black.png'], form);
  await using upright = await watermark(['black.png'], { ...form, rotation: '90' });
  const [a, b] = [await bounds(flat.path), await bounds(upright.path)];
  expect(a.right - a.left).toBeGreaterThan(2 * (a.bottom - a.top));
  expect(Math.abs(a.right - a.left - (b.bottom - b.top))).toBeLessThan(3);
});

test('tile covers the whole image', async () => {
  await using result = await watermark(['black.png'], { text: 'x', position: 'tile', font_size: '20', opacity: '1' });
  for (const [left, top] of [
    [0, 0],
    [300, 0],
    [0, 200],
    [300, 200],
  ] as const) {
    const part = await sharp(result.path).extract({ left, top, width: 100, height: 100 }).png().toBuffer();
    expect((await sharp(part).stats()).channels[0]?.max).toBeGreaterThan(200);
  }
});

test('the last file is the mark: so wide a part of each image, and no image of its own', async () => {
  const form = { mark: 'last_file', scale: '0.5', opacity: '1', margin: '0' };
  await using result = await watermark(['black.png', 'turned.jpg', 'logo.png'], form);
  expect(result.outputs.map(({ filename }) => filename)).toEqual(['black.png', 'turned.jpg']);
  expect(await bounds(result.path)).toMatchObject({ left: 200, top: 100, right: 399, bottom: 299 });
  const portrait = await bounds(result.outputs[1]?.path ?? '');
  expect(Math.abs(portrait.left - 150)).toBeLessThan(9);
  expect(portrait.bottom).toBe(399);
});

test('a drawing can be the mark, but not an image', async () => {
  const form = { mark: 'last_file', opacity: '1', margin: '0', position: 'top-left' };
  await using result = await watermark(['black.png', 'logo.svg'], form);
  expect(difference(await pixel(result.path, 40, 40), [0, 255, 0])).toBeLessThan(4);
  expect(difference(await pixel(result.path, 1, 1), [0, 0, 0])).toBeLessThan(40);
  await expect(watermark(['logo.svg', 'black.png'], form)).rejects.toThrow('files.0');
});

test('a coloured mark on a grey image is coloured', async () => {
  const form = { mark: 'last_file', opacity: '1', margin: '0', position: 'top-left' };
  await using result = await watermark(['grey.png', 'logo.png'], form);
  expect(difference(await pixel(result.path, 10, 10), [255, 0, 0])).toBeLessThan(4);
});

test('a mark that is too large is made to fit', async () => {
  await using result = await watermark(['small.png'], { text: 'A very long text', font_size: '200', opacity: '1' });
  expect(await sharp(result.path).metadata()).toMatchObject({ width: 20, height: 12 });
  expect((await bounds(result.path)).brightest).toBeGreaterThan(16);
});

test('every frame of an animation is marked', async () => {
  for (const position of ['center', 'tile']) {
    const form = { text: 'x', font_size: '24', color: '#000000', opacity: '1', position };
    await using result = await watermark(['moving.gif'], form);
    expect((await sharp(result.path, { pages: -1 }).metadata()).delay).toEqual(animationDelays);
    for (const page of [0, 1, 2]) {
      const frame = sharp(result.path, { page }).removeAlpha().greyscale();
      expect((await sharp(await frame.png().toBuffer()).stats()).channels[0]?.min).toBeLessThan(30);
    }
  }
});

test('text that shows nothing fails instead of returning the image unmarked', async () => {
  await expect(watermark(['black.png'], { text: '\u200b' })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('what is missing is told before it runs', async () => {
  await expect(watermark(['black.png'], {})).rejects.toThrow('"text"');
  await expect(watermark(['black.png'], { text: '  ' })).rejects.toThrow('"text"');
  await expect(watermark(['black.png'], { mark: 'last_file' })).rejects.toThrow('"mark"');
});
