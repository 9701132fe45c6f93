import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBValue, Json } from '@duckdb/node-api';
import { toError } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const duckDb: Engine = {
  id: 'duckdb',
  name: 'DuckDB',
  license: 'MIT',
  version: () => packageVersion('@duckdb/node-api'),
};

/** A database of one run, in memory and beyond 512 MB in scratch. */
export interface Database {
  readonly connection: DuckDBConnection;
  /** Runs SQL of ours. @throws Failure `invalid_input` with DuckDB's sentence. */
  run(sql: string, values?: DuckDBValue[]): Promise<void>;
  /** The rows of a query of ours. */
  rows(sql: string): Promise<Record<string, Json>[]>;
  /** Makes a Failure of what DuckDB said, without paths of this machine. */
  failure(error: unknown, filename?: string): Failure;
}

interface DatabaseOptions {
  scratch: string;
  signal: AbortSignal;
  /** The only files it may touch: path on disk and the name its owner knows. */
  files: readonly { path: string; filename: string }[];
}

/**
 * Opens a database that reaches no file but those named, no network and no extension, and whose settings are locked before
 * any data comes in: whatever SQL runs in it later cannot widen that. Queries end when `signal` aborts.
 */
export async function withDatabase<T>(options: DatabaseOptions, work: (database: Database) => Promise<T>): Promise<T> {
  const { scratch, signal, files } = options;
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const spill = join(scratch, 'duckdb');
  await mkdir(spill, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: '512MB',
    temp_directory: spill,
    max_temp_directory_size: '8GB',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  const interrupt = () => connection.interrupt();
  signal.addEventListener('abort', interrupt);
  const failure: Database['failure'] = (error, filename) => {
    const message = hidePaths(toError(error).message, [...files, { path: spill, filename: 'scratch' }]);
    const code = /^Out of (?:Memory|Range) Error.*(?:memory|temp)/i.test(message) ? 'resource_limit' : 'invalid_input';
    return new Failure(code, message, { file: filename, cause: error });
  };
  const guarded = async <R>(act: () => Promise<R>): Promise<R> => {
    try {
      return await act();
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof Failure ? error : failure(error);
    }
  };
  try {
    await connection.run("SET TimeZone = 'UTC'");
    await connection.run(`SET allowed_paths = [${files.map(({ path }) => literal(path)).join(', ')}]`);
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
    return await work({
      connection,
      failure,
      run: async (sql, values) => void (await guarded(() => connection.run(sql, values))),
      rows: (sql) => guarded(async () => (await connection.runAndReadAll(sql)).getRowObjectsJson()),
    });
  } finally {
    signal.removeEventListener('abort', interrupt);
    connection.closeSync();
    instance.closeSync();
  }
}

function hidePaths(message: string, files: DatabaseOptions['files']): string {
  let text = message;
  for (const { path, filename } of files) text = text.replaceAll(path, filename);
  return text.slice(0, 1000).trim();
}

/** A text in SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name in SQL, whatever it is. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
