import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { type BookType, type CellObject, read, utils, write } from '@e965/xlsx';
import { ZipFile } from 'yazl';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import csvToExcel from './csv-to-excel-converter.ts';
import excelToCsv from './excel-to-csv-converter.ts';

const run = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-workbook-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function inFolder(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

function workbook(bookType: BookType): Buffer {
  const book = utils.book_new();
  const date = (v: number, z: string): CellObject => ({ t: 'n', v, z });
  const rows: unknown[][] = [
    ['id', 'zip', 'when', 'ok', 'sum'],
    [1, '00123', date(45293, 'yyyy-mm-dd'), true, { t: 'n', v: 3, f: '1+2' }],
    [0.1, 'x,"y"\nz', date(45293.5, 'yyyy-mm-dd hh:mm'), false, null],
    [],
    [1234567890123, 'ä€', date(0.75, 'h:mm'), null, { t: 'e', v: 7 }],
  ];
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'First');
  utils.book_append_sheet(book, utils.aoa_to_sheet([['only']]), 'Second & last');
  utils.book_append_sheet(book, utils.aoa_to_sheet([]), 'Empty');
  return write(book, { type: 'buffer', bookType }) as Buffer;
}

const firstSheet =
  'id,zip,when,ok,sum\n1,00123,2024-01-02,TRUE,3\n0.1,"x,""y""\nz",2024-01-02T12:00:00,FALSE,\n,,,,\n' +
  '1234567890123,ä€,18:00:00,,#DIV/0!\n';

