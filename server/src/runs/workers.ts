import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Db } from '../db/database.ts';
import type { Uuid } from '../lib/ids.ts';

/**
 * A worker is alive while it holds a session lock on its number: the kernel closes the connection of a killed process,
 * PostgreSQL frees the lock, and everybody sees it gone within a second, without a heartbeat.
 */
const lockClass = 0x6d72_0003;

export interface WorkerReport {
  /** `bubblewrap`, `unshare` or `none`. */
  sandbox: string;
  /** Engine id to version: what is installed where the worker runs. */
  engines: Record<string, string>;
}

export interface Workers {
  /** A number nobody else has. */
  newNumber(): Promise<number>;
  /** Holds the number for as long as the connection lives; false when a former connection still holds it. */
  holdNumber(client: Client, number: number): Promise<boolean>;
  report(number: number, report: WorkerReport): Promise<void>;
  /** What the workers that are alive can do; those that went a moment ago count until another one takes over. */
  reports(): Promise<WorkerReport[]>;
  alive(): Promise<number[]>;
  /** Removes what dead workers reported. */
  forgetDead(): Promise<void>;
  /** Processing runs whose worker is gone. */
  orphans(): Promise<{ id: Uuid; attempt: number }[]>;
}

/** Numbers whose lock is held, in this database. */
const heldNumbers = sql<number>`(
  select objid::int from pg_locks
  where locktype = 'advisory' and classid = ${sql.lit(lockClass)}::int::oid and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())
)`;

export function createWorkers(db: Db): Workers {
  return {
    async newNumber() {
      const { rows } = await sql<{ number: number }>`select nextval('worker_numbers')::int as number`.execute(db);
      const number = rows[0]?.number;
      if (number === undefined) throw new Error('The database gave no worker number.');
      return number;
    },
    async holdNumber(client, number) {
      const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', [
        lockClass,
        number,
      ]);
      return rows[0]?.held === true;
    },
    async report(number, { sandbox, engines }) {
      const row = { sandbox, engines: JSON.stringify(engines), reported_at: sql<Date>`now()` };
      await db
        .insertInto('workers')
        .values({ number, ...row })
        .onConflict((conflict) => conflict.column('number').doUpdateSet(row))
        .execute();
    },
    reports: () => db.selectFrom('workers').select(['sandbox', 'engines']).execute(),
    async alive() {
      const { rows } = await sql<{ number: number }>`select number from ${heldNumbers} as held (number)`.execute(db);
      return rows.map(({ number }) => number);
    },
    async forgetDead() {
      await sql`
        delete from workers
        where number not in ${heldNumbers} and exists (select 1 from ${heldNumbers} as held)`.execute(db);
    },
    async orphans() {
      const { rows } = await sql<{ id: Uuid; attempt: number }>`
        select id, attempt from runs
        where status = 'processing' and worker is not null and worker not in ${heldNumbers}`.execute(db);
      return rows;
    },
  };
}
