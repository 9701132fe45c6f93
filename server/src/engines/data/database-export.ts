import { stat } from 'node:fs/promises';
import type { Row } from '../csv.ts';
import { type Database, identifier, literal } from '../duckdb.ts';
import { writeWorkbook } from './workbook-writer.ts';

export const tableFormats = ['csv', 'json', 'ndjson', 'xlsx', 'parquet'] as const;
export type TableFormat = (typeof tableFormats)[number];

export interface ExportOptions {
  format: TableFormat;
  /** In the database's allowed files. */
  target: string;
  /** Name of the sheet, in a workbook. */
  name: string;
  escapeFormulas: boolean;
  signal: AbortSignal;
}

const nested = /^(?:STRUCT|MAP|UNION|VARIANT)\b|\[\d*\]$|^JSON$/;
const mightBeFormula =
  "regexp_matches(v, '^[=+\\-@\\t\\r]') AND NOT regexp_full_match(v, '[+-]?([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?')";

/**
 * Writes the rows of a query that is known to be one SELECT. In CSV and workbooks lists and structures are JSON; binary
 * data is Base64 everywhere. Returns how many rows.
 */
export async function exportQuery(database: Database, query: string, options: ExportOptions): Promise<number> {
  const { format, target, escapeFormulas, signal } = options;
  const source = `(${query}\n)`;
  const columns = await database.rows(`DESCRIBE SELECT * FROM ${source}`);
  const asText = format === 'csv' || format === 'xlsx';
  const list = columns.map(({ column_name: name, column_type: type }) => {
    const column = identifier(String(name));
    const kind = String(type);
    if (format === 'parquet') return column;
    if (kind === 'BLOB') return `to_base64(${column}) AS ${column}`;
    if (asText && nested.test(kind)) return `to_json(${column})::VARCHAR AS ${column}`;
    if (asText && escapeFormulas && (kind === 'VARCHAR' || kind.startsWith('ENUM'))) {
      return `list_transform([${column}::VARCHAR], v -> CASE WHEN ${mightBeFormula} THEN '''' || v ELSE v END)[1] AS ${column}`;
    }
    // JSON has no number for them; they stay the words they are.
    if (!asText && (kind === 'DOUBLE' || kind === 'FLOAT')) {
      return `CASE WHEN isfinite(${column}) THEN to_json(${column}) ELSE to_json(${column}::VARCHAR) END AS ${column}`;
    }
    return column;
  });
  const select = `SELECT ${list.join(', ')} FROM ${source}`;
  if (format === 'xlsx') {
    const rows = textRows(
      database,
      select,
      columns.map(({ column_name: name }) => String(name)),
    );
    const style = { headerStyle: true, freezeHeader: true, inferTypes: true, escapeFormulas: false };
    const written = await writeWorkbook([{ name: options.name, rows }], target, style, signal);
    return written.rows - 1;
  }
  const how = {
    csv: "FORMAT csv, HEADER true, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR ''",
    json: 'FORMAT json, ARRAY true',
    ndjson: 'FORMAT json',
    parquet: 'FORMAT parquet, COMPRESSION zstd',
  }[format];
  const [done] = await database.rows(`COPY (${select}) TO ${literal(target)} (${how})`);
  return (await stat(target)).size === 0 ? 0 : Number(done?.['Count'] ?? 0);
}

async function* textRows({ connection, failure }: Database, select: string, names: Row): AsyncGenerator<Row> {
  yield names;
  const casts = names.map((name) => `coalesce(${identifier(name)}::VARCHAR, '')`);
  try {
    const result = await connection.stream(`SELECT ${casts.join(', ')} FROM (${select})`);
    for await (const rows of result.yieldRowsJson()) yield* rows as Row[];
  } catch (error) {
    throw failure(error);
  }
}
