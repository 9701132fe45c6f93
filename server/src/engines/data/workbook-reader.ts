import { readFile } from 'node:fs/promises';
import type { WorkBook, WorkSheet } from '@e965/xlsx';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import type { Row } from '../csv.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { isoOfSerial, isDateFormat, padZeros } from './cell-formats.ts';
import { type DataSource, invalid, limitSize } from './source.ts';
import type { Workbook } from './workbook.ts';
import { openXlsx } from './xlsx-reader.ts';
import { decodeXml } from './xml-tokens.ts';
import { openZipParts } from './zip-parts.ts';

export const sheetJs: Engine = {
  id: 'xlsx',
  name: 'SheetJS',
  license: 'Apache-2.0',
  version: () => packageVersion('@e965/xlsx'),
};

/** The formats `openWorkbook` reads. A locked workbook is accepted so that its owner is told it is locked. */
export const workbookTypes = ['xlsx', 'xls', 'ods', 'encrypted_office'] as const satisfies FileTypeId[];

export interface WorkbookSource extends DataSource {
  type: FileTypeId;
}

/** SheetJS holds a workbook in memory, at about ten times its bytes. */
const maxWholeMegabytes = 100;

/**
 * Opens a workbook. Cells are text: numbers with all their digits, dates as ISO 8601, `TRUE` and `FALSE`, errors as shown
 * (`#DIV/0!`). Sheets of XLSX stream; with formulas as text, and for XLSB, XLS and ODS, the workbook is read as a whole.
 *
 * @throws Failure `password_required`, `invalid_input` for a damaged file, `resource_limit` for one too large.
 */
export async function openWorkbook(source: WorkbookSource, formulas: 'values' | 'text' = 'values'): Promise<Workbook> {
  if (source.type === 'encrypted_office') throw locked(source);
  const streamed = source.type === 'xlsx' && formulas === 'values' ? await openXlsx(source) : undefined;
  return streamed ?? (await openWhole(source, formulas));
}

function locked({ filename }: DataSource): Failure {
  return new Failure('password_required', `"${filename}" is locked with a password.`, { file: filename });
}

async function openWhole(source: WorkbookSource, formulas: 'values' | 'text'): Promise<Workbook> {
  await limitSize(source, maxWholeMegabytes);
  if (source.type !== 'xls') {
    const parts = await openZipParts(source, maxWholeMegabytes * 1024 * 1024);
    const manifest = parts.text('META-INF/manifest.xml');
    let text = '';
    if (manifest !== undefined) for await (const piece of manifest) text += piece;
    parts.close();
    if (text.includes('encryption-data')) throw locked(source);
  }
  const xlsx = await import('@e965/xlsx');
  let book: WorkBook;
  try {
    book = xlsx.read(await readFile(source.path), {
      type: 'buffer',
      dense: true,
      cellNF: true,
      cellHTML: false,
      cellFormula: formulas === 'text',
    });
  } catch (error) {
    if (error instanceof Error && /password|encrypt/i.test(error.message)) throw locked(source);
    throw invalid(source, 'is damaged: it cannot be read as a workbook.', error);
  }
  const date1904 = book.Workbook?.WBProps?.date1904 === true;
  return {
    // A chart on a sheet of its own keeps copies of cells. SheetJS leaves the names of ODS sheets as they are escaped.
    sheets: book.SheetNames.filter((name) => book.Sheets[name]?.['!type'] !== 'chart').map((name) => ({
      name: book.bookType === 'ods' ? decodeXml(name) : name,
      rows: () => rowsOf(book.Sheets[name] ?? {}, date1904, formulas),
    })),
    close: () => undefined,
  };
}

interface WholeCell {
  t: string;
  v?: unknown;
  w?: string;
  z?: string | number;
  f?: string;
}

function* rowsOf(sheet: WorkSheet, date1904: boolean, formulas: 'values' | 'text'): Generator<Row> {
  const data = (sheet as { '!data'?: (WholeCell | undefined)[][] })['!data'] ?? [];
  for (let row = 0; row < data.length; row++) {
    yield Array.from(data[row] ?? [], (cell) => {
      if (cell === undefined) return '';
      return formulas === 'text' && cell.f !== undefined && cell.f !== '' ? `=${cell.f}` : cellText(cell, date1904);
    });
  }
}

function cellText({ t, v, w, z }: WholeCell, date1904: boolean): string {
  if (v === undefined || v === null) return '';
  if (v instanceof Date) return v.toISOString().replace(/T00:00:00\.000Z$|(?:\.000)?Z$/, '');
  if (t === 'b') return v === true ? 'TRUE' : 'FALSE';
  if (t === 'e') return w ?? '#N/A';
  if (typeof v !== 'number') return String(v as string);
  const format = String(z ?? '');
  return isDateFormat(format) ? isoOfSerial(v, format, date1904) : padZeros(String(v), format);
}
