import { writeFile } from 'node:fs/promises';
import type * as Xlsx from '@e965/xlsx';
import { Failure } from '../lib/failure.ts';
import { type Cell, type Table, textOf } from './page-structure/types.ts';

/** A table as rows of text; merged cells stand in their first place. */
export interface TextTable {
  /** `Page 3` or, when a page has several, `Page 3 (2)`. */
  name: string;
  rows: string[][];
  merges: { row: number; column: number; rowSpan: number; columnSpan: number }[];
}

export function textTable(table: Table, name: string): TextTable {
  const rows = Array.from({ length: table.rowEdges.length - 1 }, () =>
    Array.from({ length: table.columnEdges.length - 1 }, () => ''),
  );
  for (const cell of table.cells) {
    const row = rows[cell.row];
    if (row !== undefined) row[cell.column] = cellText(cell);
  }
  const merges = table.cells.filter(({ rowSpan, columnSpan }) => rowSpan > 1 || columnSpan > 1);
  return { name, rows, merges };
}

function cellText({ paragraphs }: Cell): string {
  return paragraphs
    .map((paragraph) => (paragraph.list === undefined ? '' : `${paragraph.list.marker} `) + textOf(paragraph).trim())
    .filter((text) => text !== '')
    .join('\n')
    .replaceAll('\t', ' ');
}

/** How a document writes numbers: `1,234.56` or `1.234,56`; undefined when nothing in it tells. */
export type NumberStyle = 'point' | 'comma' | undefined;

const grouped = { point: /^\d{1,3}(,\d{3})+\.\d+$/, comma: /^\d{1,3}(\.\d{3})+,\d+$/ };

/** Looks for numbers that can only be read in one way. */
export function numberStyleOf(tables: readonly TextTable[]): NumberStyle {
  let [point, comma] = [0, 0];
  for (const text of tables.flatMap(({ rows }) => rows.flat())) {
    const digits = bareNumber(text)?.digits ?? '';
    if (grouped.point.test(digits) || /^\d+\.(\d{1,2}|\d{4,})$/.test(digits) || /^\d{1,3}(,\d{3}){2,}$/.test(digits))
      point += 1;
    if (grouped.comma.test(digits) || /^\d+,(\d{1,2}|\d{4,})$/.test(digits) || /^\d{1,3}(\.\d{3}){2,}$/.test(digits))
      comma += 1;
  }
  if (point > 0 && comma > 0) return undefined;
  return point > 0 ? 'point' : comma > 0 ? 'comma' : undefined;
}

interface TypedNumber {
  value: number;
  /** How the sheet shows it. */
  format: string;
}

const currencies = '$€£¥';

/** The digits of what may be a number, and what stands around them. */
function bareNumber(
  text: string,
): { digits: string; negative: boolean; percent: boolean; currency: string } | undefined {
  const match = /^(\()?([-+\u2212])?\s*([$€£¥])?\s*([-\u2212])?(\d[\d.,]*)\s*(%|[$€£¥])?(\))?$/.exec(text.trim());
  if (match === null || (match[1] === undefined) !== (match[7] === undefined)) return undefined;
  const [, open, sign, before, innerSign, digits = '', after] = match;
  const negative = open !== undefined || sign === '-' || sign === '\u2212' || innerSign !== undefined;
  const currency = before ?? (after !== undefined && currencies.includes(after) ? after : '');
  return { digits, negative, percent: after === '%', currency };
}

/** A number when the text can only mean one; undefined otherwise: `007`, `1.234` without other evidence, dates, codes. */
export function typedNumber(text: string, style: NumberStyle): TypedNumber | undefined {
  const bare = bareNumber(text);
  if (bare === undefined || /^0\d/.test(bare.digits)) return undefined;
  const plain = plainDigits(bare.digits, style);
  if (plain === undefined || plain.replace('.', '').length > 15) return undefined;
  const decimals = plain.split('.')[1]?.length ?? 0;
  const isGrouped = /[.,]\d{3}(\D|$)/.test(bare.digits) && bare.digits.replaceAll(/\D/g, '').length - decimals > 3;
  const shown = `${isGrouped ? '#,##0' : '0'}${decimals > 0 ? `.${'0'.repeat(decimals)}` : ''}`;
  const value = (bare.negative ? -1 : 1) * Number(plain);
  if (bare.percent) return { value: value / 100, format: `${shown}%` };
  return { value, format: bare.currency === '' ? shown : `"${bare.currency}"${shown}` };
}

