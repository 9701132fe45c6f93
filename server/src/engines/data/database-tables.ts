import type { FileTypeId } from '../../lib/media-types.ts';
import { detectEncoding } from '../../lib/text-encoding.ts';
import { type Row, readCsv, uniqueNames } from '../csv.ts';
import { type Database, identifier, literal } from '../duckdb.ts';
import { jsonTable } from './json-records.ts';
import { type DataSource, invalid } from './source.ts';
import { openWorkbook } from './workbook-reader.ts';
import { chooseSheets, evenRows } from './workbook.ts';

export interface TableSource extends DataSource {
  type: FileTypeId;
  encoding?: string;
  delimiter?: string;
}

const rowsAtOnce = 2048;
const maxColumns = 4096;

/**
 * Makes a table of a file: CSV, TSV, JSON, NDJSON, Parquet, or the first sheet of a workbook that has cells. Returns its
 * rows.
 *
 * @throws Failure `invalid_input` for a file without records, or one that cannot be read.
 */
export async function loadTable(
  database: Database,
  source: TableSource,
  table: string,
  inferTypes = true,
): Promise<number> {
  const { type } = source;
  const types = inferTypes ? 'infer' : 'text';
  if (type === 'parquet') return await viewParquet(database, source, table);
  if (type === 'json' || type === 'ndjson') {
    if (inferTypes && (await detectEncoding(source.path)) === 'utf-8') return await loadJson(database, source, table);
    return await loadRows(
      database,
      source,
      jsonTable({ ...source, lines: type === 'ndjson' }, { flatten: true }),
      table,
      types,
    );
  }
  if (type === 'xlsx' || type === 'encrypted_office') {
    const workbook = await openWorkbook(source);
    try {
      for (const sheet of chooseSheets(source, workbook, 'all')) {
        const [found] = await Array.fromAsync(firstOf(evenRows(source, sheet)));
        if (found !== undefined) return await loadRows(database, source, evenRows(source, sheet), table, types);
      }
      throw invalid(source, 'has no cells.');
    } finally {
      workbook.close();
    }
  }
  const { encoding = 'auto', delimiter = 'auto' } = source;
  return await loadRows(database, source, readCsv({ ...source, encoding, delimiter }), table, types);
}

async function* firstOf<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const value of values) {
    yield value;
    return;
  }
}

async function countRows(database: Database, table: string): Promise<number> {
  const [row] = await database.rows(`SELECT count(*)::VARCHAR AS n FROM ${identifier(table)}`);
  return Number(row?.['n'] ?? 0);
}

async function viewParquet(database: Database, source: TableSource, table: string): Promise<number> {
  try {
    await database.run(`CREATE VIEW ${identifier(table)} AS SELECT * FROM read_parquet(${literal(source.path)})`);
    return await countRows(database, table);
  } catch (error) {
    source.signal.throwIfAborted();
    throw invalid(source, 'is damaged: it cannot be read as Parquet.', error);
  }
}

/** DuckDB's own reader, which keeps what is nested as lists and structures. */
async function loadJson(database: Database, source: TableSource, table: string): Promise<number> {
  const format = source.type === 'ndjson' ? 'newline_delimited' : 'auto';
  const options = `format = '${format}', maximum_object_size = 67108864, sample_size = -1, map_inference_threshold = -1`;
  try {
    await database.run(
      `CREATE TABLE ${identifier(table)} AS SELECT * FROM read_json(${literal(source.path)}, ${options})`,
    );
  } catch (error) {
    source.signal.throwIfAborted();
    const [problem = ''] = database.failure(error).message.split('\n');
    throw invalid(source, `cannot be read as JSON records: ${problem.slice(0, 300)}`, error);
  }
  const rows = await countRows(database, table);
  if (rows === 0) throw invalid(source, 'has no records.');
  return rows;
}

/**
 * What the columns of a table of text become: the types they can have without a loss, text with empty texts in it, or
 * the types of a source that has its own, one a column.
 */
export type ColumnTypes = 'infer' | 'text' | readonly string[];

/**
 * Makes a table of rows of text under a header; returns how many rows. A row longer than the header makes columns
 * `column_7`, ….
 *
 * @throws Failure `invalid_input` without a header.
 */
export async function loadRows(
  database: Database,
  source: DataSource,
  rows: AsyncIterable<Row>,
  table: string,
  types: ColumnTypes,
): Promise<number> {
  if (types === 'text') {
    await appendText(database, source, rows, table, false);
    return await countRows(database, table);
  }
  const raw = `${table} as text`;
  const columns = await appendText(database, source, rows, raw, true);
  const found = types === 'infer' ? await inferColumns(database, raw, columns) : types;
  const casts = columns.map((name, index) => `CAST(${identifier(name)} AS ${found[index]}) AS ${identifier(name)}`);
  await database.run(`CREATE TABLE ${identifier(table)} AS SELECT ${casts.join(', ')} FROM ${identifier(raw)}`);
  await database.run(`DROP TABLE ${identifier(raw)}`);
  return await countRows(database, table);
}