async function toCsv(path: string, form: Record<string, string> = {}): Promise<Record<string, string>> {
  await using result = await runTool(excelToCsv, [path], form);
  const read = result.outputs.map(async ({ path: at, filename }) => [filename, await readFile(at, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(read));
}

describe('excel-to-csv-converter', () => {
  test.each(['xlsx', 'xlsb', 'biff8', 'ods'] as const)('reads every sheet of %s', async (type) => {
    const path = await inFolder(`book.${type === 'biff8' ? 'xls' : type}`, workbook(type));
    // The library that makes the fixture writes no errors to ODS.
    const first = type === 'ods' ? firstSheet.replace('#DIV/0!', '') : firstSheet;
    expect(await toCsv(path)).toEqual({ 'book-First.csv': first, 'book-Second & last.csv': 'only\n' });
  });

  test('leaves out a chart on a sheet of its own, which holds copies of cells', async () => {
    const bytes = workbook('biff8');
    const begins = Buffer.from('0908100000061000', 'hex');
    const sheet = bytes.indexOf(begins, bytes.indexOf('only') - 2000);
    const second = bytes.indexOf(begins, bytes.indexOf(begins, sheet) + 1);
    bytes.writeUInt8(0x20, second + 6);
    expect(await toCsv(await inFolder('chart.xls', bytes))).toEqual({ 'chart-First.csv': firstSheet });
  });

  test('one sheet by name or number; an unknown one names those there are', async () => {
    const path = await inFolder('book.xlsx', workbook('xlsx'));
    expect(await toCsv(path, { sheet: 'second & LAST' })).toEqual({ 'book.csv': 'only\n' });
    expect(await toCsv(path, { sheet: '2' })).toEqual({ 'book.csv': 'only\n' });
    await expect(toCsv(path, { sheet: 'x' })).rejects.toThrow(/"First", "Second & last", "Empty"/);
    await expect(toCsv(path, { sheet: 'Empty' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('formulas as text', async () => {
    const path = await inFolder('book.xlsx', workbook('xlsx'));
    const csv = await toCsv(path, { formulas: 'text', sheet: '1', delimiter: ';' });
    expect(csv['book.csv']).toContain('1;00123;2024-01-02;TRUE;=1+2\n');
    const safe = await toCsv(path, { formulas: 'text', sheet: '1', escape_formulas: 'true' });
    expect(safe['book.csv']).toContain("TRUE,'=1+2\n");
  });

  test('locked and damaged workbooks', async () => {
    const bytes = workbook('xlsx');
    const cut = await inFolder('cut.xlsx', bytes.subarray(0, bytes.length / 2));
    await expect(toCsv(cut)).rejects.toMatchObject({ code: 'invalid_input' });
    const source = await inFolder('plain.csv', 'a,b\n1,2\n');
    const locked = join(folder, 'locked.ods');
    // A package that says it is encrypted, as LibreOffice writes it.
    await run('python3', [
      '-c',
      'import sys,zipfile; z=zipfile.ZipFile(sys.argv[1],"w"); z.writestr("mimetype","application/vnd.oasis.opendocument.spreadsheet"); z.writestr("content.xml","x"); z.writestr("META-INF/manifest.xml","<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>")',
      locked,
      source,
    ]);
    await expect(toCsv(locked)).rejects.toMatchObject({ code: 'password_required' });
  });

  test('a far cell does not fill the disk', async () => {
    const cell = (reference: string, row: number) => `<row r="${row}"><c r="${reference}"><v>1</v></c></row>`;
    const path = await inFolder('far.xlsx', await bareWorkbook(cell('A1', 1) + cell('XFD1048576', 1_048_576)));
    await expect(toCsv(path)).rejects.toMatchObject({ code: 'resource_limit' });
  });

  test('cells without references, inline text and another prefix', async () => {
    const rows =
      '<x:row><x:c t="inlineStr"><x:is><x:t>a&amp;b</x:t></x:is></x:c><x:c/><x:c><x:v>1.1000000000000001</x:v></x:c></x:row>';
    const path = await inFolder('bare.xlsx', await bareWorkbook(rows));
    expect(await toCsv(path)).toEqual({ 'bare.csv': 'a&b,,1.1\n' });
  });
});

/** The least a workbook can be. */
async function bareWorkbook(rows: string): Promise<Buffer> {
  const zip = new ZipFile();
  const relation = (type: string, target: string) =>
    `<Relationships><Relationship Id="r1" Type="x/${type}" Target="${target}"/></Relationships>`;
  const parts = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relation('officeDocument', '/xl/workbook.xml'),
    'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relation('worksheet', 'worksheets/sheet1.xml'),
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  };
  for (const [name, xml] of Object.entries(parts)) zip.addBuffer(Buffer.from(xml), name);
  zip.end();
  return await buffer(zip.outputStream);
}

async function toExcel(files: string[], form: Record<string, string> = {}) {
  await using result = await runTool(csvToExcel, files, form);
  const books = await Promise.all(
    result.outputs.map(async ({ path, type, filename }) => {
      expect(type).toBe('xlsx');
      const book = read(await readFile(path), { type: 'buffer', cellStyles: true });
      const sheets = book.SheetNames.map((name) => [
        name,
        utils.sheet_to_json(book.Sheets[name]!, { header: 1, raw: true, defval: null }),
      ]);
      return { filename, sheets: Object.fromEntries(sheets) as Record<string, unknown[][]> };
    }),
  );
  return books;
}

describe('csv-to-excel-converter', () => {
  test('cells have the type that loses nothing', async () => {
    const csv = 'id;zip;n;ok;t;long\n1;00123;-2.50;true;"=1+1\nx";12345678901234567890\n2;;1e5;FALSE;+49 30;_x0041_\n';
    const [book] = await toExcel([await inFolder('t.csv', csv)]);
    expect(book).toEqual({
      filename: 't.xlsx',
      sheets: {
        t: [
          ['id', 'zip', 'n', 'ok', 't', 'long'],
          [1, '00123', -2.5, true, '=1+1\nx', '12345678901234567890'],
          [2, null, '1e5', false, '+49 30', '_x0041_'],
        ],
      },
    });
  });

  test('all text, and formulas with an apostrophe, when asked', async () => {
    const [book] = await toExcel([await inFolder('t.csv', 'a,b\n1,=x()\n')], {
      infer_types: 'false',
      escape_formulas: 'true',
    });
    expect(book!.sheets['t']).toEqual([
      ['a', 'b'],
      ['1', "'=x()"],
    ]);
  });

  test('several tables as sheets, with names Excel allows', async () => {
    const name = `a[b]:*?/\\${'x'.repeat(40)}.csv`;
    const path = await inFolder('one.csv', 'a,b\n1,2\n');
    const json = await inFolder('two.json', '[{"k":{"x":12345678901234567890}}]');
    await using result = await runTool(csvToExcel, [{ path, filename: name }, { path, filename: name }, json], {
      merge: 'sheets',
    });
    const book = read(await readFile(result.outputs[0]!.path), { type: 'buffer' });
    expect(result.outputs).toHaveLength(1);
    expect(book.SheetNames).toEqual([`a b ${'x'.repeat(27)}`, `a b ${'x'.repeat(23)} (2)`, 'two']);
    expect(utils.sheet_to_json(book.Sheets['two']!)).toEqual([{ 'k.x': '12345678901234567890' }]);
  });

  test('comes back the same', async () => {
    const csv = 'a,b\n1,"x, ""y"""\n00123,ä\n';
    await using made = await runTool(csvToExcel, [await inFolder('round.csv', csv)]);
    expect(Object.values(await toCsv(made.outputs[0]!.path))).toEqual([csv]);
  });

  test('an empty table and a cell too long are told', async () => {
    await expect(toExcel([await inFolder('e.csv', '\n\n')])).rejects.toMatchObject({ code: 'invalid_input' });
    const long = `a,b\n1,${'x'.repeat(32_768)}\n`;
    await expect(toExcel([await inFolder('l.csv', long)])).rejects.toMatchObject({ code: 'resource_limit' });
  });
});
