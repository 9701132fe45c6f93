import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { utils, type WorkBook, writeFile as writeWorkbook, set_fs } from '@e965/xlsx';
import { runTool } from '../../../test/run-tool.ts';
import { convertOffice, libreofficeCalc, stopLibreOffice } from '../../engines/libreoffice.ts';
import excelToPdf from './excel-to-pdf-converter.ts';

set_fs(fs);
const version = await libreofficeCalc.version();
if (version === undefined) {
  console.warn(`SKIPPED: excel-to-pdf-converter, because LibreOffice Calc is missing: ${libreofficeCalc.install}`);
}

const fixture = (name: string) => join(import.meta.dirname, '../../../test/fixtures/office', name);
const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

interface Printed {
  /** The words of each page. */
  pages: string[];
  landscape: boolean[];
}

async function print(path: string, form: Record<string, string> = {}): Promise<Printed> {
  await using result = await runTool(excelToPdf, [path], form);
  const pdf = result.outputs[0]!.path;
  const { stdout: text } = await run('pdftotext', ['-layout', pdf, '-']);
  const { stdout: info } = await run('pdfinfo', ['-l', '100', pdf]);
  const sizes = [...info.matchAll(/size:\s+([\d.]+) x ([\d.]+)/g)];
  return {
    pages: text
      .split('\f')
      .slice(0, -1)
      .map((page) => page.trim().replaceAll(/\s+/g, ' ')),
    landscape: sizes.map(([, width, height]) => Number(width) > Number(height)),
  };
}

function workbook(sheets: [name: string, rows: unknown[][]][]): WorkBook {
  const book = utils.book_new();
  for (const [name, rows] of sheets) utils.book_append_sheet(book, utils.aoa_to_sheet(rows), name);
  return book;
}

describe.skipIf(version === undefined)('excel-to-pdf-converter', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-excel-'));
    const wide = [Array.from({ length: 30 }, (_, column) => `Column ${column}`)];
    const book = workbook([
      ['Übersicht', [['Müller', 1.5]]],
      ['Wide, really', wide],
      ['Hidden', [['SECRET']]],
      ['2', [['two']]],
    ]);
    book.Sheets['Übersicht']!['C1'] = { t: 'n', v: 6, f: 'B1*4' };
    book.Sheets['Übersicht']!['!ref'] = 'A1:C1';
    book.Workbook = { Sheets: [{}, {}, { Hidden: 1 }, {}] };
    for (const type of ['xlsx', 'xls']) writeWorkbook(book, file(`book.${type}`));
    const document = { path: file('book.xlsx'), filename: 'book.xlsx', type: 'xlsx' } as const;
    const signal = AbortSignal.timeout(60_000);
    await convertOffice(document, { format: 'ods', target: file('book.ods'), scratch: folder, signal });
  });

  afterAll(async () => {
    await stopLibreOffice();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(['xlsx', 'xls', 'ods'])('prints the sheets of an %s that are not hidden', async (type) => {
    const { pages, landscape } = await print(file(`book.${type}`));
    expect(pages[0]).toMatch(/^(?:Übersicht )?Müller 1[.,]5 6/);
    expect(pages).toHaveLength(3);
    expect(pages.join(' ')).not.toContain('SECRET');
    expect(landscape).toEqual([false, true, false]);
  });

  test.each([
    ['Wide, really', ['Column 0']],
    ['1,hidden', ['Müller', 'SECRET']],
    ['2', ['two']],
    ['3', ['two']],
  ])('prints sheet %s', async (sheets, expected) => {
    const { pages } = await print(file('book.xlsx'), { sheets });
    expect(pages).toHaveLength(expected.length);
    for (const [index, words] of expected.entries()) expect(pages[index]).toContain(words);
  });

  test.each(['9', 'Nothing', '3-9'])('refuses sheet %s', async (sheets) => {
    await expect(print(file('book.xlsx'), { sheets })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('prints a wide sheet over several pages, and upright when asked', async () => {
    const form = { sheets: 'Wide, really', orientation: 'portrait' };
    const { pages, landscape } = await print(file('book.xlsx'), { ...form, fit_to_width: 'false' });
    expect(pages.length).toBeGreaterThan(1);
    expect(new Set(landscape)).toEqual(new Set([false]));
    expect((await print(file('book.xlsx'), form)).pages).toHaveLength(1);
  });

  test('prints a CSV as it is written', async () => {
    await writeFile(
      file('table.csv'),
      Buffer.from('name;nr;sum\r\nMüller;007;=1+1\r\n"a;b";1,50;@SUM(A1)\r\n', 'latin1'),
    );
    const { pages } = await print(file('table.csv'), { gridlines: 'true' });
    expect(pages).toEqual(['name nr sum Müller 007 =1+1 a;b 1,50 @SUM(A1)']);
  });

  test.each(['encrypted.xlsx', 'encrypted.xls'])('opens %s with its password only', async (name) => {
    await expect(print(fixture(name))).rejects.toMatchObject({ code: 'password_required' });
    await expect(print(fixture(name), { password: 'wrong' })).rejects.toMatchObject({ code: 'password_required' });
    expect((await print(fixture(name), { password: 'geheim ä' })).pages[0]).toContain('Locked äöü €');
  });

  test('refuses an empty workbook and a damaged one', async () => {
    writeWorkbook(workbook([['Empty', []]]), file('empty.xlsx'));
    await expect(print(file('empty.xlsx'))).rejects.toMatchObject({ code: 'invalid_input', file: 'empty.xlsx' });
    const bytes = await readFile(file('book.xls'));
    await writeFile(file('cut.xls'), bytes.subarray(0, bytes.length / 2));
    await expect(print(file('cut.xls'))).rejects.toMatchObject({ code: 'invalid_input', file: 'cut.xls' });
  });

  test('refuses a table that no sheet can hold', async () => {
    await writeFile(file('long.csv'), `a,b\n1,${'x'.repeat(40_000)}\n`);
    await expect(print(file('long.csv'))).rejects.toMatchObject({ code: 'resource_limit' });
  });
});