function plainDigits(digits: string, style: NumberStyle): string | undefined {
  if (/^\d+$/.test(digits)) return digits;
  const asPoint = /^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(digits) ? digits.replaceAll(',', '') : undefined;
  const asComma = /^(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/.test(digits)
    ? digits.replaceAll('.', '').replace(',', '.')
    : undefined;
  if (asPoint === undefined || asComma === undefined) return asPoint ?? asComma;
  // 1.234 and 1,234 can be read both ways: only other numbers of the document tell.
  if (style === undefined) return undefined;
  return style === 'point' ? asPoint : asComma;
}

/** What a sheet can hold. */
const maxRows = 1_048_576;
const maxColumns = 16_384;
const maxCellLetters = 32_767;

/** Writes tables as a workbook, a sheet each, or all in one with an empty row between. Text never becomes a formula. */
export async function writeWorkbook(
  tables: readonly TextTable[],
  path: string,
  { oneSheet }: { oneSheet: boolean },
): Promise<void> {
  const xlsx = await import('@e965/xlsx');
  const style = numberStyleOf(tables);
  const workbook = xlsx.utils.book_new();
  const sheets = oneSheet ? [stacked(tables)] : tables;
  for (const table of sheets) xlsx.utils.book_append_sheet(workbook, sheetOf(xlsx, table, style), table.name);
  await writeFile(path, xlsx.write(workbook, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer);
}

function stacked(tables: readonly TextTable[]): TextTable {
  const all: TextTable = { name: 'Tables', rows: [], merges: [] };
  for (const { rows, merges } of tables) {
    if (all.rows.length > 0) all.rows.push([]);
    all.merges.push(...merges.map((merge) => ({ ...merge, row: merge.row + all.rows.length })));
    all.rows.push(...rows);
  }
  return all;
}

function sheetOf(xlsx: typeof Xlsx, { rows, merges }: TextTable, style: NumberStyle): Xlsx.WorkSheet {
  const columns = Math.max(1, ...rows.map((row) => row.length));
  if (rows.length > maxRows || columns > maxColumns)
    throw new Failure('resource_limit', 'A table is larger than a sheet can be.');
  const sheet: Xlsx.WorkSheet = {
    '!ref': xlsx.utils.encode_range({ s: { r: 0, c: 0 }, e: { r: Math.max(0, rows.length - 1), c: columns - 1 } }),
  };
  for (const [r, row] of rows.entries()) {
    for (const [c, text] of row.entries()) {
      if (text === '') continue;
      const number = typedNumber(text, style);
      sheet[xlsx.utils.encode_cell({ r, c })] =
        number === undefined
          ? { t: 's', v: text.slice(0, maxCellLetters) }
          : { t: 'n', v: number.value, z: number.format };
    }
  }
  sheet['!merges'] = merges.map(({ row, column, rowSpan, columnSpan }) => ({
    s: { r: row, c: column },
    e: { r: row + rowSpan - 1, c: column + columnSpan - 1 },
  }));
  sheet['!cols'] = Array.from({ length: columns }, (_, c) => ({
    wch: Math.min(60, Math.max(8, ...rows.slice(0, 200).map((row) => row[c]?.length ?? 0))),
  }));
  return sheet;
}

/** Tables as CSV with an empty line between them. What a spreadsheet would run as a formula is marked as text. */
export async function writeCsvTables(tables: readonly TextTable[], path: string): Promise<void> {
  const { stringify } = await import('csv-stringify/sync');
  const texts = tables.map(({ rows }) => stringify(rows.map((row) => row.map(withoutFormula))));
  await writeFile(path, texts.join('\n'));
}

function withoutFormula(text: string): string {
  const isFormula =
    /^[=@]/.test(text) || (/^[+-]/.test(text) && bareNumber(text) === undefined && /^[+-][\w(]/.test(text));
  return isFormula ? `'${text}` : text;
}
