import type { Actions, RunStatus } from '@millrun/sdk';

/**
 * What decides a run's fate. Every change of a run is one of the functions below, applied to its locked row: they are
 * pure, so the model test drives the very code the database does.
 */
export interface Lifecycle {
  status: RunStatus;
  /** The fencing token: only the holder of the latest attempt may settle. */
  attempt: number;
  /** Attempts whose worker was lost. */
  lostAttempts: number;
  /** The worker that executes it, while one does. */
  worker: number | null;
  /** Until then a former worker may still be exiting. */
  unsafeUntil: Date | null;
}

/** A poison file may take a worker with it: after this many lost workers the run fails. */
export const maxLostAttempts = 2;

export function isTerminal(status: RunStatus): boolean {
  return status === 'done' || status === 'failed';
}

/** Whole seconds left in the safety window, rounded up; 0 outside it. */
export function secondsUnsafe(run: Pick<Lifecycle, 'unsafeUntil'>, now: Date): number {
  if (run.unsafeUntil === null) return 0;
  return Math.max(0, Math.ceil((run.unsafeUntil.getTime() - now.getTime()) / 1000));
}

/** What the owner may do just now; `delete` and retry share a rule. */
export function actions(run: Pick<Lifecycle, 'status' | 'unsafeUntil'>, now: Date): Actions {
  if (!isTerminal(run.status)) return { cancel: true, delete: false };
  const left = secondsUnsafe(run, now);
  return left === 0 ? { cancel: false, delete: true } : { cancel: false, delete: false, delete_retry_after_s: left };
}

/** A worker takes the run. Undefined when it has ended meanwhile: the job is stale. */
export function claimed(run: Lifecycle, worker: number): Lifecycle | undefined {
  if (isTerminal(run.status)) return undefined;
  return { ...run, status: 'processing', attempt: run.attempt + 1, worker };
}

/** The holder of the latest attempt ends the run. Undefined when it no longer holds it: its result is thrown away. */
export function settled(run: Lifecycle, attempt: number, status: 'done' | 'failed'): Lifecycle | undefined {
  if (run.status !== 'processing' || run.attempt !== attempt) return undefined;
  return { ...run, status, worker: null };
}

/** The owner ends the run. Undefined when it has ended already. A worker may be at it, so a window starts. */
export function cancelled(run: Lifecycle, windowEnd: Date): Lifecycle | undefined {
  if (isTerminal(run.status)) return undefined;
  const wasQueued = run.status === 'queued';
  return { ...run, status: 'failed', worker: null, unsafeUntil: wasQueued ? null : windowEnd };
}

/**
 * The lease of an attempt is taken away because its worker cannot be heard. The attempt's token dies with it, and a
 * window starts, for the worker may only be slow. Undefined when that attempt is no longer the one that runs.
 */
export function lost(run: Lifecycle, attempt: number, windowEnd: Date): Lifecycle | undefined {
  if (run.status !== 'processing' || run.attempt !== attempt || run.worker === null) return undefined;
  const lostAttempts = run.lostAttempts + 1;
  const status = lostAttempts >= maxLostAttempts ? 'failed' : 'processing';
  return { ...run, status, lostAttempts, attempt: run.attempt + 1, worker: null, unsafeUntil: windowEnd };
}

/** A worker that stops in good order gives an attempt back: it does not count as lost, and nothing of it is running. */
export function givenBack(run: Lifecycle, attempt: number): Lifecycle | undefined {
  if (run.status !== 'processing' || run.attempt !== attempt || run.worker === null) return undefined;
  return { ...run, attempt: run.attempt + 1, worker: null };
}

/** Whether the run may be removed or retried: ended, and nothing of it may still be running. */
export function isSafe(run: Pick<Lifecycle, 'status' | 'unsafeUntil'>, now: Date): boolean {
  return isTerminal(run.status) && secondsUnsafe(run, now) === 0;
}
