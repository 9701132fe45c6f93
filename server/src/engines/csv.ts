import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, type Options, parse } from 'csv-parse';
import { errorCode } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';
import { readHead } from '../lib/read-head.ts';
import { decodeFile, detectEncoding } from '../lib/text-encoding.ts';
import { inBatches } from './data/source.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';
import { beyondAscii, mayBeWestern } from './western-text.ts';

export const csvParse: Engine = {
  id: 'csv-parse',
  name: 'csv-parse',
  license: 'MIT',
  version: () => packageVersion('csv-parse'),
};

/** One record: its cells as text. */
export type Row = string[];

export interface CsvSource {
  path: string;
  /** The given name, for messages. */
  filename: string;
  /** A label `TextDecoder` knows, or `auto`. */
  encoding: string;
  /** One character, or `auto`. */
  delimiter: string;
  signal: AbortSignal;
  onBytes?: (count: number) => void;
}

/** One record may have this many bytes; a longer one is a quote that never ends, or an attack on memory. */
const maxRecordBytes = 16 * 1024 * 1024;

/**
 * The records of a CSV file one by one, in flat memory. Blank lines are skipped; rows may be of different lengths. A quote
 * inside a field that does not begin with one is a character, as spreadsheets read it.
 *
 * @throws Failure `invalid_input` naming the line of a broken quote, or bytes that are not of the encoding, or an encoding
 * that cannot be told.
 */
export async function* readCsv(source: CsvSource): AsyncGenerator<Row> {
  const { filename, signal } = source;
  const encoding = await encodingOf(source);
  let count = 0;
  try {
    const { delimiter } = await csvDialect({ ...source, encoding });
    const dialect = { ...source, encoding, delimiter };
    try {
      for await (const row of strictRows(dialect)) {
        count++;
        yield row;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CsvError) || error.code !== 'INVALID_OPENING_QUOTE') throw error;
      // From the beginning again: checking every record for what such quotes may hide takes time.
      for await (const row of relaxedRows(dialect)) if (count-- <= 0) yield row;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CsvError) throw await describeCsvError(error, { ...source, encoding });
    throw isEncodingError(error) ? wrongEncoding(filename, error) : error;
  }
}

async function* strictRows(source: CsvSource): AsyncGenerator<Row> {
  let isFirst = true;
  for await (const row of parsed<Row>(source, {})) {
    if (!isFirst || !separatorLine.test(row.join(source.delimiter))) yield row;
    isFirst = false;
  }
}

async function* relaxedRows(source: CsvSource): AsyncGenerator<Row> {
  let isFirst = true;
  const records = parsed<{ record: Row; raw: string; info: { lines: number } }>(
    { ...source, onBytes: () => undefined },
    { relax_quotes: true, raw: true, info: true },
  );
  for await (const { record, raw, info } of records) {
    const broken = brokenCell(record, raw);
    if (broken !== undefined) {
      const field = broken.trim().slice(0, 50);
      const message = `${source.filename}, line ${info.lines}: the quotes of ${field} do not end where the field does.`;
      throw new Failure('invalid_input', message, { file: source.filename });
    }
    if (!isFirst || !separatorLine.test(record.join(source.delimiter))) yield record;
    isFirst = false;
  }
}

/**
 * The first cell that begins with a quote and is a field whose quotes are broken, which the parser hands over as it is and
 * which may have swallowed others. One that is written by the rules is found in the record that way, behind those before it.
 */
function brokenCell(record: Row, raw: string): string | undefined {
  let from = 0;
  return record.find((cell) => {
    if (!cell.startsWith('"')) return /^\s+"/.test(cell) && !/"\s*$/.test(cell);
    const written = `"${cell.replaceAll('"', '""')}"`;
    const at = raw.indexOf(written, from);
    if (at >= 0) from = at + written.length;
    return at < 0;
  });
}

async function* parsed<T>({ path, encoding, delimiter, signal, onBytes }: CsvSource, options: Options) {
  const parser = parse({
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRecordBytes,
    ...options,
  });
  const text = Readable.from(decodeFile(path, encoding, onBytes));
  const feeding = pipeline(text, parser, { signal }).catch((error: Error) => parser.destroy(error));
  yield* parser as AsyncIterable<T>;
  await feeding;
}

/** Encodings that chardet tells by what only they allow, or by the commonest letters. */
const toldByChardet = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'gb18030', 'big5', 'windows-1251', 'koi8-r']);
/** Of 100: right answers on tables of three lines had 66 and more, wrong ones up to 47. */
const lowestConfidence = 50;
const encodingSampleBytes = 256 * 1024;

/**
 * The encoding of a table: what detection is certain of, and windows-1252 only for what can be Western text.
 *
 * @throws Failure `invalid_input` when it is another one and cannot be told.
 */
