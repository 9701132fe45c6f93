import { execFileSync } from 'node:child_process';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { ghostscript } from '../../engines/ghostscript.ts';
import {
  bookmarks,
  difference,
  formFields,
  labels,
  pdfFixture,
  popplerText,
  qpdfCheck,
  qpdfText,
  renderAll,
} from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import { parseSettings } from '../settings.ts';
import tool from './pdf-compressor.ts';

async function compress<T>(
  path: string,
  form: Record<string, string>,
  look: (path: string, size: number) => T | Promise<T>,
): Promise<T> {
  await using run = await runTool(tool, [path], form);
  const [output] = run.outputs;
  if (output === undefined) throw new Error('expected an output');
  expect(qpdfCheck(output.path)).toContain('No syntax or stream encoding errors');
  // Awaited here: the outputs are gone when this function returns.
  return await look(output.path, output.sizeBytes);
}

interface ImageRow {
  type: string;
  color: string;
  encoding: string;
  ppi: number;
}

/** The images of a file, as Debian's pdfimages lists them. */
function imagesIn(path: string): ImageRow[] {
  const table = execFileSync('pdfimages', ['-list', path], { encoding: 'utf8' }).trim().split('\n').slice(2);
  return table.map((line) => {
    const cells = line.trim().split(/\s+/);
    return { type: cells[2] ?? '', color: cells[5] ?? '', encoding: cells[8] ?? '', ppi: Number(cells[12]) };
  });
}

async function looksLike(path: string, original: string, tolerance: number): Promise<void> {
  const [pages, originals] = [await renderAll(path), await renderAll(original)];
  expect(pages).toHaveLength(originals.length);
  for (const [index, page] of pages.entries()) expect(difference(page, originals[index])).toBeLessThan(tolerance);
}

