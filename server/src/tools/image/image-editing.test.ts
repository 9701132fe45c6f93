import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { animation, difference, pixel, quarterColors, quarters, writeImages } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import { decodeBmp } from '../../engines/bmp.ts';
import type { Tool } from '../define.ts';
import imageBorderAdder from './image-border-adder.ts';
import imageColorAdjuster from './image-color-adjuster.ts';
import imageFilterApplier from './image-filter-applier.ts';
import imageSplitter from './image-splitter.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  return writeImages(directory, {
    'photo.png': quarters().png().toBuffer(),
    'turned.jpg': quarters().withMetadata({ orientation: 6 }).withIccProfile('p3').jpeg({ quality: 95 }).toBuffer(),
    'photo.jpg': quarters().jpeg({ quality: 95 }).toBuffer(),
    'deep.png': quarters().toColourspace('rgb16').png().toBuffer(),
    'grey.png': quarters().greyscale().toColourspace('b-w').png().toBuffer(),
    'moving.gif': animation('gif'),
    'moving.webp': animation('webp'),
    'one.png': quarters(2, 2).resize(1, 1).png().toBuffer(),
    'clear.png': sharp({ create: { width: 60, height: 40, channels: 4, background: '#ff000080' } })
      .png()
      .toBuffer(),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function edit(tool: unknown, path: string, form: Record<string, string>) {
  const run = await runTool(tool as Tool, [path], form);
  const [output] = run.outputs;
  if (output === undefined) throw new Error('no output');
  return { ...run, ...output, metadata: await sharp(output.path, { pages: -1 }).metadata() };
}

const neutral = [
  [imageColorAdjuster, {}],
  [imageFilterApplier, { effect: 'sharpen' }],
  [imageFilterApplier, { effect: 'blur' }],
  [imageBorderAdder, { width: '4' }],
  [imageBorderAdder, { width: '4', radius: '10', shadow: 'true' }],
] as const;

test('orientation, profile, depth and movement survive every edit', async () => {
  for (const [tool, form] of neutral) {
    await using turned = await edit(tool, files['turned.jpg'], form);
    expect(turned.metadata.width).toBeLessThan(turned.metadata.height);
    expect(turned.metadata).toMatchObject({ hasProfile: true, format: 'jpeg' });
    expect(turned.metadata.orientation ?? 1).toBe(1);
    await using deep = await edit(tool, files['deep.png'], form);
    expect(deep.metadata.depth).toBe('ushort');
    for (const name of ['moving.gif', 'moving.webp'] as const) {
      await using moving = await edit(tool, files[name], form);
      expect(moving.metadata).toMatchObject({ pages: 3, delay: [100, 200, 300], loop: 2 });
    }
    await using one = await edit(tool, files['one.png'], form);
    expect(one.type).toBe('png');
  }
});

test('each adjustment changes what it says', async () => {
  const at = async (form: Record<string, string>, name: 'photo.png' | 'grey.png' | 'deep.png' = 'photo.png') => {
    await using result = await edit(imageColorAdjuster, files[name], form);
    return await pixel(result.path, 20, 20);
  };
  const [red] = quarterColors.topLeft;
  expect((await at({ brightness: '0' }))[0]).toBe(0);
  expect((await at({ brightness: '0.5' }))[0]).toBeCloseTo(red / 2, -1);
  expect(difference(await at({ brightness: '0.5' }, 'deep.png'), await at({ brightness: '0.5' }))).toBeLessThan(3);
  expect(difference(await at({ contrast: '0' }), [128, 128, 128])).toBeLessThan(3);
  expect(difference(await at({ contrast: '2' }, 'deep.png'), await at({ contrast: '2' }))).toBeLessThan(3);
  const [r, g, b] = await at({ saturation: '0' });
  expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(4);
  const turned = await at({ hue: '120' });
  expect(turned[1]).toBeGreaterThan(turned[0]);
  expect((await at({ gamma: '2' }))[1]).toBeGreaterThan(quarterColors.topLeft[1] + 30);
  expect((await at({ gamma: '0.5' }))[1]).toBeLessThan(quarterColors.topLeft[1] - 20);
  const warm = await at({ temperature: '80' }, 'grey.png');
  expect(warm[0]).toBeGreaterThan(warm[2] + 20);
  const cool = await at({ temperature: '-80' }, 'grey.png');
  expect(cool[2]).toBeGreaterThan(cool[0] + 20);
});

