import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { read, utils } from '@e965/xlsx';
import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import { typedNumber } from '../../engines/table-workbook.ts';
import tool from './pdf-to-excel-converter.ts';

async function sheetsOf(path: string, form: Record<string, string> = {}): Promise<Record<string, unknown[][]>> {
  await using run = await runTool(tool, [path], form);
  execFileSync('unzip', ['-tq', run.outputs[0]?.path ?? '']);
  const workbook = read(await readFile(run.outputs[0]?.path ?? ''));
  return Object.fromEntries(
    Object.entries(workbook.Sheets).map(([name, sheet]) => [
      name,
      utils.sheet_to_json<unknown[]>(sheet, { header: 1 }),
    ]),
  );
}

describe('pdf-to-excel-converter', { timeout: 60_000 }, () => {
  test('a sheet for each table, with lines and without, numbers as numbers', async () => {
    const [ruled, aligned] = Object.entries(await sheetsOf(pdfFixture('report')));
    expect(ruled).toEqual([
      'Page 1',
      [
        ['Region', 'Revenue', 'Share'],
        ['North', 1234.56, 0.12],
        ['South and the very long name', 2500, 0.25],
        [undefined, 'merged over two'],
      ].map((row) => Object.assign([], row)),
    ]);
    expect(aligned).toEqual([
      'Page 1 (2)',
      [
        ['Tea', 12, 3.5],
        ['Coffee', 3, 12],
        ['Cake of the day', 40, 4.25],
      ],
    ]);
  });

  test('the mode chooses which tables, one_sheet puts them together', async () => {
    const report = pdfFixture('report');
    expect(Object.values(await sheetsOf(report, { mode: 'lattice' }))).toHaveLength(1);
    expect((await sheetsOf(report, { one_sheet: 'true' }))['Tables']).toHaveLength(8);
    await using run = await runTool(tool, [report], { format: 'csv' });
    expect(run.outputs.map(({ filename }) => filename)).toEqual(['report-1.csv', 'report-2.csv']);
    expect(await readFile(run.outputs[0]?.path ?? '', 'utf8')).toContain('North,"1,234.56",12 %\n');
  });

  test('nothing in a table becomes a formula', () =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      const font = await document.embedFont(StandardFonts.Helvetica);
      const page = document.addPage([400, 300]);
      for (const [row, [name = '', value = '']] of [
        ['Name', 'Amount'],
        ['=1+1', '1.000,50'],
        ['@SUM', '-3,5'],
        ['+x', '1.000'],
      ].entries()) {
        page.drawText(name, { x: 40, y: 250 - row * 16, size: 11, font });
        page.drawText(value, { x: 200, y: 250 - row * 16, size: 11, font });
      }
      const path = join(directory, 'formulas.pdf');
      await writeFile(path, await document.save());
      expect(Object.values(await sheetsOf(path))[0]).toEqual([
        ['Name', 'Amount'],
        ['=1+1', 1000.5],
        ['@SUM', -3.5],
        ['+x', 1000],
      ]);
      await using run = await runTool(tool, [path], { format: 'csv' });
      expect(await readFile(run.outputs[0]?.path ?? '', 'utf8')).toBe(
        `Name,Amount\n'=1+1,"1.000,50"\n'@SUM,"-3,5"\n'+x,1.000\n`,
      );
    }));

  test('a text is a number only when it can mean but one', () => {
    const value = (text: string, style?: 'point' | 'comma') => typedNumber(text, style)?.value;
    expect(
      ['1,234.56', '1.234,56', '12', '(5.50)', '1,5', '\u2212 7', '50 %', '€ 3.20'].map((text) => value(text)),
    ).toEqual([1234.56, 1234.56, 12, -5.5, 1.5, -7, 0.5, 3.2]);
    expect(
      ['1.234', '1,234', '007', '1.2.3', '12/05', '2024-01-02', '1234567890123456', 'x1'].map((text) => value(text)),
    ).toEqual(Array.from({ length: 8 }, () => undefined));
    expect([value('1.234', 'comma'), value('1.234', 'point')]).toEqual([1234, 1.234]);
  });

  test('refuses files without tables, scans, and locked files', async () => {
    await expect(runTool(tool, [pdfFixture('three-pages')])).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('No table') as string,
    });
    await expect(runTool(tool, [pdfFixture('scanned')])).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(runTool(tool, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
  });
});
