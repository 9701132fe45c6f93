import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { difference, pixel } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import { pngChunk, pngContents, pngSignature } from '../../engines/png.ts';
import imageCompressor from './image-compressor.ts';
import imageConverter from './image-converter.ts';
import imageResizer from './image-resizer.ts';
import imageRotator from './image-rotator.ts';

let directory: string;
let moving: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  moving = join(directory, 'moving.png');
  await writeFile(moving, await makeMovingPng());
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const [red, green, blue] = [
  [220, 40, 40],
  [40, 180, 60],
  [40, 80, 220],
] as const;
const white = [255, 255, 255] as const;

/**
 * 48 x 32: white stands for it where it cannot move; then red; then green in the right half, cleared away again; then half of
 * blue over what is left of the red, in the left half.
 */
async function makeMovingPng(): Promise<Buffer> {
  const full = { width: 48, height: 32, left: 0 };
  const half = { ...full, width: 24 };
  const still = await png(full, white);
  const chunks = [pngSignature, pngChunk('IHDR', pngContents(still, 'IHDR')[0]!)];
  const actl = Buffer.alloc(8);
  actl.writeUInt32BE(3, 0);
  actl.writeUInt32BE(2, 4);
  chunks.push(pngChunk('acTL', actl), pngChunk('IDAT', Buffer.concat(pngContents(still, 'IDAT'))));
  const frames = [
    { ...full, color: red, alpha: 1, delay: 100, disposal: 0, blend: 0 },
    { ...half, left: 24, color: green, alpha: 1, delay: 200, disposal: 1, blend: 0 },
    { ...half, color: blue, alpha: 0.5, delay: 300, disposal: 0, blend: 1 },
  ];
  let sequence = 0;
  for (const { color, alpha, delay, disposal, blend, ...place } of frames) {
    const control = Buffer.alloc(26);
    for (const [index, value] of [sequence++, place.width, place.height, place.left].entries())
      control.writeUInt32BE(value, index * 4);
    control.writeUInt16BE(delay, 20);
    control.writeUInt16BE(1000, 22);
    control.set([disposal, blend], 24);
    const number = Buffer.alloc(4);
    number.writeUInt32BE(sequence++);
    const data = pngContents(await png(place, color, alpha), 'IDAT');
    chunks.push(pngChunk('fcTL', control), pngChunk('fdAT', Buffer.concat([number, ...data])));
  }
  return Buffer.concat([...chunks, pngChunk('IEND', Buffer.alloc(0))]);
}

function png({ width, height }: { width: number; height: number }, [r, g, b]: readonly number[], alpha = 1) {
  const background = { r: r!, g: g!, b: b!, alpha };
  return sharp({ create: { width, height, channels: 4, background } })
    .png()
    .toBuffer();
}

/** What the left and the right half of a frame show; alpha is the fourth number. */
async function halves(path: string, page: number) {
  const { data, info } = await sharp(path, { page }).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (x: number) => [...data.subarray((16 * info.width + x) * 4, (16 * info.width + x) * 4 + 4)];
  return [at(12), at(36)];
}

test.each(['webp', 'gif'])('an animated PNG goes on moving as %s', async (format) => {
  await using run = await runTool(imageConverter, [moving], { format, ...(format === 'webp' && { lossless: 'true' }) });
  const path = run.outputs[0]!.path;
  const metadata = await sharp(path, { pages: -1 }).metadata();
  expect(metadata).toMatchObject({ pages: 3, width: 48, pageHeight: 32, delay: [100, 200, 300], loop: 2 });
  const shown = await Promise.all([0, 1, 2].map((page) => halves(path, page)));
  const mixed = [130, 60, 130, 255];
  const expected = [
    [red, red],
    [red, green],
    [mixed, undefined],
  ];
  for (const [page, pair] of expected.entries()) {
    for (const [side, color] of pair.entries()) {
      if (color === undefined) expect(shown[page]![side]![3]).toBe(0);
      else expect(difference([...color, 255].slice(0, 4), shown[page]![side]!)).toBeLessThan(9);
    }
  }
});

test('it becomes the picture that stands for it where nothing moves', async () => {
  await using run = await runTool(imageConverter, [moving], { format: 'jpeg' });
  expect(difference(await pixel(run.outputs[0]!.path, 20, 10), white)).toBeLessThan(4);
});

const edits = {
  resized: () => runTool(imageResizer, [moving], { width: '24' }),
  turned: () => runTool(imageRotator, [moving], { angle: '90' }),
  compressed: () => runTool(imageCompressor, [moving], { max_width: '24' }),
};

test.each([
  ['resized', 24, 16],
  ['turned', 32, 48],
  ['compressed', 24, 16],
] as const)('it goes on moving when it is %s', async (edit, width, height) => {
  await using run = await edits[edit]();
  const file = await readFile(run.outputs[0]!.path);
  const [animation] = pngContents(file, 'acTL');
  expect([animation?.readUInt32BE(0), animation?.readUInt32BE(4)]).toEqual([3, 2]);
  const controls = pngContents(file, 'fcTL');
  expect(controls.map((content) => [4, 8].map((at) => content.readUInt32BE(at)))).toEqual(
    [1, 2, 3].map(() => [width, height]),
  );
  expect(controls.map((content) => content.readUInt16BE(20))).toEqual([100, 200, 300]);
});

test('cut short it is refused', async () => {
  const path = join(directory, 'cut.png');
  const file = await readFile(moving);
  await writeFile(path, file.subarray(0, file.length - 60));
  const run = runTool(imageConverter, [path], { format: 'webp' });
  await expect(run).rejects.toMatchObject({ code: 'invalid_input', file: 'cut.png' });
});