async function encodingOf({ path, filename, encoding }: Pick<CsvSource, 'path' | 'filename' | 'encoding'>) {
  if (encoding !== 'auto') return encoding;
  const certain = await detectEncoding(path);
  if (certain !== 'windows-1252') return certain;
  const sample = await readHead(path, encodingSampleBytes);
  if (isMostlyUtf8(sample)) throw untold(filename, 'is UTF-8 with bytes in it that are not');
  if (mayBeWestern(sample)) return certain;
  const { analyse } = await import('chardet');
  const [likely] = analyse(sample);
  const name = likely?.name.toLowerCase() ?? '';
  if (toldByChardet.has(name) && (likely?.confidence ?? 0) >= lowestConfidence) return name;
  throw untold(filename, 'is in an encoding that cannot be told from its content');
}

function untold(filename: string, problem: string): Failure {
  return new Failure('invalid_input', `${filename} ${problem}; say with "encoding" how to read it.`, {
    file: filename,
  });
}

const utf8Characters = /^(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+$/;

/** In windows-1252 an accented letter has no sign such as \u00a9 behind it: more than a few by chance are UTF-8. */
function isMostlyUtf8(sample: Buffer): boolean {
  const runs = sample.toString('latin1').match(beyondAscii) ?? [];
  return runs.filter((run) => utf8Characters.test(run)).length > runs.length / 2;
}

/**
 * What `auto` stands for in a file.
 *
 * @throws Failure `invalid_input` for bytes that are not of the encoding.
 */
export async function csvDialect(
  source: Pick<CsvSource, 'path' | 'filename' | 'encoding' | 'delimiter'>,
): Promise<{ encoding: string; delimiter: string }> {
  const { path, filename, delimiter } = source;
  const encoding = await encodingOf(source);
  if (delimiter !== 'auto') return { encoding, delimiter };
  try {
    return { encoding, delimiter: await detectDelimiter(path, encoding) };
  } catch (error) {
    throw isEncodingError(error) ? wrongEncoding(filename, error) : error;
  }
}

function wrongEncoding(filename: string, cause: unknown): Failure {
  const message = `${filename} has bytes that are not of the encoding that was chosen.`;
  return new Failure('invalid_input', message, { file: filename, cause });
}

function isEncodingError(error: unknown): boolean {
  return errorCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA';
}

async function describeCsvError(
  error: CsvError,
  { path, filename, encoding }: Pick<CsvSource, 'path' | 'filename' | 'encoding'>,
): Promise<Failure> {
  const neverEnds = error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE';
  const line = neverEnds ? await lineOfOpenQuote(path, encoding) : Number(error['lines']);
  const message = `${filename}, line ${line}: ${csvProblem(error.code)}.`;
  return new Failure('invalid_input', message, { file: filename, cause: error });
}

/** The line of the last quote that opens a field: the parser only knows where the file ends. */
async function lineOfOpenQuote(path: string, encoding: string): Promise<number> {
  let line = 1;
  let opened = 1;
  let quoted = false;
  let previous = '';
  for await (const text of decodeFile(path, encoding)) {
    for (const character of text) {
      if (character === '\n') line++;
      if (character === '"') {
        quoted = !quoted;
        if (quoted && previous !== '"') opened = line;
      }
      previous = character;
    }
  }
  return opened;
}

function csvProblem(code: string): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is opened and never closed';
  if (code === 'CSV_MAX_RECORD_SIZE') return 'a record is longer than 16 MB, perhaps because a quote is missing';
  if (code === 'CSV_INVALID_CLOSING_QUOTE') return 'text follows a closing quote';
  return 'the record cannot be read';
}

const delimiters = [',', ';', '\t', '|'] as const;
const sampleCharacters = 64 * 1024;
const sampleRecords = 50;

