import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, StandardFonts, rgb } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { bookmarks, formFields, pdfFixture, popplerText, qpdfCheck, qpdfJson } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import extractor from './pdf-page-extractor.ts';
import organizer from './pdf-organizer.ts';
import remover from './pdf-page-remover.ts';
import rotator from './pdf-rotator.ts';

function rotations(path: string): unknown[] {
  const { pages } = qpdfJson(path, 'pages') as { pages: { object: string }[] };
  const { objects } = qpdfJson(path, 'objects') as { objects: Record<string, Record<string, unknown>> };
  return pages.map(({ object }) => objects[object]?.['/Rotate'] ?? 0);
}

type Form = Record<string, string>;
type PageTool = typeof extractor | typeof organizer | typeof remover;

async function texts(tool: PageTool, file: string, form: Form): Promise<Record<string, string[]>> {
  await using run = await runTool(tool as typeof extractor, [file], form);
  for (const { path } of run.outputs) expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
  return Object.fromEntries(run.outputs.map(({ filename, path }) => [filename, popplerText(path)]));
}

describe('pdf-rotator', { timeout: 60_000 }, () => {
  test('adds to the turn a page has, only on the chosen pages', async () => {
    await using once = await runTool(rotator, [pdfFixture('three-pages')], { pages: '2,2,3' });
    const first = once.outputs[0]?.path ?? '';
    expect(rotations(first)).toEqual([0, 90, 90]);
    await using again = await runTool(rotator, [first], { angle: '270', pages: 'even' });
    expect(rotations(again.outputs[0]?.path ?? '')).toEqual([0, 0, 90]);
  });

  test('keeps bookmarks and form fields, and opens what a password protects', async () => {
    await using run = await runTool(rotator, [pdfFixture('outline'), pdfFixture('form'), pdfFixture('locked')], {
      password: 'secret',
    });
    const [outline = '', form = '', locked = ''] = run.outputs.map(({ path }) => path);
    expect(bookmarks(outline)).toEqual(bookmarks(pdfFixture('outline')));
    expect(formFields(form)).toEqual(formFields(pdfFixture('form')));
    expect(qpdfCheck(locked)).toContain('File is not encrypted');
  });

  test('a page that is not there, a password that is missing, a file without pages', async () => {
    const failing = (name: string, form: Form = {}) => runTool(rotator, [pdfFixture(name)], form);
    await expect(failing('three-pages', { pages: '9' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(failing('locked')).rejects.toMatchObject({ code: 'password_required' });
    await expect(failing('zero-pages')).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('pdf-page-extractor', { timeout: 60_000 }, () => {
  test('takes pages in the order they are written', async () => {
    expect(await texts(extractor, pdfFixture('twelve-pages'), { pages: 'r1,2-3' })).toEqual({
      'twelve-pages.pdf': ['Number 12', 'Number 2', 'Number 3'],
    });
  });

  test('one PDF for each page', async () => {
    expect(await texts(extractor, pdfFixture('three-pages'), { pages: '1,3', separate: 'true' })).toEqual({
      'three-pages-1.pdf': ['Alpha 1'],
      'three-pages-3.pdf': ['Alpha 3'],
    });
  });

  test('more pages than a file may have are refused', () =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      for (let page = 0; page < 21; page++) document.addPage([10, 10]);
      const path = join(directory, 'pages.pdf');
      await writeFile(path, await document.save());
      const pages = Array.from({ length: 1000 }, () => 'all').join(',');
      await expect(texts(extractor, path, { pages })).rejects.toMatchObject({ code: 'resource_limit' });
    }));
});

describe('pdf-organizer', { timeout: 60_000 }, () => {
  test('orders, repeats and leaves out', async () => {
    expect(await texts(organizer, pdfFixture('twelve-pages'), { order: '3,1,2,10-z,1' })).toEqual({
      'twelve-pages.pdf': ['Number 3', 'Number 1', 'Number 2', 'Number 10', 'Number 11', 'Number 12', 'Number 1'],
    });
  });

  test('bookmarks lead to the pages where they are now', async () => {
    await using run = await runTool(organizer, [pdfFixture('outline')], { order: '4-1' });
    expect(bookmarks(run.outputs[0]?.path ?? '')).toEqual([
      ['One', 4, [['One, part two', 3, []]]],
      ['Three …€', 2, []],
    ]);
  });
});

describe('pdf-page-remover', { timeout: 60_000 }, () => {
  /** Pages: text, nothing, a hairline of palest grey, an empty form field without a border. */
  async function withBlankPages(directory: string): Promise<string> {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    document.addPage([300, 300]).drawText('First', { x: 50, y: 200, font });
    document.addPage([300, 300]);
    const faint = { start: { x: 10, y: 10 }, end: { x: 60, y: 10 }, thickness: 0.3, color: rgb(0.97, 0.97, 0.97) };
    document.addPage([300, 300]).drawLine(faint);
    document
      .getForm()
      .createTextField('empty')
      .addToPage(document.addPage([300, 300]), { x: 9, y: 9, borderWidth: 0 });
    const path = join(directory, 'blank.pdf');
    await writeFile(path, await document.save());
    return path;
  }

  test('named pages and blank ones', () =>
    withTemporaryDirectory(async (directory) => {
      const file = await withBlankPages(directory);
      expect((await texts(remover, file, { blank: 'true' }))['blank.pdf']).toEqual(['First', '', '']);
      expect((await texts(remover, file, { blank: 'true', pages: 'last' }))['blank.pdf']).toEqual(['First', '']);
      expect((await texts(remover, pdfFixture('three-pages'), { pages: '2' }))['three-pages.pdf']).toEqual([
        'Alpha 1',
        'Alpha 3',
      ]);
    }));

  test('something has to be named, and something has to be left', async () => {
    await expect(texts(remover, pdfFixture('three-pages'), {})).rejects.toThrow(/required unless blank/);
    await expect(texts(remover, pdfFixture('three-pages'), { pages: '1-3' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'Nothing would be left of three-pages.pdf: every page is to be removed.',
    });
  });
});
