import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  difference,
  keptFixture,
  meanDifference,
  pixel,
  quarterColors,
  quarters,
  writeImages,
} from '../../../test/image-fixtures.ts';
import { qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { readPdf } from '../../engines/pdfium.ts';
import imageToPdf from './image-to-pdf-converter.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  const clear = { create: { width: 30, height: 20, channels: 4 as const, background: '#00000000' } };
  return writeImages(directory, {
    'photo.jpg': quarters().jpeg({ quality: 95 }).toBuffer(),
    'photo.png': quarters().png().toBuffer(),
    'grey.png': quarters().greyscale().toColourspace('b-w').png().toBuffer(),
    'clear.webp': sharp(clear).webp().toBuffer(),
    'scan.tiff': sharp(await Promise.all([quarters(), quarters()].map((image) => image.png().toBuffer())), {
      join: { animated: true },
    })
      .tiff()
      .toBuffer(),
    'print.jpg': quarters().toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 95 }).toBuffer(),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Pages as PDFium paints them, at 72 dpi, as PNG. */
async function paint(path: string): Promise<{ width: number; height: number; png: Buffer }[]> {
  return readPdf({ path, filename: 'x.pdf', scratch: directory }, async (reader) => {
    const pages = [];
    for (let page = 0; page < reader.pageCount; page++) {
      const { width, height, channels, pixels } = reader.render(page, { dpi: 72, transparent: false });
      pages.push({ width, height, png: await sharp(pixels, { raw: { width, height, channels } }).png().toBuffer() });
    }
    return pages;
  });
}

async function expectQuarters(page: { width: number; height: number; png: Buffer } | undefined, tolerance: number) {
  const { width, height, png } = page ?? { width: 0, height: 0, png: Buffer.alloc(0) };
  expect(difference(await pixel(png, 10, 10), quarterColors.topLeft)).toBeLessThan(tolerance);
  expect(difference(await pixel(png, width - 10, 10), quarterColors.topRight)).toBeLessThan(tolerance);
  expect(difference(await pixel(png, width - 10, height - 10), quarterColors.bottomRight)).toBeLessThan(tolerance);
  expect(difference(await pixel(png, 10, height - 10), quarterColors.bottomLeft)).toBeLessThan(tolerance);
}

test('a JPEG is taken as it is, and each way a camera can be held comes out upright', async () => {
  for (let orientation = 1; orientation <= 8; orientation++) {
    const path = join(directory, `turned-${orientation}.jpg`);
    const stored = await quarters().withMetadata({ orientation, density: 72 }).jpeg({ quality: 95 }).toBuffer();
    await writeFile(path, stored);
    await using run = await runTool(imageToPdf, [path]);
    const output = run.outputs[0]?.path ?? '';
    qpdfCheck(output);
    const [page] = await paint(output);
    expect(await meanDifference(page?.png ?? '', stored)).toBeLessThan(2);
    expect((await readFile(output)).includes(stored)).toBe(true);
  }
});

test('every format becomes a page, a TIFF as many as it has', async () => {
  const inputs = [files['photo.jpg'], files['photo.png'], files['scan.tiff'], keptFixture('photo.heic')];
  await using run = await runTool(imageToPdf, inputs);
  expect(run.outputs.map(({ filename, type }) => [filename, type])).toEqual([['photo.pdf', 'pdf']]);
  qpdfCheck(run.outputs[0]?.path ?? '');
  const pages = await paint(run.outputs[0]?.path ?? '');
  expect(pages).toHaveLength(5);
  for (const page of pages) await expectQuarters(page, 14);
});

test('CMYK, grey and transparency look as they should', async () => {
  await using run = await runTool(imageToPdf, [files['print.jpg'], files['grey.png'], files['clear.webp']]);
  const [print, grey, clear] = await paint(run.outputs[0]?.path ?? '');
  expect(difference(await pixel(print?.png ?? '', 10, 10), quarterColors.topLeft)).toBeLessThan(60);
  expect(difference(await pixel(grey?.png ?? '', 10, 10), await pixel(files['grey.png'], 10, 10))).toBeLessThan(4);
  expect(await pixel(clear?.png ?? '', 5, 5)).toEqual([255, 255, 255]);
});

test('a page size, a margin and a way to lie', async () => {
  await using a4 = await runTool(imageToPdf, [files['photo.jpg']], { page_size: 'a4', margin_mm: '20', fit: 'cover' });
  const [page] = await paint(a4.outputs[0]?.path ?? '');
  expect([page?.width, page?.height]).toEqual([842, 595]);
  expect(await pixel(page?.png ?? '', 50, 300)).toEqual([255, 255, 255]);
  expect(difference(await pixel(page?.png ?? '', 60, 60), quarterColors.topLeft)).toBeLessThan(12);
  await using upright = await runTool(imageToPdf, [files['photo.jpg']], {
    page_size: 'letter',
    orientation: 'portrait',
  });
  const [letter] = await paint(upright.outputs[0]?.path ?? '');
  expect([letter?.width, letter?.height]).toEqual([612, 792]);
  expect(await pixel(letter?.png ?? '', 300, 20)).toEqual([255, 255, 255]);
  expect(difference(await pixel(letter?.png ?? '', 10, 396 - 150), quarterColors.topLeft)).toBeLessThan(12);
  await expect(runTool(imageToPdf, [files['photo.jpg']], { orientation: 'landscape' })).rejects.toThrow(/page_size/);
});

test('merge=false gives a PDF of each image', async () => {
  await using run = await runTool(imageToPdf, [files['photo.jpg'], files['photo.png']], { merge: 'false' });
  expect(run.outputs.map(({ filename }) => filename)).toEqual(['photo.pdf', 'photo-1.pdf']);
  for (const { path } of run.outputs) expect(await paint(path)).toHaveLength(1);
});

test('an image cut short is a failure with its name', async () => {
  for (const name of ['photo.jpg', 'photo.png'] as const) {
    const path = join(directory, `cut-${name}`);
    const file = await readFile(files[name]);
    await writeFile(path, file.subarray(0, Math.floor(file.length * 0.6)));
    const run = runTool(imageToPdf, [files['photo.jpg'], path]);
    await expect(run).rejects.toMatchObject({ code: 'invalid_input', file: `cut-${name}` });
  }
});
