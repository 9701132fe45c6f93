import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, StandardFonts, degrees } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import {
  bookmarks,
  difference,
  formFields,
  pdfFixture,
  popplerText,
  qpdfCheck,
  renderAll,
} from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import numberer from './pdf-page-numberer.ts';
import watermarker from './pdf-watermarker.ts';

type Form = Record<string, string>;

interface Pixel {
  x: number;
  y: number;
}

/** The middle of what is not white on a page of this width, as parts of its sides from the top left. */
function middleOfInk(pixels: Buffer, width: number): Pixel {
  let [sumX, sumY, count] = [0, 0, 0];
  const height = pixels.length / 3 / width;
  for (let index = 0; index < pixels.length / 3; index++) {
    if ((pixels[index * 3] ?? 255) > 250) continue;
    sumX += index % width;
    sumY += Math.floor(index / width);
    count += 1;
  }
  return { x: sumX / count / width, y: sumY / count / height };
}

/** Empty pages: plain, turned by a quarter, and cropped to its upper right part. All are shown as 300 x 200. */
async function emptyPages(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  document.addPage([300, 200]);
  document.addPage([200, 300]).setRotation(degrees(90));
  document.addPage([1000, 900]).setCropBox(600, 500, 300, 200);
  const path = join(directory, 'empty.pdf');
  await writeFile(path, await document.save());
  return path;
}

describe('pdf-watermarker', { timeout: 60_000 }, () => {
  test('text in many scripts, under or over, keeps bookmarks and fields', async () => {
    const form = { text: 'Ω Ж é\nمرحبا', opacity: '0.5', layer: 'under', pages: '1' };
    await using run = await runTool(watermarker, [pdfFixture('outline'), pdfFixture('form')], form);
    const [outline = '', fields = ''] = run.outputs.map(({ path }) => path);
    expect(qpdfCheck(outline)).toContain('No syntax or stream encoding errors');
    const [first, second] = popplerText(outline);
    for (const sign of ['Ω', 'Ж', 'é', 'Chapter page 1']) expect(first?.normalize('NFC')).toContain(sign);
    expect(second).toBe('Chapter page 2');
    expect(bookmarks(outline)).toEqual(bookmarks(pdfFixture('outline')));
    expect(formFields(fields)).toEqual(formFields(pdfFixture('form')));
  });

  test.each([
    ['top-left', { x: 0.2, y: 0.15 }],
    ['right', { x: 0.8, y: 0.5 }],
    ['center', { x: 0.5, y: 0.5 }],
    ['bottom', { x: 0.5, y: 0.85 }],
    ['tile', { x: 0.5, y: 0.5 }],
  ])('%s is where the reader sees it, on turned and cropped pages too', (position, { x, y }) =>
    withTemporaryDirectory(async (directory) => {
      const form = { text: 'MARK', position, font_size: '20', rotation: '0', opacity: '1' };
      await using run = await runTool(watermarker, [await emptyPages(directory)], form);
      for (const page of await renderAll(run.outputs[0]?.path ?? '')) {
        const middle = middleOfInk(page, 300);
        expect(Math.abs(middle.x - x)).toBeLessThan(0.12);
        expect(Math.abs(middle.y - y)).toBeLessThan(0.12);
      }
    }),
  );

  test('an image or a page as the mark, which is the last file', () =>
    withTemporaryDirectory(async (directory) => {
      const image = join(directory, 'logo.png');
      const red = { width: 60, height: 30, channels: 4 as const, background: '#ff0000' };
      await sharp({ create: red }).png().toFile(image);
      const form = { mark: 'last_file', rotation: '0', opacity: '1', scale: '0.5' };
      await using run = await runTool(watermarker, [await emptyPages(directory), image], form);
      for (const pixels of await renderAll(run.outputs[0]?.path ?? '')) {
        const red = pixels.filter((value, index) => index % 3 === 1 && value < 10).length;
        expect(red / (300 * 200)).toBeCloseTo(0.5 * 0.375, 1);
      }
      await using page = await runTool(watermarker, [pdfFixture('form'), pdfFixture('three-pages')], form);
      expect(popplerText(page.outputs[0]?.path ?? '')[1]).toContain('Alpha 1');
    }));

  test('content that leaves its graphics state open does not move the mark', () =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      const page = document.addPage([300, 200]);
      page.node.set(
        document.context.obj('Contents'),
        document.context.register(document.context.stream('q q 3 0 0 3 90 90 cm')),
      );
      const path = join(directory, 'open.pdf');
      await writeFile(path, await document.save());
      const form = { text: 'MARK', rotation: '0', opacity: '1' };
      await using open = await runTool(watermarker, [path], form);
      await using plain = await runTool(watermarker, [await emptyPages(directory)], form);
      const [[marked], [expected]] = await Promise.all([
        renderAll(open.outputs[0]?.path ?? ''),
        renderAll(plain.outputs[0]?.path ?? ''),
      ]);
      expect(difference(marked, expected)).toBe(0);
    }));

  test.each([
    [{}, /required when mark is text/],
    [{ mark: 'last_file' }, /needs at least two files/],
  ] as [Form, RegExp][])('refuses %o before the run', async (form, message) => {
    await expect(runTool(watermarker, [pdfFixture('form')], form)).rejects.toThrow(message);
  });

  test('signs that cannot be drawn are named', async () => {
    await expect(runTool(watermarker, [pdfFixture('form')], { text: 'Entwurf 草案' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'The text has signs that the font here (DejaVu Sans) cannot draw: 草 案',
    });
  });
});

describe('pdf-page-numberer', { timeout: 60_000 }, () => {
  test('numbers the chosen pages from the start', async () => {
    const form = { format: 'Seite {n} von {total}', start: '5', pages: '2-last' };
    await using run = await runTool(numberer, [pdfFixture('three-pages'), pdfFixture('locked')], {
      ...form,
      password: 'secret',
    });
    const path = run.outputs[0]?.path ?? '';
    expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
    expect(popplerText(path).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      'Alpha 1',
      'Alpha 2 Seite 5 von 6',
      'Alpha 3 Seite 6 von 6',
    ]);
  });

  test('stands upright at its place on turned, cropped and tiny pages', () =>
    withTemporaryDirectory(async (directory) => {
      await using run = await runTool(numberer, [await emptyPages(directory)], { position: 'top-right' });
      for (const page of await renderAll(run.outputs[0]?.path ?? '')) {
        const middle = middleOfInk(page, 300);
        expect(middle.x).toBeGreaterThan(0.8);
        expect(middle.y).toBeLessThan(0.25);
      }
      const document = await PDFDocument.create();
      document.addPage([8, 8]).setFont(await document.embedFont(StandardFonts.Helvetica));
      const tiny = join(directory, 'tiny.pdf');
      await writeFile(tiny, await document.save());
      await using small = await runTool(numberer, [tiny], { font_size: '72' });
      expect(popplerText(small.outputs[0]?.path ?? '')[0]).toMatch(/^1 ?\/ ?1$/);
    }));

  test('a format without a number is refused', async () => {
    await expect(runTool(numberer, [pdfFixture('form')], { format: 'Page' })).rejects.toThrow(/must contain/);
  });
});