/** A first line for Excel that names the delimiter and is no record. */
const separatorLine = /^sep=([^\w"\r\n])(?=\r?\n|\r|$)/i;

/** What a line `sep=;` says, or what cuts the first records into the most columns that nearly all of them have. */
async function detectDelimiter(path: string, encoding: string): Promise<string> {
  let sample = '';
  for await (const text of decodeFile(path, encoding)) {
    sample += text;
    if (sample.length >= sampleCharacters) break;
  }
  const named = separatorLine.exec(sample)?.[1];
  if (named !== undefined) return named;
  const complete = sample.length < sampleCharacters;
  let best = { delimiter: ',', columns: 1 };
  for (const delimiter of delimiters) {
    const columns = commonColumnCount(sample, delimiter, complete);
    if (columns > best.columns) best = { delimiter, columns };
  }
  return best.delimiter;
}

/** The number of columns that nine in ten of the first records have, or 1. */
function commonColumnCount(sample: string, delimiter: string, complete: boolean): number {
  const counts: number[] = [];
  let columns = 1;
  let quoted = false;
  for (let at = 0; at < sample.length && counts.length < sampleRecords; at++) {
    const character = sample[at];
    if (character === '"') quoted = quoted ? false : opensField(sample[at - 1], delimiter);
    else if (quoted) continue;
    else if (character === delimiter) columns++;
    else if (character === '\n') {
      counts.push(columns);
      columns = 1;
    }
  }
  if (complete && !sample.endsWith('\n')) counts.push(columns);
  const tally = Map.groupBy(counts, (count) => count);
  const [common, records] = [...tally].toSorted((a, b) => b[1].length - a[1].length)[0] ?? [1, []];
  return records.length >= counts.length * 0.9 ? common : 1;
}

/** Whether a quote after this character opens a field, or goes on with one: `""` within quotes. */
function opensField(before: string | undefined, delimiter: string): boolean {
  return before === undefined || before === delimiter || before === '\n' || before === '\r' || before === '"';
}

export type JsonLayout = 'pretty' | 'compact' | 'ndjson';

interface JsonOptions {
  layout: JsonLayout;
  /** The first record names the columns; without it every record is an array. */
  header: boolean;
  /** Numbers, true, false and null where the text is exactly one; text stays text otherwise. */
  inferTypes: boolean;
  signal: AbortSignal;
}

/**
 * Writes records as JSON. Returns how many.
 *
 * With a header a short record has `null` in its missing columns, and a long one gets `column_7`, … for its further
 * cells. Empty names become `column_3`, repeated ones `name_2`. Keys are written as text, never set on an object, so a
 * column called `__proto__` is a column like any other.
 */
export async function writeJson(rows: AsyncIterable<Row>, target: string, options: JsonOptions): Promise<number> {
  let count = 0;
  async function* pieces(): AsyncGenerator<string> {
    for await (const piece of jsonPieces(rows, options, () => count++)) yield piece;
  }
  await pipeline(Readable.from(inBatches(pieces())), createWriteStream(target), { signal: options.signal });
  return count;
}

async function* jsonPieces(
  rows: AsyncIterable<Row>,
  { layout, header, inferTypes }: JsonOptions,
  counted: () => void,
): AsyncGenerator<string> {
  const toValue = inferTypes ? inferJson : JSON.stringify;
  const separator = { pretty: ',\n', compact: ',', ndjson: '\n' }[layout];
  let keys: string[] | undefined;
  let first = true;
  if (layout !== 'ndjson') yield '[';
  for await (const row of rows) {
    if (header && keys === undefined) {
      keys = uniqueNames(row).map((name) => JSON.stringify(name));
      continue;
    }
    const record = keys === undefined ? arrayJson(row, toValue, layout) : objectJson(row, keys, toValue, layout);
    if (!first) yield separator;
    else if (layout === 'pretty') yield '\n';
    yield record;
    first = false;
    counted();
  }
  if (layout === 'ndjson') yield first ? '' : '\n';
  else yield layout === 'pretty' && !first ? '\n]\n' : ']\n';
}

function objectJson(row: Row, keys: string[], toValue: (cell: string) => string, layout: JsonLayout): string {
  while (keys.length < row.length) keys.push(JSON.stringify(nextColumnName(keys)));
  const members = keys.map((key, index) => {
    const cell = row[index];
    const value = cell === undefined ? 'null' : toValue(cell);
    return layout === 'pretty' ? `    ${key}: ${value}` : `${key}:${value}`;
  });
  return layout === 'pretty' ? `  {\n${members.join(',\n')}\n  }` : `{${members.join(',')}}`;
}

function arrayJson(row: Row, toValue: (cell: string) => string, layout: JsonLayout): string {
  return layout === 'pretty' ? `  [${row.map(toValue).join(', ')}]` : `[${row.map(toValue).join(',')}]`;
}

function nextColumnName(keys: readonly string[]): string {
  let number = keys.length + 1;
  while (keys.includes(JSON.stringify(`column_${number}`))) number++;
  return `column_${number}`;
}

/** Column names as they are, empty ones filled in and repeated ones numbered. */
export function uniqueNames(header: Row): string[] {
  const taken = new Set(header);
  const seen = new Set<string>();
  return header.map((given, index) => {
    const name = given.trim() === '' ? `column_${index + 1}` : given;
    let unique = name;
    for (let n = 2; seen.has(unique) || (unique !== given && taken.has(unique)); n++) unique = `${name}_${n}`;
    seen.add(unique);
    return unique;
  });
}

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The JSON of a cell. Text stays text when a number would lose something: a leading zero or plus (`007`), more digits than
 * a double holds (2^53 and above, or 15 significant ones), an exponent that may be part of an id (`12e5`).
 */
function inferJson(cell: string): string {
  if (cell === '') return 'null';
  const lower = cell.length <= 5 ? cell.toLowerCase() : '';
  if (lower === 'true' || lower === 'false' || lower === 'null') return lower;
  if (numberPattern.test(cell) && isExact(cell)) return String(Number(cell));
  return JSON.stringify(cell);
}

function isExact(text: string): boolean {
  const [mantissa = '', exponent] = text.split(/e/i);
  if (exponent !== undefined && !mantissa.includes('.') && !/^[+-]/.test(exponent)) return false;
  const value = Number(text);
  if (!mantissa.includes('.') && exponent === undefined) return Number.isSafeInteger(value);
  const digits = mantissa.replace(/^-?[0.]*/, '').replace('.', '');
  return Number.isFinite(value) && digits.length <= 15;
}
