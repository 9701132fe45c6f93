import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, degrees, rgb } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { bookmarks, formFields, pdfFixture, qpdfCheck, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-cropper.ts';

type Form = Record<string, string>;

/** The crop box of every page, by Debian's pdfinfo: left, bottom, right, top in points. */
function cropBoxes(path: string): number[][] {
  const info = execFileSync('pdfinfo', ['-box', '-l', '-1', path], { encoding: 'utf8' });
  return [...info.matchAll(/CropBox:\s+(.*)$/gm)].map(([, numbers = '']) =>
    numbers.split(/\s+/).map((n) => Math.round(Number(n))),
  );
}

/** One black rectangle, 50 from the left and 100 from the bottom, 40 x 20; plain, turned by each quarter, and a blank page. */
async function rectangles(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  for (const turn of [0, 90, 180, 270]) {
    const page = document.addPage([300, 200]);
    page.drawRectangle({ x: 50, y: 100, width: 40, height: 20, color: rgb(0, 0, 0) });
    page.setRotation(degrees(turn));
  }
  document.addPage([300, 200]);
  const path = join(directory, 'rectangles.pdf');
  await writeFile(path, await document.save());
  return path;
}

async function cropped(file: string, form: Form): Promise<number[][]> {
  await using run = await runTool(tool, [file], form);
  expect(qpdfCheck(run.outputs[0]?.path ?? '')).toContain('No syntax or stream encoding errors');
  return cropBoxes(run.outputs[0]?.path ?? '');
}

describe('pdf-cropper', { timeout: 60_000 }, () => {
  test('margins are what the reader sees, however a page is turned', () =>
    withTemporaryDirectory(async (directory) => {
      const form = { margins_mm: '{"top":25.4,"left":12.7}', pages: '1-4' };
      expect(await cropped(await rectangles(directory), form)).toEqual([
        [36, 0, 300, 128],
        [72, 36, 300, 200],
        [0, 72, 264, 200],
        [0, 0, 228, 164],
        [0, 0, 300, 200],
      ]);
    }));

  test('as much as is empty, with what is to be left around it', () =>
    withTemporaryDirectory(async (directory) => {
      const file = await rectangles(directory);
      const form = { auto: 'true', margins_mm: '3.5278' };
      await using run = await runTool(tool, [file], form);
      const path = run.outputs[0]?.path ?? '';
      const boxes = cropBoxes(path);
      for (const box of boxes.slice(0, 4)) {
        for (const [index, edge] of [40, 90, 100, 130].entries())
          expect(Math.abs((box[index] ?? 0) - edge)).toBeLessThan(2);
      }
      expect(boxes[4]).toEqual([0, 0, 300, 200]);
      for (const page of (await renderAll(path)).slice(0, 4))
        expect(page.filter((value) => value < 10).length / 3).toBeGreaterThan(750);
    }));

  test('the same for all pages, so that nothing is lost', () =>
    withTemporaryDirectory(async (directory) => {
      const [first] = await cropped(await rectangles(directory), { auto: 'true', same_for_all: 'true', pages: '1,3' });
      for (const [index, edge] of [50, 80, 250, 120].entries())
        expect(Math.abs((first?.[index] ?? 0) - edge)).toBeLessThan(2);
    }));

  test('keeps bookmarks and fields', async () => {
    await using run = await runTool(tool, [pdfFixture('outline'), pdfFixture('form')], { margins_mm: '5' });
    expect(bookmarks(run.outputs[0]?.path ?? '')).toEqual(bookmarks(pdfFixture('outline')));
    expect(formFields(run.outputs[1]?.path ?? '')).toEqual(formFields(pdfFixture('form')));
  });

  test.each([
    [{}, /required unless auto/],
    [{ margins_mm: '1', same_for_all: 'true' }, /is only for auto/],
    [{ margins_mm: '{"up":1}' }, /is not one of/],
    [{ margins_mm: '-1' }, /between 0 and/],
    [{ margins_mm: '"5"' }, /number or an object/],
    [{ margins_mm: '500' }, /Nothing would be left of page 1/],
  ] as [Form, RegExp][])('refuses %o', async (form, message) => {
    await expect(runTool(tool, [pdfFixture('three-pages')], form)).rejects.toThrow(message);
  });
});
