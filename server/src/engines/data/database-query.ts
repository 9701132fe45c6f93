import { parse } from 'node:path';
import { Failure } from '../../lib/failure.ts';
import { type Database, identifier } from '../duckdb.ts';
import { columnIndex } from './csv-tables.ts';
import type { DataSource } from './source.ts';
import { type TableSource, loadTable } from './database-tables.ts';

/** Makes a table of each file, called after it in letters, digits and underscores; the first is also called `input`. */
export async function loadQueryTables(
  database: Database,
  sources: readonly TableSource[],
  progress: (percent: number) => void,
): Promise<void> {
  const names = new Set<string>();
  for (const [index, source] of sources.entries()) {
    const name = tableName(source.filename, names);
    names.add(name);
    await loadTable(database, source, name);
    progress(((index + 1) / sources.length) * 80);
  }
  const [first] = names;
  if (first !== undefined && !names.has('input')) {
    await database.run(`CREATE VIEW input AS SELECT * FROM ${identifier(first)}`);
  }
}

function tableName(filename: string, taken: ReadonlySet<string>): string {
  const words = parse(filename)
    .name.toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');
  const base = words === '' || /^\d/.test(words) ? `t_${words}` : words;
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base}_${n}`;
  return name;
}

/**
 * A caller's SQL that is one SELECT, as DuckDB itself judges it, ready to stand in brackets.
 *
 * @throws Failure `invalid_input` with DuckDB's sentence.
 */
export async function readOnlyQuery({ connection, failure }: Database, sql: string): Promise<string> {
  const { StatementType } = await import('@duckdb/node-api');
  const refuse = (problem: string) => new Failure('invalid_input', `The SQL ${problem}.`);
  let statements;
  try {
    statements = await connection.extractStatements(sql);
  } catch (error) {
    throw failure(error);
  }
  if (statements.count !== 1) throw refuse('must be one statement');
  let prepared;
  try {
    prepared = await statements.prepare(0);
  } catch (error) {
    throw failure(error);
  }
  const { statementType, parameterCount } = prepared;
  prepared.destroySync();
  if (statementType !== StatementType.SELECT) throw refuse('must be a SELECT: nothing else is run');
  if (parameterCount > 0) throw refuse('must not have parameters');
  return sql.replace(/[;\s]+$/, '');
}

/**
 * A list of columns by their names, separated by commas, for a SELECT.
 *
 * @throws Failure `invalid_input` naming the columns there are.
 */
export async function chooseColumns(
  database: Database,
  source: DataSource,
  table: string,
  wanted: string | undefined,
): Promise<string> {
  if (wanted === undefined) return '*';
  const described = await database.rows(`DESCRIBE ${identifier(table)}`);
  const header = described.map(({ column_name: name }) => String(name));
  const names = header.includes(wanted) ? [wanted] : wanted.split(',').filter((name) => name.trim() !== '');
  return names.map((name) => identifier(header[columnIndex(source, header, name)] ?? '')).join(', ');
}
