import { sql } from 'kysely';
import type { UsageOfDay } from '@millrun/sdk';
import type { Db } from '../db/database.ts';
import type { Uuid } from '../lib/ids.ts';
import type { RunRow } from './run-row.ts';

/** What one run adds to the usage of its account, on the day it ended. */
export interface Tally {
  /** UTC: `2026-11-21`. */
  day: string;
  done: 0 | 1;
  failed: 0 | 1;
  cancelled: 0 | 1;
  bytesIn: number;
  bytesOut: number;
  processingMs: number;
}

export type EndedRun = Pick<RunRow, 'inputs' | 'outputs' | 'error' | 'started_at'> & {
  status: 'done' | 'failed';
  finished_at: Date;
};

/** A run that never started has taken no time; clocks of two machines may disagree, but no run took less than none. */
export function tally(run: EndedRun): Tally {
  const cancelled = run.error?.code === 'cancelled';
  return {
    day: utcDay(run.finished_at),
    done: run.status === 'done' ? 1 : 0,
    failed: run.status === 'failed' && !cancelled ? 1 : 0,
    cancelled: cancelled ? 1 : 0,
    bytesIn: totalBytes(run.inputs),
    bytesOut: totalBytes(run.outputs ?? []),
    processingMs: run.started_at === null ? 0 : Math.max(0, run.finished_at.getTime() - run.started_at.getTime()),
  };
}

function totalBytes(files: readonly { size_bytes: number }[]): number {
  return files.reduce((total, { size_bytes }) => total + size_bytes, 0);
}

export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

export interface UsageToday {
  /** Counted when they were accepted. */
  runs: number;
  /** Of the runs that have ended today. */
  bytesIn: number;
  bytesOut: number;
}

export async function selectUsageToday(db: Db, accountId: Uuid, day: string): Promise<UsageToday> {
  const { rows } = await sql<UsageToday>`
    select
      coalesce((select runs from usage_days where account_id = ${accountId} and day = ${day}::date), 0) as runs,
      coalesce(sum(bytes_in), 0)::float8 as "bytesIn",
      coalesce(sum(bytes_out), 0)::float8 as "bytesOut"
    from usage_by_tool where account_id = ${accountId} and day = ${day}::date`.execute(db);
  return rows[0] ?? { runs: 0, bytesIn: 0, bytesOut: 0 };
}

/** From a day to another, both included; oldest first. */
export function selectUsage(db: Db, accountId: Uuid, from: string, to: string): Promise<UsageOfDay[]> {
  return db
    .selectFrom('usage_by_tool')
    .select([
      'day',
      'tool',
      'done',
      'failed',
      'cancelled',
      sql<number>`bytes_in::float8`.as('bytes_in'),
      sql<number>`bytes_out::float8`.as('bytes_out'),
      sql<number>`processing_ms::float8`.as('processing_ms'),
    ])
    .where('account_id', '=', accountId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .orderBy('tool')
    .execute();
}
