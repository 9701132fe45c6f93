import { readdir, readFile } from 'node:fs/promises';
import type { Pool } from 'pg';

const directory = new URL('./migrations/', import.meta.url);
/** Any fixed number: whoever migrates holds this advisory lock. */
const lockNumber = 0x6d72_0001;

/**
 * Brings the schema up to date: every numbered file that has not run yet, in order, in one transaction under a lock.
 *
 * @throws Error when the database was migrated by a newer version than this one.
 */
export async function migrate(pool: Pool): Promise<string[]> {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.sql')).toSorted();
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber]);
    await client.query(
      'create table if not exists migrations (name text primary key, at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ name: string }>('select name from migrations');
    const done = new Set(rows.map(({ name }) => name));
    const unknown = [...done].filter((name) => !files.includes(name));
    if (unknown.length > 0)
      throw new Error(`The database is newer than this version of Millrun: it has ${unknown.join(', ')}.`);
    const pending = files.filter((name) => !done.has(name));
    for (const name of pending) {
      await client.query(await readFile(new URL(name, directory), 'utf8'));
      await client.query('insert into migrations (name) values ($1)', [name]);
    }
    await client.query('commit');
    return pending;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
