import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { difference, pixel } from '../../test/image-fixtures.ts';
import { runTool } from '../../test/run-tool.ts';
import imageConverter from '../tools/image/image-converter.ts';
import imageToPdfConverter from '../tools/image/image-to-pdf-converter.ts';
import { tiffPages } from './tiff.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Samples {
  photometric: number;
  bits: number;
  /** 1: unsigned, 2: with a sign, 3: floating point. */
  format?: number;
  hasAlpha?: boolean;
  compression?: number;
  subsampling?: number;
  /** All samples of one pixel; every pixel of the page is the same. */
  pixel: Buffer;
}

const edge = 8;
const entryBytes = 12;

/** A TIFF of 8 x 8 for each page, uncompressed, big-endian. */
function tiffOf(...pages: Samples[]): Buffer {
  const parts = [Buffer.from('MM\0*\0\0\0\b', 'latin1')];
  let at = 8;
  for (const [index, page] of pages.entries()) {
    const content = Buffer.concat(Array.from({ length: edge * edge }, () => page.pixel));
    const samples = page.pixel.length / (page.bits / 8);
    const step = page.subsampling ?? 1;
    const entries: [tag: number, shorts: number[]][] = [
      [256, [edge]],
      [257, [edge]],
      [258, Array<number>(samples).fill(page.bits)],
      [259, [page.compression ?? 1]],
      [262, [page.photometric]],
      [273, []], // Where the pixels start: set below.
      [277, [samples]],
      [278, [edge]],
      [279, [content.length]],
      ...(page.hasAlpha === true ? [[338, [2]] satisfies [number, number[]]] : []),
      [339, Array<number>(samples).fill(page.format ?? 1)],
      ...(page.photometric === 6 ? [[530, [step, step]] satisfies [number, number[]]] : []),
    ];
    const tail: number[] = [];
    const tailAt = at + 2 + entries.length * entryBytes + 4;
    const head = Buffer.alloc(tailAt - at);
    head.writeUInt16BE(entries.length, 0);
    for (const [number, [tag, shorts]] of entries.entries()) {
      const entry = 2 + number * entryBytes;
      head.writeUInt16BE(tag, entry);
      head.writeUInt16BE(3, entry + 2);
      head.writeUInt32BE(shorts.length, entry + 4);
      if (shorts.length > 2) {
        head.writeUInt32BE(tailAt + tail.length * 2, entry + 8);
        tail.push(...shorts);
      } else for (const [place, value] of shorts.entries()) head.writeUInt16BE(value, entry + 8 + place * 2);
    }
    const start = 2 + entries.findIndex(([tag]) => tag === 273) * entryBytes;
    head.writeUInt16BE(4, start + 2);
    head.writeUInt32BE(1, start + 4);
    head.writeUInt32BE(tailAt + tail.length * 2, start + 8);
    const next = tailAt + tail.length * 2 + content.length;
    head.writeUInt32BE(index === pages.length - 1 ? 0 : next, head.length - 4);
    parts.push(head, Buffer.from(new Uint16Array(tail).buffer).swap16(), content);
    at = next;
  }
  return Buffer.concat(parts);
}

async function written(name: string, ...pages: Samples[]): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, tiffOf(...pages));
  return path;
}

const integers = (...values: number[]) => Buffer.from(new Uint32Array(values).buffer).swap32();
const floats = (...values: number[]) => Buffer.from(new Float32Array(values).buffer).swap32();
const signed = (...values: number[]) => Buffer.from(new Int8Array(values).buffer);

// Lab of the sRGB colour (220, 40, 40) is (48.1, 66.5, 46.1).
const lab = Buffer.concat([Buffer.from([123]), signed(67, 46)]);
const red = [220, 40, 40];

test.each<[string, Samples, number[]]>([
  ['CIE Lab of 8 bits', { photometric: 8, bits: 8, pixel: lab }, red],
  ['CIE Lab with alpha', { photometric: 8, bits: 8, hasAlpha: true, pixel: Buffer.concat([lab, signed(-1)]) }, red],
  ['ICC Lab', { photometric: 9, bits: 8, pixel: Buffer.from([123, 195, 174]) }, red],
  ['YCbCr without JPEG', { photometric: 6, bits: 8, pixel: Buffer.from([94, 98, 218]) }, red],
  ['32 bits a colour', { photometric: 2, bits: 32, pixel: integers(220 * 2 ** 24, 40 * 2 ** 24, 40 * 2 ** 24) }, red],
  ['32 bits of grey', { photometric: 1, bits: 32, pixel: integers(90 * 2 ** 24) }, [90, 90, 90]],
  ['floating-point grey to 1', { photometric: 1, bits: 32, format: 3, pixel: floats(0.5) }, [128, 128, 128]],
  ['floating-point grey to 255', { photometric: 1, bits: 32, format: 3, pixel: floats(90) }, [90, 90, 90]],
])('%s shows its colours', async (name, samples, color) => {
  await using run = await runTool(imageConverter, [await written(`${name}.tiff`, samples)], { format: 'png' });
  expect(difference(await pixel(run.outputs[0]?.path ?? '', 4, 4), color)).toBeLessThan(5);
});

test.each<[string, Samples, string]>([
  ['doubles', { photometric: 1, bits: 64, format: 3, pixel: Buffer.alloc(8) }, '64 bits a sample'],
  ['heights', { photometric: 1, bits: 16, format: 2, pixel: Buffer.alloc(2) }, 'numbers with a sign'],
  ['thrifty', { photometric: 6, bits: 8, subsampling: 2, pixel: Buffer.alloc(3) }, 'fewer samples for colour'],
  ['unscaled', { photometric: 1, bits: 32, format: 3, pixel: floats(1e9) }, 'do not say which of them is white'],
  ['lzma', { photometric: 1, bits: 8, compression: 34_925, pixel: Buffer.alloc(1) }, 'compressed with LZMA'],
])('what is in %s.tiff is named, not called damaged', async (name, samples, problem) => {
  const run = runTool(imageConverter, [await written(`${name}.tiff`, samples)], { format: 'png' });
  await expect(run).rejects.toMatchObject({ code: 'invalid_input', file: `${name}.tiff` });
  await expect(run).rejects.toThrow(`"${name}.tiff" `);
  await expect(run).rejects.toThrow(problem);
});

test('each page is read by its own directory', async () => {
  const path = await written(
    'pages.tiff',
    { photometric: 2, bits: 8, pixel: Buffer.from(red) },
    { photometric: 8, bits: 8, pixel: lab },
  );
  expect(await tiffPages({ path, filename: 'pages.tiff', type: 'tiff' })).toHaveLength(2);
  await using run = await runTool(imageToPdfConverter, [path]);
  expect(run.outputs[0]?.type).toBe('pdf');
});
