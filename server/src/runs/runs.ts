import type { CancelReply, Run, RunError, RunStatus, Submission, UsageHistory } from '@millrun/sdk';
import type { Plan } from '../accounts/plans.ts';
import type { Db, Tx } from '../db/database.ts';
import { lockClaims, queueNames, within, type Queue } from '../db/queue.ts';
import type { StoredInput, StoredOutput } from '../db/schema.ts';
import type { FileStore } from '../files/store.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError, badRequest, notFound } from '../lib/errors.ts';
import { newUuid, parseId, publicId, type Uuid } from '../lib/ids.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { announceCancel, announceQueued } from './events.ts';
import { rememberReply, type IdempotentRequest } from './idempotency.ts';
import * as lifecycle from './lifecycle.ts';
import type { Links } from './links.ts';
import * as queries from './queries.ts';
import type { Position } from './queries.ts';
import type { RunRow } from './run-row.ts';
import { selectUsage, selectUsageToday, utcDay, type UsageToday } from './usage.ts';
import { viewRun, viewSubmission } from './view.ts';

/** Who asks: an account and what its plan allows. */
export interface Owner {
  accountId: Uuid;
  planName: string;
  plan: Plan;
}

export interface SubmitRequest {
  /** Chosen before the upload: the inputs are stored below it. */
  id: Uuid;
  tool: string;
  /** As the owner is shown them. */
  settings: Record<string, unknown>;
  /** As they were sent. */
  form: Record<string, string>;
  inputs: StoredInput[];
  idempotency?: IdempotentRequest;
}

/** A run in the hands of a worker. */
export interface ClaimedRun {
  id: Uuid;
  attempt: number;
  accountId: Uuid;
  tool: string;
  form: Record<string, string>;
  inputs: StoredInput[];
}

export interface Runs {
  submit(owner: Owner, request: SubmitRequest, links: Links): Promise<Submission>;
  get(owner: Owner, id: string): Promise<RunRow>;
  byId(id: Uuid): Promise<RunRow | undefined>;
  list(owner: Owner, query: ListQuery): Promise<{ rows: RunRow[]; nextCursor: string | null }>;
  cancel(owner: Owner, id: string): Promise<CancelReply>;
  remove(owner: Owner, id: string): Promise<void>;
  retry(owner: Owner, id: string, links: Links): Promise<Submission>;
  view(row: RunRow, links: Links): Run;
  usageToday(owner: Owner): Promise<UsageToday>;
  /** The last days by tool, today (UTC) included. */
  usageHistory(owner: Owner, days: number): Promise<UsageHistory>;

  claim(worker: number, count: number): Promise<ClaimedRun[]>;
  beat(worker: number, held: readonly Uuid[]): Promise<{ id: Uuid; attempt: number }[]>;
  progress(run: ClaimedRun, percent: number): Promise<void>;
  finish(run: ClaimedRun, outputs: StoredOutput[]): Promise<boolean>;
  fail(run: ClaimedRun, error: RunError): Promise<boolean>;
  giveBack(run: ClaimedRun): Promise<void>;
  lose(id: Uuid, attempt: number): Promise<void>;
}

export interface ListQuery {
  limit: number;
  cursor?: string | undefined;
  status?: RunStatus | undefined;
  tool?: string | undefined;
}