test('effects change the whole picture or only its regions', async () => {
  await using negated = await edit(imageFilterApplier, files['photo.png'], { effect: 'negate' });
  expect(
    difference(
      await pixel(negated.path, 20, 20),
      quarterColors.topLeft.map((value) => 255 - value),
    ),
  ).toBeLessThan(2);
  await using grey = await edit(imageFilterApplier, files['photo.png'], { effect: 'grayscale' });
  const [r, g, b] = await pixel(grey.path, 20, 20);
  expect(Math.max(r, g, b) - Math.min(r, g, b)).toBe(0);
  const bmp = join(import.meta.dirname, '../../../test/fixtures/samples/bmp.bmp');
  await using flat = await runTool(imageFilterApplier, [bmp], { effect: 'grayscale' });
  const pixels = decodeBmp(await readFile(flat.outputs[0]!.path), { filename: 'flat.bmp', type: 'bmp' }).data;
  expect(pixels.every((value, at) => Math.abs(value - (pixels[at - (at % 3)] ?? 0)) <= 1)).toBe(true);
  expect(Math.min(...pixels.subarray(-300))).toBeGreaterThan(0);
  await using sepia = await edit(imageFilterApplier, files['grey.png'], { effect: 'sepia' });
  const [brownRed, , brownBlue] = await pixel(sepia.path, 20, 20);
  expect(brownRed).toBeGreaterThan(brownBlue + 15);
  await using dark = await edit(imageFilterApplier, files['photo.png'], { effect: 'vignette', strength: '1' });
  expect(Math.max(...(await pixel(dark.path, 0, 0)))).toBeLessThan(40);

  const regions = JSON.stringify([{ x: 100, y: 60, width: 40, height: 40 }]);
  for (const effect of ['grayscale', 'negate', 'blur', 'pixelate']) {
    await using part = await edit(imageFilterApplier, files['photo.png'], { effect, regions });
    expect(await pixel(part.path, 99, 59)).toEqual([...quarterColors.topLeft]);
    expect(difference(await pixel(part.path, 119, 79), quarterColors.topLeft)).toBeGreaterThan(15);
  }
});

test('blur and pixelate leave nothing to read in a region, not even through transparency', async () => {
  const words =
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40"><text x="4" y="30" font-size="28" font-family="DejaVu Sans">4111 1111 1111</text></svg>';
  const [made] = Object.values(
    await writeImages(directory, { 'card.png': sharp(Buffer.from(words)).png().toBuffer() }),
  );
  const sharpness = async (path: string) => {
    const { data } = await sharp(path).extractChannel('alpha').raw().toBuffer({ resolveWithObject: true });
    let steps = 0;
    for (let at = 1; at < data.length; at++) steps = Math.max(steps, Math.abs((data[at] ?? 0) - (data[at - 1] ?? 0)));
    return steps;
  };
  expect(await sharpness(made ?? '')).toBeGreaterThan(200);
  const regions = JSON.stringify([{ x: 0, y: 0, width: 200, height: 40 }]);
  for (const strength of ['0', '0.5', '1']) {
    await using blurred = await edit(imageFilterApplier, made ?? '', { effect: 'blur', strength, regions });
    expect(await sharpness(blurred.path)).toBeLessThan(20);
    await using blocks = await edit(imageFilterApplier, made ?? '', { effect: 'pixelate', strength, regions });
    const { channels } = await sharp(blocks.path).resize(200, 1, { fit: 'fill' }).stats();
    expect(channels[3]?.stdev).toBeLessThan(40);
    const { data } = await sharp(blocks.path).extractChannel('alpha').raw().toBuffer({ resolveWithObject: true });
    expect(new Set(data).size).toBeLessThanOrEqual(12 * 3);
  }
});