describe('pdf-compressor', { timeout: 60_000 }, () => {
  const images = pdfFixture('images');

  test('makes pictures smaller, keeps their transparency, and looks the same', async () => {
    const before = (await stat(images)).size;
    await compress(images, {}, async (path, size) => {
      expect(size).toBeLessThan(before * 0.7);
      expect(imagesIn(path).map(({ type }) => type)).toEqual(['image', 'image', 'smask', 'image']);
      for (const { type, ppi } of imagesIn(path)) if (type === 'image') expect(ppi).toBeLessThanOrEqual(188);
      expect(qpdfCheck(path)).toContain('File is linearized');
      await looksLike(path, images, 2);
    });
  });

  test('every preset is smaller than the next', async () => {
    const sizes = [];
    for (const preset of ['screen', 'ebook', 'printer', 'prepress']) {
      sizes.push(await compress(images, { preset }, (_, size) => size));
    }
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect(sizes[0]).toBeLessThan((sizes[1] ?? 0) * 0.7);
  });

  test('dpi and quality of their own go before the preset', async () => {
    const screen = await compress(images, { preset: 'screen' }, (_, size) => size);
    const explicit = await compress(
      images,
      { preset: 'prepress', image_dpi: '72', image_quality: '60' },
      (path, size) => {
        for (const { ppi, type } of imagesIn(path)) if (type === 'image') expect(ppi).toBeLessThanOrEqual(90);
        return size;
      },
    );
    expect(Math.abs(explicit - screen)).toBeLessThan(screen * 0.02);
  });

  test('a drawing stays lossless, a photo does not', async () => {
    await compress(images, {}, (path) => {
      expect(imagesIn(path).findLast(({ type }) => type === 'image')?.encoding).toBe('image');
      expect(imagesIn(path)[0]?.encoding).toBe('jpeg');
    });
  });

  test('keeps bookmarks, labels, links and fields', async () => {
    const outline = pdfFixture('outline');
    await compress(outline, {}, (path) => {
      expect(bookmarks(path)).toEqual(bookmarks(outline));
      expect(labels(path)).toEqual(labels(outline));
      expect(popplerText(path)).toEqual(popplerText(outline));
      expect(qpdfText(path)).toContain('https://example.com/');
    });
    const form = pdfFixture('form');
    await compress(form, {}, async (path) => {
      expect(formFields(path)).toEqual(formFields(form));
      await looksLike(path, form, 0.01);
    });
  });

  test.each(['mixed-sizes', 'layers', 'shared-resources', 'unicode'])('%s looks the same', async (name) => {
    await compress(pdfFixture(name), {}, (path) => looksLike(path, pdfFixture(name), 3));
  });

  test('never returns a larger file: the second time it is the first result', async () => {
    await withTemporaryDirectory(async (directory) => {
      const once = join(directory, 'once.pdf');
      await compress(images, { preset: 'screen' }, (path) => copyFile(path, once));
      await compress(once, { preset: 'printer' }, async (_, size) => {
        expect(size).toBeLessThanOrEqual((await stat(once)).size);
      });
    });
    const bomb = pdfFixture('flate-bomb');
    await compress(bomb, {}, async (path) => expect((await readFile(path)).equals(await readFile(bomb))).toBe(true));
  });

  test('removes the properties on request only', async () => {
    await compress(images, {}, (path) => expect(qpdfText(path)).toContain('/Author'));
    await compress(images, { remove_metadata: 'true' }, (path) => {
      const info = execFileSync('pdfinfo', [path], { encoding: 'utf8' });
      for (const key of ['Title', 'Author', 'Producer', 'CreationDate']) expect(info).not.toContain(`${key}:`);
    });
  });

  test('is not linearized when told so', async () => {
    await compress(images, { linearize: 'false' }, (path) => expect(qpdfCheck(path)).toContain('is not linearized'));
  });

  test('grey is grey: text, drawings and pictures', async () => {
    await compress(images, { grayscale: 'true' }, async (path, size) => {
      expect(size).toBeLessThan((await stat(images)).size);
      for (const { color } of imagesIn(path)) expect(color).toBe('gray');
      const [page = Buffer.alloc(0)] = await renderAll(path);
      let colored = 0;
      for (let i = 0; i < page.length; i += 3) if (page[i] !== page[i + 1] || page[i] !== page[i + 2]) colored += 1;
      expect(colored).toBe(0);
      expect(page.reduce((least, value) => Math.min(least, value), 255)).toBeLessThan(60);
    });
  });

  test('only grey needs Ghostscript', () => {
    const engines = (form: [string, string[]][]) => {
      const parsed = parseSettings(tool.settings, new Map(form));
      return 'values' in parsed ? tool.enginesFor?.(parsed.values, []) : undefined;
    };
    expect(engines([])).toEqual([]);
    expect(engines([['grayscale', ['true']]])).toEqual([ghostscript]);
  });

  test('opens what only the owner restricts, and asks for a password otherwise', async () => {
    await compress(pdfFixture('owner-only'), {}, (path) => {
      expect(qpdfCheck(path)).toContain('File is not encrypted');
      expect(popplerText(path)).toHaveLength(4);
    });
    await expect(runTool(tool, [pdfFixture('locked')])).rejects.toMatchObject({
      code: 'password_required',
      file: 'locked.pdf',
    });
  });

  test.each(['kids-loop', 'zero-pages', 'cut-in-half', 'unknown-encryption'])('%s fails clearly', async (name) => {
    await expect(runTool(tool, [pdfFixture(name)])).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('a small file whose objects have high numbers', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'high.pdf');
      const document = await PDFDocument.create();
      document.context.largestObjectNumber = 90_000;
      document.addPage([200, 100]).drawText('High', { x: 20, y: 40 });
      await writeFile(path, await document.save({ useObjectStreams: false }));
      const text = `${await readFile(path, 'latin1')}${'% nothing to read here\n'.repeat(200)}`;
      await writeFile(path, text.replace(/startxref\n\d+/, 'startxref\n0'), 'latin1');
      expect(await compress(path, {}, popplerText)).toEqual([expect.stringContaining('High')]);
    }));
});
