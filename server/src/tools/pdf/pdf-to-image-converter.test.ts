import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-to-image-converter.ts';

async function convert<T>(
  name: string,
  form: Record<string, string>,
  look: (outputs: { filename: string; path: string; type: string }[]) => T | Promise<T>,
): Promise<T> {
  await using run = await runTool(tool, [pdfFixture(name)], form);
  // Awaited here: the outputs are gone when this function returns.
  return await look(run.outputs);
}

/** The colour of a pixel, counted in points at the given dpi from the top left. */
async function pixel(path: string, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true });
  const start = (y * info.width + x) * info.channels;
  return [...data.subarray(start, start + info.channels)];
}

describe('pdf-to-image-converter', { timeout: 60_000 }, () => {
  test('a JPEG a page at 150 dpi, numbered to the width of the page count', async () => {
    await using run = await runTool(tool, [pdfFixture('twelve-pages')], { pages: '1-2,12' });
    expect(run.outputs.map(({ filename }) => filename)).toEqual([
      'twelve-pages-01.jpg',
      'twelve-pages-02.jpg',
      'twelve-pages-12.jpg',
    ]);
    for (const { path, type } of run.outputs) {
      expect(type).toBe('jpeg');
      expect(await sharp(path).metadata()).toMatchObject({ width: 1240, height: 1754, density: 150 });
    }
    expect(run.progress.at(-1)).toBeGreaterThan(0);
  });

  test.each(['png', 'webp', 'tiff'])('%s is what it says', async (format) => {
    await convert('layers', { format, dpi: '72' }, async ([output]) => {
      expect(output?.type).toBe(format);
      expect(output?.filename).toBe(`layers-1.${format}`);
      const blue = (await pixel(output?.path ?? '', 50, 150)).slice(0, 3);
      expect(Math.abs((blue[0] ?? 0) - 0) + Math.abs((blue[2] ?? 0) - 255)).toBeLessThan(12);
      expect((await pixel(output?.path ?? '', 150, 50)).slice(0, 3)).toEqual([255, 255, 255]);
    });
  });

  test('turned pages and pages of every size come out as they are shown', async () => {
    await convert('mixed-sizes', { format: 'png', dpi: '72' }, async (outputs) => {
      const sizes = [];
      for (const { path } of outputs) {
        const { width, height } = await sharp(path).metadata();
        sizes.push([width, height]);
      }
      expect(sizes).toEqual([
        [595, 842],
        [842, 595],
        [200, 300],
        [201, 100],
      ]);
    });
  });

  test('transparent paper in PNG and WebP, refused for others', async () => {
    for (const format of ['png', 'webp']) {
      await convert('layers', { format, transparent: 'true', dpi: '72' }, async ([output]) => {
        expect((await pixel(output?.path ?? '', 5, 5)).at(3)).toBe(0);
        expect((await pixel(output?.path ?? '', 50, 150)).at(3)).toBe(255);
      });
    }
    await expect(convert('layers', { transparent: 'true' }, () => undefined)).rejects.toThrow(/choose png or webp/);
  });

  test('form fields show their values', async () => {
    await convert('form', { format: 'png', dpi: '72', pages: '1' }, async ([output]) => {
      const { channels } = await sharp(output?.path).extract({ left: 52, top: 72, width: 60, height: 26 }).stats();
      expect(channels[0]?.min).toBeLessThan(80);
    });
  });

  test('lower quality is a smaller file', async () => {
    const size = (quality: string) =>
      convert('images', { quality, dpi: '72' }, async ([output]) => (await sharp(output?.path).toBuffer()).length);
    expect(await size('20')).toBeLessThan((await size('95')) * 0.8);
  });

  test('opens encrypted files with their password only', async () => {
    await convert('locked', { password: 'secret', dpi: '36' }, (outputs) => expect(outputs).toHaveLength(3));
    await expect(convert('locked', {}, () => undefined)).rejects.toMatchObject({
      code: 'password_required',
      message: 'locked.pdf needs a password.',
    });
    await expect(convert('locked', { password: 'x' }, () => undefined)).rejects.toMatchObject({
      message: 'The password for locked.pdf is wrong.',
    });
  });

  test.each([
    ['huge-page', 'resource_limit'],
    ['many-pages', 'resource_limit'],
    ['kids-loop', 'resource_limit'], // PDFium believes its count of a million.
    ['zero-pages', 'invalid_input'],
    ['cut-in-half', 'invalid_input'],
    ['unknown-encryption', 'invalid_input'],
  ])('%s fails as %s', async (name, code) => {
    await expect(convert(name, {}, () => undefined)).rejects.toMatchObject({ code });
  });

  test('says how large a page would become', async () => {
    await withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      document.addPage([3000, 3000]);
      const path = join(directory, 'poster.pdf');
      await writeFile(path, await document.save());
      await expect(runTool(tool, [path], { dpi: '600' })).rejects.toMatchObject({
        code: 'resource_limit',
        message: 'Page 1 of poster.pdf at 600 dpi would be 25000 x 25000 pixels; at most 100 megapixels are made.',
      });
    });
  });

  test.each(['truncated', 'bad-xref'])('%s is repaired', async (name) => {
    await convert(name, { dpi: '36', format: 'png' }, async (outputs) => {
      expect(outputs).toHaveLength(4);
      expect((await sharp(outputs[3]?.path).stats()).channels[0]?.min).toBeLessThan(128);
    });
  });

  test('memory does not grow with the number of pages', async () => {
    await withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      for (let page = 0; page < 120; page++) document.addPage([595, 842]).drawText(String(page));
      const path = join(directory, 'long.pdf');
      await writeFile(path, await document.save());
      const before = process.memoryUsage().rss;
      await using run = await runTool(tool, [path], { dpi: '100' });
      expect(run.outputs).toHaveLength(120);
      // 120 pages of 2.9 MB would be 350 MB.
      expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
    });
  });
});
