import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, type PDFPage, StandardFonts, rgb } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import pdfToWord from '../../tools/pdf/pdf-to-word-converter.ts';

const [red, blue, black] = [rgb(1, 0, 0), rgb(0, 0, 1), rgb(0, 0, 0)];

/** A page with a line of text at the top, and what is drawn on it. */
async function pageWith(directory: string, draw: (page: PDFPage) => void): Promise<string> {
  const document = await PDFDocument.create();
  const page = document.addPage([595, 842]);
  page.setFont(await document.embedFont(StandardFonts.Helvetica));
  page.setFontSize(12);
  page.drawText('Words above the drawing', { x: 72, y: 760 });
  draw(page);
  const path = join(directory, 'drawn.pdf');
  await writeFile(path, await document.save());
  return path;
}

interface Drawn {
  xml: string;
  pictures: Buffer[];
}

async function converted(path: string): Promise<Drawn> {
  await using run = await runTool(pdfToWord, [path]);
  const docx = run.outputs[0]?.path ?? '';
  const names = execFileSync('unzip', ['-Z1', docx], { encoding: 'utf8' }).split('\n');
  const member = (name: string) => execFileSync('unzip', ['-p', docx, name], { maxBuffer: 64 * 1024 * 1024 });
  return {
    xml: member('word/document.xml').toString(),
    pictures: names.filter((name) => /^word\/media\/./.test(name)).map(member),
  };
}

async function colorAt(picture: Buffer | undefined, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (Math.round(y * (info.height - 1)) * info.width + Math.round(x * (info.width - 1))) * 4;
  return [...data.subarray(at, at + 4)];
}

describe('drawings of a page in a Word document', () => {
  test('a circle is a picture at 200 dpi behind the text, where it stood', () =>
    withTemporaryDirectory(async (directory) => {
      const path = await pageWith(directory, (page) => page.drawCircle({ x: 300, y: 500, size: 90, color: red }));
      const { xml, pictures } = await converted(path);
      expect(pictures).toHaveLength(1);
      const { width, height, hasAlpha } = await sharp(pictures[0]).metadata();
      expect([width, height, hasAlpha]).toEqual([expect.closeTo(506, -1), expect.closeTo(506, -1), true]);
      expect(await colorAt(pictures[0], 0.5, 0.5)).toEqual([255, 0, 0, 255]);
      expect((await colorAt(pictures[0], 0.01, 0.01))[3]).toBe(0);
      expect(xml).toContain('behindDoc="1"');
      const [, left] = /<wp:positionH relativeFrom="page"><wp:posOffset>(-?\d+)/.exec(xml) ?? [];
      expect(Number(left) / 12_700).toBeCloseTo(209, 0);
    }));

  test('bars with their axes are one picture, and their labels stay text', () =>
    withTemporaryDirectory(async (directory) => {
      const path = await pageWith(directory, (page) => {
        for (const [index, height] of [100, 150, 60].entries()) {
          page.drawRectangle({ x: 100 + index * 60, y: 400, width: 40, height, color: blue });
          page.drawText(`Q${index + 1}`, { x: 110 + index * 60, y: 384 });
        }
        page.drawLine({ start: { x: 95, y: 400 }, end: { x: 280, y: 400 }, thickness: 1, color: black });
        page.drawLine({ start: { x: 95, y: 400 }, end: { x: 95, y: 560 }, thickness: 1, color: black });
        page.drawCircle({ x: 300, y: 500, size: 10, color: red });
      });
      const { xml, pictures } = await converted(path);
      expect(pictures).toHaveLength(2);
      for (const label of ['Q1', 'Q2', 'Q3']) expect(xml).toContain(label);
    }));

  test('tables, underlines, frames around text and bullets are none', () =>
    withTemporaryDirectory(async (directory) => {
      expect((await converted(pdfFixture('report'))).pictures).toHaveLength(0);
      const path = await pageWith(directory, (page) => {
        page.drawLine({ start: { x: 72, y: 757 }, end: { x: 200, y: 757 }, thickness: 1, color: black });
        page.drawCircle({ x: 76, y: 704, size: 2, color: black });
        page.drawText('An item', { x: 84, y: 700 });
        page.drawSvgPath('M 6 0 H 200 A 6 6 0 0 1 200 20 H 6 A 6 6 0 0 1 6 0 Z', {
          x: 72,
          y: 660,
          color: rgb(0.8, 0.9, 1),
        });
        page.drawText('Words in a frame', { x: 84, y: 645 });
      });
      expect((await converted(path)).pictures).toHaveLength(0);
    }));

  test('ten thousand strokes take no longer than a page', { timeout: 20_000 }, () =>
    withTemporaryDirectory(async (directory) => {
      const path = await pageWith(directory, (page) => {
        for (let at = 0; at < 10_000; at++) {
          const [x, y] = [100 + (at % 100) * 3, 200 + Math.floor(at / 100) * 4];
          page.drawLine({ start: { x, y }, end: { x: x + 3, y: y + 4 }, thickness: 0.5, color: blue });
        }
      });
      expect((await converted(path)).pictures).toHaveLength(1);
    }),
  );
});
