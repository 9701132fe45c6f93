import { sql, type SqlBool } from 'kysely';
import type { RunStatus } from '@millrun/sdk';
import type { Db, Tx } from '../db/database.ts';
import type { StoredInput } from '../db/schema.ts';
import type { Uuid } from '../lib/ids.ts';
import { channels } from './events.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { RunRow } from './run-row.ts';
import { tally, type EndedRun } from './usage.ts';

/** Nobody needs an exact place beyond this, and counting must stay cheap. */
const positionLimit = 10_000;

/** How many queued runs start before this one, plus one; null for a run that is not queued. */
const queuePosition = sql<number | null>`case when r.status = 'queued' then (
  select count(*)::int + 1 from (
    select 1 from runs q
    where q.status = 'queued' and (q.fair_tag, q.id) < (r.fair_tag, r.id)
    limit ${sql.lit(positionLimit)}
  ) ahead
) end`.as('queue_position');

const columns = [
  'r.id',
  'r.account_id',
  'r.tool',
  'r.status',
  'r.settings',
  'r.form',
  'r.inputs',
  'r.outputs',
  'r.error',
  'r.progress',
  'r.attempt',
  'r.lost_attempts',
  'r.worker',
  'r.unsafe_until',
  'r.created_at',
  'r.started_at',
  'r.finished_at',
  'r.expires_at',
  'r.files_removed',
  'r.day',
] as const;

/** One run of one account; another account's does not exist. */
export function selectRun(db: Db, accountId: Uuid, id: Uuid): Promise<RunRow | undefined> {
  return db
    .selectFrom('runs as r')
    .select([...columns, queuePosition])
    .where('r.id', '=', id)
    .where('r.account_id', '=', accountId)
    .executeTakeFirst();
}

/** A run by id alone, for whoever holds a signed address or executes it. */
export function selectRunById(db: Db | Tx, id: Uuid): Promise<RunRow | undefined> {
  return db
    .selectFrom('runs as r')
    .select([...columns, queuePosition])
    .where('r.id', '=', id)
    .executeTakeFirst();
}

/** The row, locked until the transaction ends: what `lifecycle.ts` decides on. */
export function lockRun(tx: Tx, id: Uuid, accountId?: Uuid): Promise<RunRow | undefined> {
  return tx
    .selectFrom('runs as r')
    .select([...columns, sql<number | null>`null`.as('queue_position')])
    .where('r.id', '=', id)
    .$if(accountId !== undefined, (query) => query.where('r.account_id', '=', accountId ?? ''))
    .forUpdate()
    .executeTakeFirst();
}

/** Where a run stands in the list. */
export interface Position {
  createdAt: Date;
  id: Uuid;
}

export interface RunFilter {
  status?: RunStatus | undefined;
  tool?: string | undefined;
  /** Runs older than this one. */
  before?: Position | undefined;
  limit: number;
}

/**
 * Newest first by when they were accepted, for an id is as old as the begin of its upload. By key, so that a page neither
 * skips nor repeats a run while others arrive.
 */
export function selectRuns(db: Db, accountId: Uuid, filter: RunFilter): Promise<RunRow[]> {
  const { status, tool, before } = filter;
  return db
    .selectFrom('runs as r')
    .select([...columns, queuePosition])
    .where('r.account_id', '=', accountId)
    .$if(status !== undefined, (query) => query.where('r.status', '=', status ?? 'queued'))
    .$if(tool !== undefined, (query) => query.where('r.tool', '=', tool ?? ''))
    .$if(before !== undefined, (query) =>
      query.where(sql<SqlBool>`(r.created_at, r.id) < (${before?.createdAt}::timestamptz, ${before?.id}::uuid)`),
    )
    .orderBy('r.created_at', 'desc')
    .orderBy('r.id', 'desc')
    .limit(filter.limit)
    .execute();
}

/** A run that was never started gives its place in the day back. */
export async function giveDailyRunBack(tx: Tx, accountId: Uuid, day: string): Promise<void> {
  await sql`update usage_days set runs = greatest(runs - 1, 0) where account_id = ${accountId} and day = ${day}::date`.execute(
    tx,
  );
}

export interface NewRun {
  id: Uuid;
  accountId: Uuid;
  tool: string;
  settings: Record<string, unknown>;
  form: Record<string, string>;
  inputs: StoredInput[];
  /** The day it counts against, and how many runs that day may have; 0 is no limit. */
  day: string;
  runsPerDay: number;
  createdAt: Date;
  expiresAt: Date | null;
}

/**
 * Counts a run against the day, takes the account's next place in the fair order, stores the run and wakes the workers,
 * in one statement. Undefined when the day's runs are used up.
 */
