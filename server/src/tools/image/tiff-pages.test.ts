import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { difference, grain, pixel } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import type { Tool } from '../define.ts';
import imageBorderAdder from './image-border-adder.ts';
import imageColorAdjuster from './image-color-adjuster.ts';
import imageCompressor from './image-compressor.ts';
import imageConverter from './image-converter.ts';
import imageCropper from './image-cropper.ts';
import imageFilterApplier from './image-filter-applier.ts';
import imageResizer from './image-resizer.ts';
import imageRotator from './image-rotator.ts';
import imageSplitter from './image-splitter.ts';
import imageWatermarker from './image-watermarker.ts';

const red = [220, 40, 40];
const green = [40, 180, 60];
const blue = [40, 80, 220];

let directory: string;
const at = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  const canvas = (size: string, [r, g, b]: number[]) => ['-size', size, `xc:rgb(${r},${g},${b})`];
  const [first, second, third] = [canvas('120x80', red), canvas('60x90', green), canvas('120x80', blue)];
  run('convert', ...first, ...second, ...third, '-compress', 'lzw', at('scan.tiff'));
  run('convert', ...first, ...third, '-endian', 'MSB', '-compress', 'none', at('alike.tiff'));
  run(
    'convert',
    ...first,
    '(',
    ...second,
    '-colorspace',
    'gray',
    '-threshold',
    '50%',
    '-type',
    'bilevel',
    ')',
    at('mixed.tiff'),
  );
  const pages = [await grain(700, 500), await grain(400, 600, 2)].map((page) => page.tiff().toBuffer());
  for (const [index, page] of pages.entries()) await writeFile(at(`photo-${index}.tiff`), await page);
  run('convert', at('photo-0.tiff'), at('photo-1.tiff'), '-compress', 'none', at('photos.tiff'));
  await sharp(at('photo-0.tiff')).tiff({ pyramid: true, tile: true }).toFile(at('pyramid.tiff'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8' });
}

/** Width and height of every page, as ImageMagick reads them. */
function pageSizes(path: string): string[] {
  return run('identify', '-format', '%wx%h\n', path).trim().split('\n');
}

/** The colour at a place of a page, as ImageMagick reads it. */
function colorOf(path: string, page: number, x = 30, y = 30): number[] {
  const place = ['-colorspace', 'sRGB', '-depth', '8', '-crop', `1x1+${x}+${y}`, 'rgb:-'];
  const bytes = execFileSync('convert', [`${path}[${page}]`, ...place]);
  return [...bytes];
}

test.each<[string, unknown, Record<string, string>, string[]]>([
  ['resized', imageResizer, { percent: '50' }, ['60x40', '30x45', '60x40']],
  ['turned', imageRotator, {}, ['80x120', '90x60', '80x120']],
  ['cropped', imageCropper, { width: '50', height: '50', unit: 'percent' }, ['60x40', '30x45', '60x40']],
  [
    'cropped to what it shows',
    imageCropper,
    { width: '50', height: '40', strategy: 'entropy' },
    ['50x40', '50x40', '50x40'],
  ],
  ['framed', imageBorderAdder, { width: '5' }, ['130x90', '70x100', '130x90']],
  ['adjusted', imageColorAdjuster, { brightness: '1.02' }, ['120x80', '60x90', '120x80']],
  ['blurred', imageFilterApplier, { effect: 'blur' }, ['120x80', '60x90', '120x80']],
  ['marked', imageWatermarker, { text: 'Copy', font_size: '8' }, ['120x80', '60x90', '120x80']],
  ['compressed', imageCompressor, {}, ['120x80', '60x90', '120x80']],
  ['converted', imageConverter, { format: 'tiff' }, ['120x80', '60x90', '120x80']],
])('a TIFF that is %s keeps all its pages', async (_name, tool, form, sizes) => {
  await using result = await runTool(tool as Tool, [at('scan.tiff')], form);
  expect(result.outputs).toMatchObject([{ filename: 'scan.tiff', type: 'tiff' }]);
  const path = result.outputs[0]!.path;
  expect(pageSizes(path)).toEqual(sizes);
  for (const [page, color] of [red, green, blue].entries()) {
    expect(difference(colorOf(path, page, 20, 20), color)).toBeLessThan(20);
  }
});

test.each(['alike.tiff', 'mixed.tiff'])('the pages of %s are each written in their own way', async (name) => {
  await using result = await runTool(imageRotator, [at(name)], { flip: 'both', angle: '0' });
  const path = result.outputs[0]!.path;
  expect(pageSizes(path)).toEqual(pageSizes(at(name)));
  for (const page of [0, 1]) expect(difference(colorOf(path, page), colorOf(at(name), page))).toBeLessThan(2);
});

test('a format of one picture takes a file for each page', async () => {
  for (const tool of [imageConverter, imageResizer, imageCompressor] as unknown[]) {
    const form = tool === imageResizer ? { format: 'png', percent: '100' } : { format: 'png' };
    await using result = await runTool(tool as Tool, [at('scan.tiff')], form);
    expect(result.outputs.map(({ filename }) => filename)).toEqual(['scan-1.png', 'scan-2.png', 'scan-3.png']);
    for (const [index, color] of [red, green, blue].entries()) {
      expect(difference(await pixel(result.outputs[index]!.path, 30, 30), color)).toBeLessThan(8);
    }
  }
});

test('the numbers of more than nine pages are of one length', async () => {
  run(
    'convert',
    ...Array.from({ length: 12 }, (_, page) => ['-size', '8x8', `xc:gray(${page})`]).flat(),
    at('fax.tiff'),
  );
  await using result = await runTool(imageConverter, [at('fax.tiff')], { format: 'jpeg' });
  expect(result.outputs.map(({ filename }) => filename)).toContain('fax-01.jpg');
  expect(result.outputs.at(-1)?.filename).toBe('fax-12.jpg');
  expect(result.progress.at(-1)).toBeGreaterThan(0);
});

test('every page is cut into tiles', async () => {
  await using result = await runTool(imageSplitter, [at('scan.tiff')], { rows: '1', columns: '2' });
  const names = result.outputs.map(({ filename }) => filename);
  expect(names).toEqual([1, 2, 3].flatMap((page) => [1, 2].map((column) => `scan-${page}-1-${column}.tiff`)));
});

test('small copies of a page are no pages', async () => {
  expect(pageSizes(at('pyramid.tiff')).length).toBeGreaterThan(1);
  await using result = await runTool(imageConverter, [at('pyramid.tiff')], { format: 'jpeg' });
  expect(result.outputs.map(({ filename }) => filename)).toEqual(['pyramid.jpg']);
});

test('a target size is for all pages together', async () => {
  await using result = await runTool(imageCompressor, [at('photos.tiff')], {
    mode: 'target_size',
    target_size_kb: '40',
  });
  const { path, sizeBytes } = result.outputs[0]!;
  expect(sizeBytes).toBeLessThanOrEqual(40_000);
  expect(sizeBytes).toBeGreaterThan(20_000);
  expect(pageSizes(path)).toHaveLength(2);
});

test('a target that pages cannot reach is refused with the size of the whole', async () => {
  const failing = runTool(imageCompressor, [at('photos.tiff')], { mode: 'target_size', target_size_kb: '1' });
  await expect(failing).rejects.toMatchObject({ code: 'invalid_input', file: 'photos.tiff' });
  await expect(failing).rejects.toThrow('cannot be brought to 1 kB');
});

test('compressing without loss keeps every pixel of every page', async () => {
  await using result = await runTool(imageCompressor, [at('photos.tiff')], { mode: 'lossless' });
  const { path, sizeBytes } = result.outputs[0]!;
  expect(sizeBytes).toBeLessThan((await stat(at('photos.tiff'))).size);
  const signature = (file: string) => run('identify', '-format', '%#\n', file);
  expect(signature(path)).toBe(signature(at('photos.tiff')));
});

test('a result that is not smaller is the TIFF that was sent, all pages of it', async () => {
  run('convert', at('scan.tiff'), '-compress', 'zip', at('tight.tiff'));
  await using smaller = await runTool(imageCompressor, [at('tight.tiff')], { mode: 'lossless' });
  await writeFile(at('again.tiff'), await readFile(smaller.outputs[0]!.path));
  await using result = await runTool(imageCompressor, [at('again.tiff')], { mode: 'lossless' });
  expect(await readFile(result.outputs[0]!.path)).toEqual(await readFile(at('again.tiff')));
  expect(pageSizes(result.outputs[0]!.path)).toHaveLength(3);
});

test('a TIFF whose last pages are cut off is refused', async () => {
  const whole = await readFile(at('alike.tiff'));
  await writeFile(at('cut.tiff'), whole.subarray(0, Math.floor(whole.length * 0.6)));
  for (const format of ['jpeg', 'tiff']) {
    const failing = runTool(imageConverter, [at('cut.tiff')], { format });
    await expect(failing).rejects.toMatchObject({ code: 'invalid_input', file: 'cut.tiff' });
  }
});

test('more pages than the limit are refused', async () => {
  const page = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
    .tiff()
    .toBuffer();
  const directory = page.readUInt32LE(4);
  const size = 2 + page.readUInt16LE(directory) * 12 + 4;
  const parts = [page.subarray(0, directory)];
  for (let index = 0; index <= 1000; index++) {
    const copy = Buffer.from(page.subarray(directory, directory + size));
    copy.writeUInt32LE(index === 1000 ? 0 : directory + size * (index + 1), size - 4);
    parts.push(copy);
  }
  await writeFile(at('long.tiff'), Buffer.concat(parts));
  const failing = runTool(imageConverter, [at('long.tiff')], { format: 'jpeg' });
  await expect(failing).rejects.toMatchObject({ code: 'resource_limit', file: 'long.tiff' });
  await expect(failing).rejects.toThrow('"long.tiff" has 1001 pages; the limit is 1000.');
});

test('a page that leads back to an earlier one, or to a place no file has, is damage', async () => {
  const { data: page } = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
    .tiff()
    .toBuffer({ resolveWithObject: true });
  const directory = page.readUInt32LE(4);
  page.writeUInt32LE(directory, directory + 2 + page.readUInt16LE(directory) * 12);
  await writeFile(at('loop.tiff'), page);
  const far = Buffer.alloc(64);
  far.write('II+\0\b\0\0\0', 'latin1');
  far.writeBigUInt64LE(2n ** 63n, 8);
  await writeFile(at('far.tiff'), far);
  for (const file of ['loop.tiff', 'far.tiff']) {
    const failing = runTool(imageConverter, [at(file)], { format: 'jpeg' });
    await expect(failing).rejects.toMatchObject({ code: 'invalid_input', file });
  }
});
