import type { Row } from '../csv.ts';
import { writeText } from './source.ts';

export interface CsvStyle {
  /** One character. */
  delimiter: string;
  /** Begin with a byte order mark, by which Excel knows UTF-8. */
  bom?: boolean;
  /** Put an apostrophe before text that a spreadsheet would take for a formula. */
  escapeFormulas?: boolean;
}

/** Characters at the start of a cell that make spreadsheets compute it (OWASP, "CSV injection"). */
const formulaStart = /^[=+\-@\t\r]/;
const plainNumber = /^[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+-]?\d+)?%?$/;

/** A cell that a spreadsheet shows as it is: `=1+1` becomes `'=1+1`, the number `-5` stays. */
export function neutralise(cell: string): string {
  return formulaStart.test(cell) && !plainNumber.test(cell) ? `'${cell}` : cell;
}

/** One record with its line end (CRLF, as RFC 4180 has it, is not what Unix tools expect: LF). */
export function csvLine(row: Row, { delimiter, escapeFormulas = false }: CsvStyle): string {
  const cells = row.map((cell) => quote(escapeFormulas ? neutralise(cell) : cell, delimiter));
  // A record of one empty cell would be a blank line, which readers skip.
  return cells.length === 1 && cells[0] === '' ? '""\n' : `${cells.join(delimiter)}\n`;
}

function quote(cell: string, delimiter: string): string {
  const needed =
    cell.includes(delimiter) ||
    cell.includes('"') ||
    cell.includes('\n') ||
    cell.includes('\r') ||
    /^\s|\s$/.test(cell);
  return needed ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Writes records as CSV in UTF-8. Returns how many. */
export async function writeCsv(
  rows: AsyncIterable<Row> | Iterable<Row>,
  target: string,
  style: CsvStyle,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  async function* lines(): AsyncGenerator<string> {
    if (style.bom === true) yield '\uFEFF';
    for await (const row of rows) {
      count++;
      yield csvLine(row, style);
    }
  }
  await writeText(target, lines(), signal);
  return count;
}