/** An empty cell is NULL, or the empty text where types are not looked for. Returns the columns. */
async function appendText(
  { connection, run }: Database,
  source: DataSource,
  rows: AsyncIterable<Row>,
  table: string,
  emptyIsNull: boolean,
): Promise<string[]> {
  const { DuckDBDataChunk, VARCHAR } = await import('@duckdb/node-api');
  let columns: string[] = [];
  let waiting: Row[] = [];
  let appender: Awaited<ReturnType<typeof connection.createAppender>> | undefined;
  const write = () => {
    if (waiting.length === 0 || appender === undefined) return;
    const chunk = DuckDBDataChunk.create(
      columns.map(() => VARCHAR),
      waiting.length,
    );
    const cellOf = (row: Row, column: number) =>
      row[column] === '' && emptyIsNull ? null : (row[column] ?? (emptyIsNull ? null : ''));
    chunk.setColumns(columns.map((_, column) => waiting.map((row) => cellOf(row, column))));
    appender.appendDataChunk(chunk);
    waiting = [];
  };
  for await (const row of rows) {
    if (columns.length === 0) {
      columns = distinctNames(row);
      if (columns.length > maxColumns) throw invalid(source, `has more than ${maxColumns} columns.`);
      await run(
        `CREATE TABLE ${identifier(table)} (${columns.map((name) => `${identifier(name)} VARCHAR`).join(', ')})`,
      );
      appender = await connection.createAppender(table);
      continue;
    }
    const width = row.findLastIndex((cell) => cell !== '') + 1;
    if (width > columns.length) {
      write();
      appender?.closeSync();
      if (width > maxColumns) throw invalid(source, `has more than ${maxColumns} columns.`);
      const wider = distinctNames([...columns, ...Array.from({ length: width - columns.length }, () => '')]);
      for (const name of wider.slice(columns.length)) {
        await run(`ALTER TABLE ${identifier(table)} ADD COLUMN ${identifier(name)} VARCHAR`);
      }
      columns = wider;
      appender = await connection.createAppender(table);
    }
    waiting.push(row);
    if (waiting.length === rowsAtOnce) write();
  }
  if (columns.length === 0) throw invalid(source, 'has no records.');
  write();
  appender?.closeSync();
  return columns;
}

/** SQL does not tell `id` and `ID` apart. */
function distinctNames(header: Row): string[] {
  const seen = new Set<string>();
  return uniqueNames(header).map((name) => {
    let distinct = name.replaceAll('\0', '');
    for (let n = 2; seen.has(distinct.toLowerCase()); n++) distinct = `${name}_${n}`;
    seen.add(distinct.toLowerCase());
    return distinct;
  });
}

const day = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const moment = `${day}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?`;
const mantissa = "length(regexp_replace(regexp_replace(c, '[eE].*', ''), '[^0-9]', '', 'g'))";

/** Types a column may have, the first that fits wins, and when a text `c` is one without losing anything. */
const candidates: readonly [type: string, fits: string][] = [
  ['BOOLEAN', "lower(c) IN ('true', 'false')"],
  // No leading zeros: 00123 is a post code, and more than 19 digits are an id.
  ['BIGINT', "regexp_full_match(c, '0|-?[1-9][0-9]{0,18}') AND TRY_CAST(c AS BIGINT) IS NOT NULL"],
  [
    'DOUBLE',
    `(regexp_full_match(c, '-?(0|[1-9][0-9]*)(\\.[0-9]+([eE][+-]?[0-9]+)?)?') OR regexp_full_match(c, '-?[1-9][0-9]*[eE][+-][0-9]+')) AND ${mantissa} <= 15 AND isfinite(TRY_CAST(c AS DOUBLE))`,
  ],
  ['DATE', `regexp_full_match(c, '${day}') AND TRY_CAST(c AS DATE) IS NOT NULL`],
  ['TIMESTAMP', `regexp_full_match(c, '${moment}') AND TRY_CAST(c AS TIMESTAMP) IS NOT NULL`],
  [
    'TIMESTAMPTZ',
    `regexp_full_match(c, '${moment}(Z|[+-][0-9]{2}(:?[0-9]{2})?)') AND TRY_CAST(c AS TIMESTAMPTZ) IS NOT NULL`,
  ],
];

async function inferColumns(database: Database, table: string, columns: readonly string[]): Promise<string[]> {
  const types: string[] = [];
  for (const name of columns) {
    const tests = candidates.map(([type, fits]) => `coalesce(bool_and(coalesce(${fits}, false)), false) AS "${type}"`);
    const [row] = await database.rows(
      `SELECT ${tests.join(', ')} FROM (SELECT ${identifier(name)} AS c FROM ${identifier(table)}) WHERE c IS NOT NULL`,
    );
    types.push(candidates.find(([type]) => row?.[type] === true)?.[0] ?? 'VARCHAR');
  }
  return types;
}
