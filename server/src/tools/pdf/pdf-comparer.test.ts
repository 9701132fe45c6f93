import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { pdfFixture, qpdfCheck, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-comparer.ts';

async function written(directory: string, name: string, pages: string[][], size = [300, 200]): Promise<string> {
  const document = await PDFDocument.create();
  for (const lines of pages) {
    const page = document.addPage(size as [number, number]);
    for (const [index, line] of lines.entries()) page.drawText(line, { x: 20, y: 160 - index * 20, size: 12 });
  }
  const path = join(directory, name);
  await writeFile(path, await document.save());
  return path;
}

async function compared(files: string[], form: Record<string, string> = {}) {
  await using run = await runTool(tool, files, form);
  const [pdf, json] = run.outputs;
  expect(qpdfCheck(pdf?.path ?? '')).toContain('No syntax or stream encoding errors');
  const report = JSON.parse(await readFile(json?.path ?? '', 'utf8')) as Record<string, unknown>;
  return { report, pages: await renderAll(pdf?.path ?? '') };
}

const reds = (pixels: Buffer | undefined) => {
  let count = 0;
  for (let at = 0; at + 2 < (pixels?.length ?? 0); at += 3) {
    if ((pixels?.[at] ?? 0) > 200 && (pixels?.[at + 1] ?? 0) < 60) count += 1;
  }
  return count;
};

describe('pdf-comparer', { timeout: 60_000 }, () => {
  test('looks: the changed page is found and marked, the others are equal', () =>
    withTemporaryDirectory(async (directory) => {
      const one = await written(directory, 'one.pdf', [['Same words'], ['The price is 100'], ['End']]);
      const other = await written(directory, 'other.pdf', [['Same words'], ['The price is 900'], ['End'], ['More']]);
      const { report, pages } = await compared([one, other]);
      expect(report).toMatchObject({ equal: false, changed_pages: [2, 4], second: { pages: 4 } });
      expect(report['pages']).toMatchObject([
        { changed_share: 0 },
        { in: 'both' },
        { changed_share: 0 },
        { in: 'second', changed_share: 1 },
      ]);
      expect(pages.map((page) => reds(page) > 0)).toEqual([false, true, false, false]);
      expect(await compared([one, one])).toMatchObject({ report: { equal: true, changed_pages: [] } });
    }));

  test('pages of different sizes differ', () =>
    withTemporaryDirectory(async (directory) => {
      const one = await written(directory, 'one.pdf', [['x']]);
      const wide = await written(directory, 'wide.pdf', [['x']], [330, 200]);
      expect((await compared([one, wide])).report).toMatchObject({ equal: false, pages: [{ same_size: false }] });
    }));

  test('words: only what was written differs, not where it stands', () =>
    withTemporaryDirectory(async (directory) => {
      const one = await written(directory, 'one.pdf', [['one two three', 'four five'], ['six']]);
      const other = await written(directory, 'other.pdf', [['one 2 three'], ['four five', 'six seven']]);
      const { report } = await compared([one, other], { mode: 'text' });
      expect(report).toMatchObject({
        equal: false,
        changes: [
          { kind: 'replaced', removed: 'two', added: '2', first_page: 1, second_page: 1 },
          { kind: 'added', added: 'seven', first_page: null, second_page: 2 },
        ],
      });
    }));

  test('files without text, locked and broken ones are refused', async () => {
    const scan = pdfFixture('scanned');
    const refused = (files: string[], form = {}) => expect(runTool(tool, files, form)).rejects;
    await refused([scan, scan], { mode: 'text' }).toMatchObject({ code: 'invalid_input' });
    await refused([pdfFixture('three-pages'), pdfFixture('locked')]).toMatchObject({ code: 'password_required' });
    await refused([pdfFixture('zero-pages'), scan]).toMatchObject({ code: 'invalid_input' });
  });
});
