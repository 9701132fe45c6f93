import { Failure } from '../../lib/failure.ts';
import type { Row } from '../csv.ts';
import { type DataSource, invalid } from './source.ts';

export interface Workbook {
  sheets: readonly { name: string; rows(): AsyncIterable<Row> | Iterable<Row> }[];
  close(): void;
}

const maxCells = 100_000_000;

/**
 * The sheets a person names: `all`, a name, or a number from 1. Sheets without a cell are left out of `all`.
 *
 * @throws Failure `invalid_input` naming the sheets there are.
 */
export function chooseSheets(source: DataSource, { sheets }: Workbook, wanted: string): Workbook['sheets'] {
  if (wanted === 'all') return sheets;
  const named =
    sheets.find(({ name }) => name === wanted) ??
    sheets.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  const chosen = named ?? (/^\d+$/.test(wanted) ? sheets[Number(wanted) - 1] : undefined);
  if (chosen !== undefined) return [chosen];
  const names = sheets.slice(0, 20).map(({ name }) => `"${name}"`);
  throw invalid(source, `has no sheet "${wanted}"; it has ${names.join(', ')}.`);
}

/**
 * Makes rows a table: every row as wide as the widest, empty rows at the end left out. Reads the sheet twice.
 *
 * @throws Failure `resource_limit` for a sheet whose far cells would make it enormous.
 */
export async function* evenRows(source: DataSource, sheet: Workbook['sheets'][number]): AsyncGenerator<Row> {
  let width = 0;
  let height = 0;
  let row = 0;
  for await (const cells of sheet.rows()) {
    row++;
    const last = cells.findLastIndex((cell) => cell !== '');
    if (last >= 0) height = row;
    width = Math.max(width, last + 1);
  }
  if (width * height > maxCells) {
    const size = `${height} rows and ${width} columns`;
    throw new Failure('resource_limit', `"${source.filename}", sheet "${sheet.name}": ${size} are too many.`, {
      file: source.filename,
    });
  }
  for await (const cells of sheet.rows()) {
    if (height-- <= 0) return;
    yield Array.from({ length: width }, (_, column) => cells[column] ?? '');
  }
}