export async function insertRun(tx: Tx, run: NewRun): Promise<{ fairTag: number } | undefined> {
  const { rows } = await sql<{ fair_tag: number }>`
    with counted as (
      insert into usage_days as u (account_id, day, runs) values (${run.accountId}::uuid, ${run.day}::date, 1)
      on conflict (account_id, day) do update set runs = u.runs + 1
        where ${run.runsPerDay}::int = 0 or u.runs < ${run.runsPerDay}::int
      returning account_id
    ), placed as (
      update accounts a set fair_tag = greatest(a.fair_tag + 1, (select last_value from fair_clock)::int)
      from counted where a.id = counted.account_id
      returning a.fair_tag
    ), stored as (
      insert into runs (id, account_id, tool, status, settings, form, inputs, fair_tag, day, created_at, expires_at)
      select ${run.id}::uuid, ${run.accountId}::uuid, ${run.tool}, 'queued', ${JSON.stringify(run.settings)}::json,
        ${JSON.stringify(run.form)}::json, ${JSON.stringify(run.inputs)}::jsonb, fair_tag, ${run.day}::date,
        ${run.createdAt}::timestamptz, ${run.expiresAt}::timestamptz
      from placed
      returning fair_tag
    )
    select fair_tag, pg_notify(${channels.queued}, '') from stored`.execute(tx);
  return rows[0] === undefined ? undefined : { fairTag: rows[0].fair_tag };
}

/**
 * Writes what `lifecycle.ts` decided for a run that goes on and tells everybody, in one statement. The row must be locked by
 * `lockRun`. A run that starts moves the clock of the fair order to its tag, so that newcomers queue beside it, not behind
 * the past.
 */
export async function writeRun(tx: Tx, id: Uuid, change: Lifecycle & { startedAt?: Date }): Promise<void> {
  await tx
    .updateTable('runs')
    .set({
      status: change.status,
      attempt: change.attempt,
      lost_attempts: change.lostAttempts,
      worker: change.worker,
      unsafe_until: change.unsafeUntil,
      ...(change.startedAt === undefined ? {} : { started_at: change.startedAt }),
    })
    .where('id', '=', id)
    .returning([
      sql`pg_notify(${channels.run}, ${`${id} ${change.status}`})`.as('told'),
      sql`case when status = 'processing' and fair_tag > (select last_value from fair_clock)
        then setval('fair_clock', fair_tag) end`.as('clock'),
    ])
    .execute();
}

/**
 * Writes the end of a run, counts it in the usage of its account and tells everybody, in one statement. The row must be
 * locked by `lockRun`. The account's usage stays locked until the transaction is over, so this is its last statement.
 */
export async function endRun(tx: Tx, run: RunRow & EndedRun): Promise<void> {
  const added = tally(run);
  await sql`
    with ended as (
      update runs set status = ${run.status}, attempt = ${run.attempt}::int, lost_attempts = ${run.lost_attempts}::int,
        worker = ${run.worker}::int, unsafe_until = ${run.unsafe_until}::timestamptz,
        finished_at = ${run.finished_at}::timestamptz, outputs = ${jsonOrNull(run.outputs)}::jsonb,
        error = ${jsonOrNull(run.error)}::jsonb
      where id = ${run.id}::uuid
      returning account_id, tool, pg_notify(${channels.run}, ${`${run.id} ${run.status}`}) as told
    )
    insert into usage_by_tool as u
      (account_id, day, tool, done, failed, cancelled, bytes_in, bytes_out, processing_ms)
    select account_id, ${added.day}::date, tool, ${added.done}::int, ${added.failed}::int, ${added.cancelled}::int,
      ${added.bytesIn}::bigint, ${added.bytesOut}::bigint, ${added.processingMs}::bigint
    from ended
    on conflict (account_id, day, tool) do update set
      done = u.done + excluded.done,
      failed = u.failed + excluded.failed,
      cancelled = u.cancelled + excluded.cancelled,
      bytes_in = u.bytes_in + excluded.bytes_in,
      bytes_out = u.bytes_out + excluded.bytes_out,
      processing_ms = u.processing_ms + excluded.processing_ms`.execute(tx);
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Progress of an attempt; never goes down, and nothing happens when the attempt no longer runs. */
export async function raiseProgress(db: Db, id: Uuid, attempt: number, percent: number): Promise<void> {
  await sql`
    with raised as (
      update runs set progress = ${percent}
      where id = ${id} and attempt = ${attempt} and status = 'processing' and progress < ${percent}
      returning id
    )
    select pg_notify(${channels.run}, id::text || ' processing') from raised`.execute(db);
}

/** The attempts a worker holds, as the database sees it: what it works on beyond these was taken away. */
export async function selectHeldAttempts(db: Db, worker: number): Promise<{ id: Uuid; attempt: number }[]> {
  return db
    .selectFrom('runs')
    .select(['id', 'attempt'])
    .where('status', '=', 'processing')
    .where('worker', '=', worker)
    .execute();
}

/** Runs whose files are due, oldest first. A run that still runs keeps them. */
export function selectExpired(db: Db, now: Date, limit: number): Promise<{ id: Uuid }[]> {
  return db
    .selectFrom('runs')
    .select('id')
    .where('files_removed', '=', false)
    .where('expires_at', '<=', now)
    .where('status', 'in', ['done', 'failed'])
    .where(sql<SqlBool>`(unsafe_until is null or unsafe_until <= ${now})`)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}