test('a region of a wide-gamut photo keeps its colours', async () => {
  const regions = JSON.stringify([{ x: 0, y: 0, width: 30, height: 30 }]);
  await using result = await edit(imageFilterApplier, files['turned.jpg'], { effect: 'blur', regions });
  expect(difference(await pixel(result.path, 10, 10), await pixel(result.path, 50, 50))).toBeLessThan(4);
});

test('a region outside the image is a failure; one that is no region is refused', async () => {
  const apply = (regions: unknown) =>
    edit(imageFilterApplier, files['photo.png'], { effect: 'blur', regions: JSON.stringify(regions) });
  await expect(apply([{ x: 240, y: 0, width: 5, height: 5 }])).rejects.toMatchObject({ code: 'invalid_input' });
  for (const wrong of [[], {}, [1], [{ x: 0, y: 0, width: 0, height: 5 }], [{ x: 0, y: 0, width: 5 }], [null]]) {
    await expect(apply(wrong)).rejects.toThrow(/region/);
  }
});

test('a border surrounds the picture, which keeps its size', async () => {
  const form = { width: '10', color: '#3366ff' };
  await using plain = await edit(imageBorderAdder, files['photo.png'], form);
  expect(plain.metadata).toMatchObject({ width: 260, height: 180 });
  expect(await pixel(plain.path, 5, 5)).toEqual([0x33, 0x66, 0xff]);
  expect(await pixel(plain.path, 10, 10)).toEqual([...quarterColors.topLeft]);
  await using round = await edit(imageBorderAdder, files['photo.png'], { ...form, radius: '30' });
  const { data, info } = await sharp(round.path).raw().toBuffer({ resolveWithObject: true });
  expect(info.channels).toBe(4);
  expect(data[3]).toBe(0);
  await using matte = await edit(imageBorderAdder, files['photo.jpg'], {
    ...form,
    radius: '30',
    shadow: 'true',
    background: '#20c020',
  });
  expect(difference(await pixel(matte.path, 0, 0), [0x20, 0xc0, 0x20])).toBeLessThan(12);
});

test('tiles hold every pixel once', async () => {
  const run = await runTool(imageSplitter as unknown as Tool, [files['photo.png']], { rows: '3', columns: '7' });
  await using _removed = run;
  expect(run.outputs).toHaveLength(21);
  expect(run.outputs[0]?.filename).toBe('photo-1-1.png');
  const sizes = await Promise.all(run.outputs.map(({ path }) => sharp(path).metadata()));
  expect(sizes.reduce((sum, { width, height }) => sum + width * height, 0)).toBe(240 * 160);
  expect(await pixel(run.outputs[20]?.path ?? '', 5, 5)).toEqual([...quarterColors.bottomRight]);

  await using sized = await runTool(imageSplitter as unknown as Tool, [files['photo.png']], {
    tile_width: '100',
    tile_height: '160',
  });
  const widths = await Promise.all(sized.outputs.map(async ({ path }) => (await sharp(path).metadata()).width));
  expect(widths).toEqual([100, 100, 40]);
  await using moving = await runTool(imageSplitter as unknown as Tool, [files['moving.gif']], { columns: '3' });
  expect((await sharp(moving.outputs[4]?.path, { pages: -1 }).metadata()).pages).toBe(3);
  await expect(edit(imageSplitter, files['one.png'], {})).rejects.toMatchObject({ code: 'invalid_input' });
  const tiny = { tile_width: '2', tile_height: '2' };
  await expect(edit(imageSplitter, files['photo.png'], tiny)).rejects.toMatchObject({ code: 'resource_limit' });
});
