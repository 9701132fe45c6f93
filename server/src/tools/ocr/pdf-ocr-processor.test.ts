import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PDFDocument, StandardFonts, degrees } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { difference, pdfFixture, popplerText, qpdfCheck, qpdfText, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import tool from './pdf-ocr-processor.ts';

/** 600 x 300 pixels of two lines; the baseline of the first is at 100, its first letter at 60. */
const drawing = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300" font-family="Liberation Serif" font-size="36">
    <rect width="600" height="300" fill="white"/><text x="60" y="100">Delivery note number 2041</text>
    <text x="60" y="180">Please check the contents</text></svg>`,
);

/** Words and where they stand, in points from the top left of the page as it is shown. */
function wordsOf(path: string): { word: string; left: number; bottom: number }[] {
  const xml = execFileSync('pdftotext', ['-bbox', path, '-'], { encoding: 'utf8' });
  return [...xml.matchAll(/<word xMin="([\d.]+)".*?yMax="([\d.]+)">([^<]*)/g)].map(([, left, bottom, word = '']) => ({
    word,
    left: Number(left),
    bottom: Number(bottom),
  }));
}

describe('pdf-ocr-processor', { timeout: 60_000 }, () => {
  let directory = '';
  const mixedPath = () => join(directory, 'mixed.pdf');

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
    const document = await PDFDocument.create();
    const turned = document.addPage([150, 300]);
    const quarter = await document.embedPng(await sharp(drawing).rotate(-90).png().toBuffer());
    turned.drawImage(quarter, { x: 0, y: 0, width: 150, height: 300 });
    turned.setRotation(degrees(90));
    const font = await document.embedFont(StandardFonts.Helvetica);
    document.addPage([300, 150]).drawText('Typed text', { x: 40, y: 100, size: 20, font });
    await writeFile(mixedPath(), await document.save());
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('lays the text where it is seen, on a turned page too, and leaves what is seen and typed pages alone', async () => {
    await using run = await runTool(tool, [mixedPath()], { output: 'both' });
    const [pdf, txt] = run.outputs;
    const path = pdf?.path ?? '';
    qpdfCheck(path);
    expect(popplerText(path).map((page) => page.split(/\n+/)[0])).toEqual(['Delivery note number 2041', 'Typed text']);
    const delivery = wordsOf(path).find(({ word }) => word === 'Delivery');
    expect(Math.abs((delivery?.left ?? 0) - 30)).toBeLessThan(2);
    expect(Math.abs((delivery?.bottom ?? 0) - 50)).toBeLessThan(3);
    const [before, after] = [await renderAll(mixedPath()), await renderAll(path)];
    for (const [page, pixels] of after.entries()) expect(difference(pixels, before[page])).toBe(0);
    expect(await readFile(txt?.path ?? '', 'utf8')).toMatch(/^Delivery note.*\n+Please[^\f]*\fTyped text\s*\f$/);
    expect(run.progress.length).toBeGreaterThan(0);

    await using again = await runTool(tool, [path], { mode: 'redo' });
    const redone = again.outputs[0]?.path ?? '';
    expect(
      popplerText(redone)
        .join(' ')
        .match(/Delivery|Typed/g),
    ).toEqual(['Delivery', 'Typed']);
  });

  test('force turns every page into a picture with text', async () => {
    await using run = await runTool(tool, [mixedPath()], { mode: 'force', optimize: '3' });
    const path = run.outputs[0]?.path ?? '';
    qpdfCheck(path);
    expect(popplerText(path).map((page) => page.split(/\n+/)[0])).toEqual(['Delivery note number 2041', 'Typed text']);
    expect(qpdfText(path)).not.toContain('Helvetica');
    const [before, after] = [await renderAll(mixedPath()), await renderAll(path)];
    for (const [page, pixels] of after.entries()) expect(difference(pixels, before[page])).toBeLessThan(4);
  });

  test('an image becomes a page at its own size; a crooked one is made level', async () => {
    const path = join(directory, 'crooked.jpg');
    const crooked = sharp(drawing).resize(1200).rotate(3, { background: '#fff' });
    await crooked.withMetadata({ density: 150 }).jpeg().toFile(path);
    const heights: number[] = [];
    for (const deskew of ['true', 'false']) {
      await using run = await runTool(tool, [path], { deskew });
      const words = wordsOf(run.outputs[0]?.path ?? '').slice(0, 4);
      expect(words.map(({ word }) => word)).toEqual(['Delivery', 'note', 'number', '2041']);
      heights.push(Math.abs((words[0]?.bottom ?? 0) - (words[3]?.bottom ?? 0)));
    }
    expect(heights[0]).toBeLessThan(2);
    expect(heights[1]).toBeGreaterThan(6);
  });

  test('refuses what has no text, needs a password or a language that is missing', async () => {
    const run = (name: string, form: Record<string, string> = {}) => runTool(tool, [pdfFixture(name)], form);
    await expect(run('scanned')).rejects.toMatchObject({ code: 'invalid_input', file: 'scanned.pdf' });
    await expect(run('locked')).rejects.toMatchObject({ code: 'password_required' });
    await expect(run('zero-pages')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(run('three-pages', { language: 'xyz' })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
