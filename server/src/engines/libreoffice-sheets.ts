import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../lib/failure.ts';
import { readCsv, type Row } from './csv.ts';
import { type DocumentPart, type OfficeDocument, type SheetArrangement, withDocument } from './libreoffice.ts';

/** Pages of one workbook: a million rows make some twenty thousand, and take minutes. */
const maxPages = 10_000;

export interface PrintOptions extends Pick<SheetArrangement, 'orientation' | 'fitToWidth' | 'gridlines'> {
  target: string;
  /** The sheets to print, as 0-based indexes. May throw. */
  selectSheets: (sheets: readonly DocumentPart[]) => number[];
  password?: string | undefined;
  /** An existing private directory. */
  scratch: string;
  signal: AbortSignal;
}

/**
 * Prints sheets of a workbook as PDF. CSV and TSV are read in whatever encoding and with whatever delimiter they have, and
 * printed as they are written: nothing is taken for a formula, a date or a number.
 *
 * @throws Failure `invalid_input` also when nothing is on the sheets, `resource_limit` above 10,000 pages or when a table
 * does not fit on a sheet; else as `withDocument`.
 */
export async function printWorkbook(document: OfficeDocument, options: PrintOptions): Promise<void> {
  if (document.type !== 'csv' && document.type !== 'tsv') return await print(document, options, {});
  const path = join(options.scratch, 'table');
  try {
    const rightAligned = await stageTable(document, path, options.signal);
    await print({ ...document, path, type: 'csv' }, options, { bare: true, rightAligned });
  } finally {
    await rm(path, { force: true });
  }
}

async function print(
  document: OfficeDocument,
  options: PrintOptions,
  look: Pick<SheetArrangement, 'bare' | 'rightAligned'>,
): Promise<void> {
  const { target, selectSheets, orientation, fitToWidth, gridlines, password, scratch, signal } = options;
  const { filename: file } = document;
  const opening = { module: 'calc', importOptions: quotedUtf8, password, scratch, signal } as const;
  await withDocument(document, opening, async (opened) => {
    const sheets = selectSheets(opened.parts);
    const pages = await opened.arrangeSheets({ sheets, orientation, fitToWidth, gridlines, ...look });
    if (pages === 0) throw new Failure('invalid_input', `${file} has nothing to print on its sheets.`, { file });
    if (pages > maxPages) {
      const limit = maxPages.toLocaleString('en');
      const message = `${file} would be ${pages.toLocaleString('en')} pages long; at most ${limit} are possible.`;
      throw new Failure('resource_limit', message, { file });
    }
    await opened.store({ format: 'pdf', target });
  });
}

/** Comma, quote, UTF-8, from the first line, no formats of columns, no language, quoted cells are text, no detection. */
const quotedUtf8 = '44,34,76,1,,0,true,false';

const limits = { rows: 1_048_576, columns: 16_384, characters: 32_767 };

/** Writes a table with every cell quoted. Returns the columns that hold numbers only, but for their heading. */
async function stageTable(document: OfficeDocument, path: string, signal: AbortSignal): Promise<number[]> {
  const { filename: file } = document;
  const numeric: boolean[] = [];
  let rows = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const row of readCsv({ ...document, encoding: 'auto', delimiter: 'auto', signal })) {
      rows++;
      checkRow(row, rows, file);
      if (rows > 1) noteNumbers(row, numeric);
      yield `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`;
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(path, { mode: 0o600 }), { signal });
  if (rows === 0) throw new Failure('invalid_input', `${file} has no rows.`, { file });
  return [...numeric.keys()].filter((column) => numeric[column] === true);
}

function checkRow(row: Row, number: number, file: string): void {
  const message = `${file} does not fit on a sheet: `;
  if (number > limits.rows) {
    throw new Failure('resource_limit', `${message}it has more than ${limits.rows} rows.`, { file });
  }
  if (row.length > limits.columns) {
    throw new Failure('resource_limit', `${message}row ${number} has more than ${limits.columns} columns.`, { file });
  }
  if (row.some((cell) => cell.length > limits.characters)) {
    throw new Failure(
      'resource_limit',
      `${message}row ${number} has a cell of more than ${limits.characters} characters.`,
      {
        file,
      },
    );
  }
}

const numberPattern = /^[-+(]?[$€£¥]? ?\d[\d.,' ]{0,30}\)? ?[%$€£¥]?$/;

function noteNumbers(row: Row, numeric: boolean[]): void {
  for (const [column, cell] of row.entries()) {
    if (cell !== '') numeric[column] = (numeric[column] ?? true) && numberPattern.test(cell);
  }
}
