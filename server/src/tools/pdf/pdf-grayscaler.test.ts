import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, degrees, rgb } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import {
  bookmarks,
  difference,
  pdfFixture,
  popplerText,
  qpdfCheck,
  qpdfText,
  renderAll,
} from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-grayscaler.ts';

function isGray(page: Buffer): boolean {
  for (let at = 0; at < page.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = page.subarray(at, at + 3);
    if (Math.max(red, green, blue) - Math.min(red, green, blue) > 2) return false;
  }
  return true;
}

/** Black where anything is drawn: programs differ in how dark a colour is. */
function inkOf(page: Buffer = Buffer.alloc(0)): Buffer {
  const ink = Buffer.alloc(page.length / 3);
  for (let at = 0; at < page.length; at += 3) {
    ink[at / 3] = Math.min(page[at] ?? 0, page[at + 1] ?? 0, page[at + 2] ?? 0) < 250 ? 0 : 255;
  }
  return ink;
}

/** Three equal pages with coloured squares: turned by a quarter and cropped. */
async function colored(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  for (let n = 0; n < 3; n++) {
    const page = document.addPage([400, 300]);
    page.drawRectangle({ x: 130, y: 60, width: 60, height: 40, color: rgb(1, 0, 0) });
    page.drawRectangle({ x: 230, y: 180, width: 20, height: 20, color: rgb(0, 0, 1) });
    page.setCropBox(100, 50, 200, 200);
    page.setRotation(degrees(90));
  }
  const path = join(directory, 'colored.pdf');
  await writeFile(path, await document.save());
  return path;
}

describe('pdf-grayscaler', { timeout: 60_000 }, () => {
  test('only the chosen pages, everything in its place', () =>
    withTemporaryDirectory(async (directory) => {
      const file = await colored(directory);
      await using run = await runTool(tool, [file], { pages: '2-3' });
      const path = run.outputs[0]?.path ?? '';
      expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
      const [before, after] = await Promise.all([renderAll(file), renderAll(path)]);
      expect(after.map((page) => isGray(page))).toEqual([false, true, true]);
      expect(difference(before[0], after[0])).toBe(0);
      expect(difference(inkOf(before[1]), inkOf(after[1]))).toBeLessThan(0.5);
    }));

  test('pictures, links and bookmarks', async () => {
    await using run = await runTool(tool, [pdfFixture('images'), pdfFixture('outline'), pdfFixture('form')]);
    const [images = '', outline = '', form = ''] = run.outputs.map(({ path }) => path);
    for (const path of [images, form]) for (const page of await renderAll(path)) expect(isGray(page)).toBe(true);
    expect(bookmarks(outline)).toEqual(bookmarks(pdfFixture('outline')));
    expect(qpdfText(outline)).toContain('https://example.com/');
    expect(popplerText(form).join(' ')).toContain('Second page');
  });

  test('hidden layers stay hidden', async () => {
    await using run = await runTool(tool, [pdfFixture('layers')]);
    const [before, after] = await Promise.all([renderAll(pdfFixture('layers')), renderAll(run.outputs[0]?.path ?? '')]);
    for (const [index, page] of before.entries())
      expect(difference(inkOf(page), inkOf(after[index]))).toBeLessThan(0.5);
  });

  test('a password', async () => {
    await expect(runTool(tool, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
  });
});
