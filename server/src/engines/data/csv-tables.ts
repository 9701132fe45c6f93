import { appendFile } from 'node:fs/promises';
import { type CsvSource, type Row, readCsv, uniqueNames } from '../csv.ts';
import { Failure } from '../../lib/failure.ts';
import { type CsvStyle, csvLine } from './csv-writer.ts';
import { RowSet } from './row-set.ts';
import { invalid } from './source.ts';

export interface MergeOptions {
  /** `union`: every column of any table; `intersect`: those that all have. */
  mode: 'union' | 'intersect';
  dedupe: boolean;
  /** A last column that names the file a row came from. */
  addSource: boolean;
}

/**
 * The rows of several tables under one header. Columns meet by name; where a table has no such column the cell is empty.
 *
 * @throws Failure `invalid_input` for a file without a header, and when no column is in all tables.
 */
export async function* mergeTables(sources: readonly CsvSource[], options: MergeOptions): AsyncGenerator<Row> {
  const headers: string[][] = [];
  for (const source of sources) headers.push(await headerOf(source));
  const all = [...new Set(headers.flat())];
  const columns =
    options.mode === 'union' ? all : all.filter((name) => headers.every((header) => header.includes(name)));
  const [first] = sources;
  if (columns.length === 0 && first !== undefined)
    throw invalid(first, 'has no column that all other tables have too.');
  const extra = options.addSource ? [uniqueNames([...columns, 'source_file']).at(-1) ?? ''] : [];
  yield [...columns, ...extra];
  const seen = options.dedupe ? new RowSet() : undefined;
  for (const [index, source] of sources.entries()) {
    const header = headers[index] ?? [];
    const places = columns.map((name) => header.indexOf(name));
    let line = 0;
    for await (const cells of readCsv(source)) {
      if (line++ === 0) continue;
      if (cells.length > header.length && cells.slice(header.length).some((cell) => cell !== '')) {
        throw invalid(
          source,
          `has ${cells.length} cells in record ${line}, more than the ${header.length} columns it names.`,
        );
      }
      const row = places.map((place) => cells[place] ?? '');
      if (seen !== undefined && !seen.add(row)) continue;
      yield options.addSource ? [...row, source.filename] : row;
    }
  }
}

async function headerOf(source: CsvSource): Promise<string[]> {
  for await (const row of readCsv({ ...source, onBytes: () => undefined })) return uniqueNames(row);
  throw invalid(source, 'has no records.');
}

export interface CleanOptions {
  /** White space at both ends of every cell goes. */
  trim: boolean;
  dedupe: boolean;
  /** Rows without anything in them go. */
  dropEmpty: boolean;
  /** Names become lower case words of a-z and 0-9 with underscores. */
  normaliseHeaders: boolean;
}

/**
 * A table made regular: every row as wide as the widest, every column with a name of its own. Reads the file twice.
 *
 * @throws Failure `invalid_input` for a file without records.
 */
export async function* cleanTable(source: CsvSource, options: CleanOptions): AsyncGenerator<Row> {
  const { trim, dedupe, dropEmpty, normaliseHeaders } = options;
  const read = (cell: string) => (trim ? cell.trim() : cell);
  let width = 0;
  for await (const row of readCsv(source)) {
    width = Math.max(width, row.findLastIndex((cell) => read(cell) !== '') + 1);
  }
  if (width === 0) throw invalid(source, 'has no records.');
  const seen = dedupe ? new RowSet() : undefined;
  let isHeader = true;
  for await (const cells of readCsv(source)) {
    const row = Array.from({ length: width }, (_, column) => read(cells[column] ?? ''));
    if (isHeader) {
      isHeader = false;
      yield uniqueNames(normaliseHeaders ? row.map(plainName) : row);
      continue;
    }
    if (dropEmpty && row.every((cell) => cell.trim() === '')) continue;
    if (seen === undefined || seen.add(row)) yield row;
  }
}

function plainName(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('ß', 'ss');
  return ascii
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase();
}

const maxParts = 1000;
const bufferedCharacters = 64 * 1024;
const maxBufferedCharacters = 32 * 1024 * 1024;

export interface SplitOptions {
  /** Records a part, when no column is told. */
  rows: number;
  /** Name of the column whose values each get a part. */
  column: string | undefined;
  /** The first record is a header and begins every part; else it is data, or only names the column. */
  keepHeader: boolean;
  style: CsvStyle;
  /** Where to write the part of a value, or the part of this number. */
  target(part: string | number): string;
}

/**
 * Cuts a table into parts. Returns how many.
 *
 * @throws Failure `invalid_input` for an unknown column, `resource_limit` beyond 1,000 parts.
 */
export async function splitTable(source: CsvSource, options: SplitOptions): Promise<number> {
  const parts = new Parts(source, options);
  let header: Row | undefined;
  let column = -1;
  let count = 0;
  const hasHeader = options.keepHeader || options.column !== undefined;
  for await (const row of readCsv(source)) {
    if (hasHeader && header === undefined) {
      header = row;
      if (options.column !== undefined) column = columnIndex(source, row, options.column);
      continue;
    }
    const part = column < 0 ? Math.floor(count / options.rows) + 1 : (row[column] ?? '');
    await parts.add(part, row, options.keepHeader ? header : undefined);
    count++;
  }
  if (count === 0) throw invalid(source, 'has no records to split.');
  await parts.flush();
  return parts.count;
}

/** The place of a column by its name, in any case; the columns there are, otherwise. */
export function columnIndex(source: Pick<CsvSource, 'filename'>, header: Row, wanted: string): number {
  const names = header.map((name) => name.trim());
  const exact = names.indexOf(wanted.trim());
  const found = exact >= 0 ? exact : names.findIndex((name) => name.toLowerCase() === wanted.trim().toLowerCase());
  if (found >= 0) return found;
  const shown = names.slice(0, 30).map((name) => `"${name.slice(0, 50)}"`);
  throw invalid(source, `has no column "${wanted}"; it has ${shown.join(', ')}.`);
}

/** Many files written side by side without as many open files. */
class Parts {
  readonly #source: CsvSource;
  readonly #options: SplitOptions;
  readonly #open = new Map<string | number, { path: string; text: string }>();
  #buffered = 0;
  count = 0;

  constructor(source: CsvSource, options: SplitOptions) {
    this.#source = source;
    this.#options = options;
  }

  async add(key: string | number, row: Row, header: Row | undefined): Promise<void> {
    let part = this.#open.get(key);
    if (part === undefined) {
      if (++this.count > maxParts) {
        const message = `"${this.#source.filename}" would become more than ${maxParts} files.`;
        throw new Failure('resource_limit', message, { file: this.#source.filename });
      }
      part = { path: this.#options.target(key), text: '' };
      if (this.#options.style.bom === true) part.text += '\uFEFF';
      if (header !== undefined) part.text += csvLine(header, this.#options.style);
      this.#open.set(key, part);
    }
    const line = csvLine(row, this.#options.style);
    part.text += line;
    this.#buffered += line.length;
    if (part.text.length > bufferedCharacters) await this.#write(part);
    if (this.#buffered > maxBufferedCharacters) await this.flush();
  }

  async flush(): Promise<void> {
    for (const part of this.#open.values()) if (part.text !== '') await this.#write(part);
    this.#buffered = 0;
  }

  async #write(part: { path: string; text: string }): Promise<void> {
    await appendFile(part.path, part.text);
    this.#buffered = Math.max(0, this.#buffered - part.text.length);
    part.text = '';
  }
}