interface Parts {
  db: Db;
  queue: Queue;
  store: FileStore;
  webhooks: Webhooks;
  clock: Clock;
  cancelWindowSeconds: number;
  retentionHours: number;
  /** Running at once by plan name, for the queue's groups. */
  concurrency: Readonly<Record<string, number>>;
  /** Addresses for what is told without a request: webhooks. */
  ownLinks: () => Links;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Stands for "no limit" where the queue wants a number. */
const unlimited = 1_000_000;

export function createRuns(parts: Parts): Runs {
  const { db, queue, store, webhooks, clock } = parts;
  const now = () => clock.now();
  const windowEnd = () => new Date(now().getTime() + parts.cancelWindowSeconds * 1000);
  const groupLimits = Object.fromEntries(
    Object.entries(parts.concurrency).map(([name, limit]) => [name, limit || unlimited]),
  );

  async function submit(owner: Owner, request: SubmitRequest, links: Links): Promise<Submission> {
    const createdAt = now();
    const day = utcDay(createdAt);
    const reply = viewSubmission({ id: request.id, tool: request.tool, created_at: createdAt }, links);
    await db.transaction().execute(async (tx) => {
      const place = await queries.insertRun(tx, {
        ...request,
        accountId: owner.accountId,
        day,
        runsPerDay: owner.plan.runsPerDay,
        createdAt,
        expiresAt: parts.retentionHours === 0 ? null : new Date(createdAt.getTime() + parts.retentionHours * 3_600_000),
      });
      if (place === undefined) throw dailyLimitReached(owner, createdAt);
      await queue.send(queueNames.runs, null, {
        id: request.id,
        priority: -place.fairTag,
        group: { id: owner.accountId, tier: owner.planName },
        db: within(tx),
      });
      if (request.idempotency !== undefined) await rememberReply(tx, owner.accountId, request.idempotency, reply);
    });
    return reply;
  }

  async function get(owner: Owner, id: string): Promise<RunRow> {
    const uuid = parseId('run', id);
    const row = uuid === undefined ? undefined : await queries.selectRun(db, owner.accountId, uuid);
    if (row === undefined) throw noSuchRun();
    return row;
  }

  async function list(owner: Owner, query: ListQuery): Promise<{ rows: RunRow[]; nextCursor: string | null }> {
    const before = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const { status, tool, limit } = query;
    const rows = await queries.selectRuns(db, owner.accountId, { status, tool, before, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      rows: page,
      nextCursor:
        rows.length > limit && last !== undefined ? writeCursor({ createdAt: last.created_at, id: last.id }) : null,
    };
  }

  async function cancel(owner: Owner, id: string): Promise<CancelReply> {
    return db.transaction().execute(async (tx) => {
      // A claim locks the job and then the run, a cancel the run and then its job: at once they would wait for each other.
      await lockClaims(tx);
      const row = await lockOwned(tx, owner, id);
      const next = lifecycle.cancelled(toLifecycle(row), windowEnd());
      if (next === undefined) throw conflict('cancel', row, now());
      const error: RunError = { code: 'cancelled', message: 'The run was cancelled.' };
      await end(tx, row, { next, error });
      if (row.status === 'queued') await queries.giveDailyRunBack(tx, row.account_id, row.day);
      else await announceCancel(tx, row.id);
      const state = lifecycle.actions(next, now());
      const wait = state.delete_retry_after_s;
      const message =
        wait === undefined ? 'The run is cancelled.' : `The run is cancelled. It can be deleted in ${wait} s.`;
      return { message, data: { status: next.status, actions: state } };
    });
  }

  /** The record goes first: a crash in between leaves files nobody can reach, which the janitor removes. */
  async function remove(owner: Owner, id: string): Promise<void> {
    const row = await db.transaction().execute(async (tx) => {
      const locked = await lockOwned(tx, owner, id);
      if (!lifecycle.isSafe(toLifecycle(locked), now())) throw conflict('delete', locked, now());
      await tx.deleteFrom('runs').where('id', '=', locked.id).execute();
      return locked;
    });
    await store.removeAll(filesOf(row.id));
  }

  async function retry(owner: Owner, id: string, links: Links): Promise<Submission> {
    const row = await get(owner, id);
    if (!lifecycle.isSafe(toLifecycle(row), now())) throw conflict('retry', row, now());
    if (row.files_removed)
      throw new AppError(410, 'inputs_expired', 'The inputs of this run are no longer kept; submit them again.');
    const copy = newUuid(clock);
    try {
      const inputs = await copyInputs(row, copy);
      return await submit(owner, { id: copy, tool: row.tool, settings: row.settings, form: row.form, inputs }, links);
    } catch (error) {
      await store.removeAll(filesOf(copy));
      throw error;
    }
  }

  async function copyInputs(row: RunRow, copy: Uuid): Promise<StoredInput[]> {
    const inputs: StoredInput[] = [];
    for (const [index, input] of row.inputs.entries()) {
      const key = inputKey(copy, index);
      await store.put(key, await store.read(input.key));
      inputs.push({ ...input, key });
    }
    return inputs;
  }

  async function lockOwned(tx: Tx, owner: Owner, id: string): Promise<RunRow> {
    const uuid = parseId('run', id);
    const row = uuid === undefined ? undefined : await queries.lockRun(tx, uuid, owner.accountId);
    if (row === undefined) throw noSuchRun();
    return row;
  }

  /**
   * Makes a locked run terminal: the deliveries its owner asked for, its job, the row and the usage of the account, all in
   * one transaction.
   */
  async function end(
    tx: Tx,
    row: RunRow,
    result: { next: lifecycle.Lifecycle; outputs?: StoredOutput[]; error?: RunError },
  ): Promise<void> {
    const { next, outputs, error } = result;
    const ended = {
      ...row,
      status: next.status === 'done' ? ('done' as const) : ('failed' as const),
      attempt: next.attempt,
      lost_attempts: next.lostAttempts,
      worker: next.worker,
      unsafe_until: next.unsafeUntil,
      finished_at: now(),
      outputs: outputs ?? null,
      error: error ?? null,
    };
    await queue.deleteJob(queueNames.runs, row.id, { db: within(tx) });
    await webhooks.enqueue(tx, {
      accountId: row.account_id,
      type: ended.status === 'done' ? 'run.completed' : 'run.failed',
      runId: row.id,
      payload: () => viewRun(ended, parts.ownLinks(), ended.finished_at),
    });
    await queries.endRun(tx, ended);
  }

  async function claim(worker: number, count: number): Promise<ClaimedRun[]> {
    return db.transaction().execute(async (tx) => {
      await lockClaims(tx);
      const jobs = await queue.fetch(queueNames.runs, {
        batchSize: count,
        groupConcurrency: { default: unlimited, tiers: groupLimits },
        db: within(tx),
      });
      // All are locked before one is ended: an end waits for the usage of its account, which whoever ends the next run
      // may hold after that run.
      const rows = new Map<Uuid, RunRow | undefined>();
      for (const { id } of jobs) rows.set(id, await queries.lockRun(tx, id));
      const taken: ClaimedRun[] = [];
      for (const [id, row] of rows) {
        const run = await take(tx, id, row, worker);
        if (run !== undefined) taken.push(run);
      }
      return taken;
    });
  }

  async function take(tx: Tx, id: Uuid, row: RunRow | undefined, worker: number): Promise<ClaimedRun | undefined> {
    // A worker stood in the row although the job was free: its heartbeat had stopped, so its attempt counts as lost.
    const before = row === undefined ? undefined : await withoutFormerWorker(tx, row);
    const next = before === undefined ? undefined : lifecycle.claimed(before, worker);
    if (row === undefined || next === undefined) {
      await queue.deleteJob(queueNames.runs, id, { db: within(tx) });
      return undefined;
    }
    await queries.writeRun(tx, id, { ...next, startedAt: row.started_at ?? now() });
    return { id, attempt: next.attempt, accountId: row.account_id, tool: row.tool, form: row.form, inputs: row.inputs };
  }

  async function withoutFormerWorker(tx: Tx, row: RunRow): Promise<lifecycle.Lifecycle | undefined> {
    const current = toLifecycle(row);
    if (row.worker === null) return current;
    const next = lifecycle.lost(current, row.attempt, windowEnd());
    if (next === undefined || !lifecycle.isTerminal(next.status)) return next;
    await end(tx, row, { next, error: workerLost });
    return undefined;
  }

  async function settle(
    run: ClaimedRun,
    status: 'done' | 'failed',
    result: { outputs: StoredOutput[] } | { error: RunError },
  ): Promise<boolean> {
    return db.transaction().execute(async (tx) => {
      const row = await queries.lockRun(tx, run.id);
      // Asked again because the reply to the first commit was lost: only this attempt can have made it done.
      if (row?.status === 'done' && row.attempt === run.attempt) return true;
      const next = row === undefined ? undefined : lifecycle.settled(toLifecycle(row), run.attempt, status);
      if (row === undefined || next === undefined) return false;
      await end(tx, row, { next, ...result });
      return true;
    });
  }

  async function requeue(tx: Tx, id: Uuid, next: lifecycle.Lifecycle): Promise<void> {
    await queries.writeRun(tx, id, next);
    await queue.cancel(queueNames.runs, id, { db: within(tx) });
    await queue.resume(queueNames.runs, id, { db: within(tx) });
    await announceQueued(tx);
  }

  async function lose(id: Uuid, attempt: number): Promise<void> {
    const lost = await db.transaction().execute(async (tx) => {
      const row = await queries.lockRun(tx, id);
      const next = row === undefined ? undefined : lifecycle.lost(toLifecycle(row), attempt, windowEnd());
      if (row === undefined || next === undefined) return false;
      if (lifecycle.isTerminal(next.status)) await end(tx, row, { next, error: workerLost });
      else await requeue(tx, id, next);
      return true;
    });
    // Its worker was killed, perhaps while it published, and can remove nothing any more.
    if (lost) await store.removeAll(outputsOf(id, attempt));
  }

  async function giveBack(run: ClaimedRun): Promise<void> {
    await db.transaction().execute(async (tx) => {
      const row = await queries.lockRun(tx, run.id);
      const next = row === undefined ? undefined : lifecycle.givenBack(toLifecycle(row), run.attempt);
      if (next !== undefined) await requeue(tx, run.id, next);
    });
  }

  return {
    submit,
    get,
    byId: (id) => queries.selectRunById(db, id),
    list,
    cancel,
    remove,
    retry,
    view: (row, links) => viewRun(row, links, now()),
    usageToday: (owner) => selectUsageToday(db, owner.accountId, utcDay(now())),
    async usageHistory(owner, days) {
      const today = now();
      const [from, to] = [utcDay(new Date(today.getTime() - (days - 1) * dayMs)), utcDay(today)];
      return { data: await selectUsage(db, owner.accountId, from, to), from, to };
    },
    claim,
    async beat(worker, held) {
      if (held.length > 0) await queue.touch(queueNames.runs, [...held]);
      return queries.selectHeldAttempts(db, worker);
    },
    progress: (run, percent) => queries.raiseProgress(db, run.id, run.attempt, percent),
    finish: (run, outputs) => settle(run, 'done', { outputs }),
    fail: (run, error) => settle(run, 'failed', { error }),
    giveBack,
    lose,
  };
}

const workerLost: RunError = {
  code: 'worker_lost',
  message: 'The worker that processed this run was lost twice. The files may need more than this machine can give.',
};

/** Everything a run stores lies below this. */
export function filesOf(id: Uuid): string {
  return `runs/${id}`;
}

export function inputKey(id: Uuid, index: number): string {
  return `${filesOf(id)}/in-${index}`;
}

/** Outputs of different attempts never meet. */
export function outputsOf(id: Uuid, attempt: number): string {
  return `${filesOf(id)}/out-${attempt}`;
}

export function outputKey(id: Uuid, attempt: number, index: number): string {
  return `${outputsOf(id, attempt)}/${index}`;
}

function toLifecycle(row: RunRow): lifecycle.Lifecycle {
  return {
    status: row.status,
    attempt: row.attempt,
    lostAttempts: row.lost_attempts,
    worker: row.worker,
    unsafeUntil: row.unsafe_until,
  };
}

function noSuchRun(): AppError {
  return notFound('There is no run with this id.');
}

const conflictReasons = {
  cancel: 'The run has ended; there is nothing to cancel.',
  delete: 'The run is still active; cancel it first.',
  retry: 'The run is still active; wait until it has ended.',
};

/** The specification's 409, with the whole seconds after which the same request is safe. */
function conflict(action: 'cancel' | 'delete' | 'retry', row: RunRow, now: Date): AppError {
  const left = action === 'cancel' ? 0 : lifecycle.secondsUnsafe({ unsafeUntil: row.unsafe_until }, now);
  const inWindow = lifecycle.isTerminal(row.status) && left > 0;
  const message = inWindow
    ? `The run was just cancelled and its worker may still be exiting; try again in ${left} s.`
    : conflictReasons[action];
  return new AppError(409, 'run_lifecycle_conflict', message, {
    headers: inWindow ? { 'Retry-After': String(left) } : {},
    body: { action, status: row.status, retry_after_s: inWindow ? left : 0 },
  });
}

function dailyLimitReached(owner: Owner, now: Date): AppError {
  const seconds = Math.ceil((nextMidnight(now).getTime() - now.getTime()) / 1000);
  return new AppError(
    429,
    'daily_run_limit_reached',
    `The plan's ${owner.plan.runsPerDay} runs of today are used up.`,
    {
      headers: { 'Retry-After': String(seconds) },
    },
  );
}

/** When the UTC day of a moment ends. */
export function nextMidnight(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
}

/** A cursor is the place of the last run of a page, so it cannot expire, and the run may be deleted. */
function writeCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt.getTime()}.${publicId('run', id)}`).toString('base64url');
}

function readCursor(cursor: string): Position {
  const [, time, run] = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const id = parseId('run', run ?? '');
  const position = id === undefined ? undefined : { createdAt: new Date(Number(time)), id };
  if (position === undefined || writeCursor(position) !== cursor)
    throw badRequest('invalid_cursor', 'The cursor cannot be read; use next_cursor of a page as it is.');
  return position;
}
