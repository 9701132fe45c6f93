import type { Actions, Run, RunStatus, StreamMessage } from '@millrun/sdk';

/** A run as the page last saw it. */
export interface SeenRun extends Run {
  /** When the safety window is over at the latest, in milliseconds since 1970; only while the service has told of one. */
  deletable_at?: number;
}

export function isActive(status: RunStatus): boolean {
  return status === 'queued' || status === 'processing';
}

/** Seconds of a reply are counted from its arrival: turns them into a moment, which stays true. */
export function seen(run: Run, now: number): SeenRun {
  return withActions(run, run.actions, now);
}

/** The run with what the service now says it allows. */
export function withActions(run: SeenRun, actions: Actions, now: number): SeenRun {
  const { deletable_at: _, ...rest } = run;
  const seconds = actions.delete_retry_after_s;
  return seconds === undefined ? { ...rest, actions } : { ...rest, actions, deletable_at: now + seconds * 1000 };
}

/**
 * The newer of two views of a run. Replies and the stream overtake each other: a state never goes back, progress never goes
 * down, and the end of the safety window, which is told in rounded seconds, never moves away.
 */
export function newer(known: SeenRun | undefined, fresh: SeenRun): SeenRun {
  if (known === undefined) return fresh;
  if (rank(known.status) > rank(fresh.status)) return known;
  if (known.status === 'processing' && fresh.status === 'processing')
    return { ...fresh, progress: Math.max(known.progress ?? 0, fresh.progress ?? 0) };
  if (known.deletable_at !== undefined && fresh.deletable_at !== undefined)
    return { ...fresh, deletable_at: Math.min(known.deletable_at, fresh.deletable_at) };
  return fresh;
}

function rank(status: RunStatus): number {
  return { queued: 0, processing: 1, done: 2, failed: 2 }[status];
}

/** The run after a message of its stream, which says the state but not what is allowed in it. */
export function afterMessage(run: SeenRun, message: StreamMessage): SeenRun {
  if (rank(run.status) > rank(message.status)) return run;
  const { progress, queue_position: _, ...rest } = run;
  const next: SeenRun = { ...rest, ...message };
  if (message.status === 'processing') next.progress = Math.max(progress ?? 0, message.progress ?? 0);
  if (!isActive(message.status) && isActive(run.status)) next.actions = { cancel: false, delete: false };
  return next;
}

/** Whole seconds until a moment, 0 when it has passed. */
export function secondsUntil(moment: number | undefined, now: number): number {
  return moment === undefined ? 0 : Math.max(0, Math.ceil((moment - now) / 1000));
}

/** Whether the run and its files may be deleted now; the service judges in the end. */
export function mayDelete(run: SeenRun, now: number): boolean {
  if (isActive(run.status)) return false;
  return run.actions.delete || (run.deletable_at !== undefined && run.deletable_at <= now);
}

export interface RunTimes {
  /** Milliseconds, like the others; grows while the run waits. */
  queued: number;
  /** Absent until a worker has taken the run. */
  processing?: number;
  total: number;
}

/** How long each part took so far. A run that ended before a worker took it was only ever queued. */
export function timesOf(run: Run, now: number): RunTimes {
  const created = Date.parse(run.created_at);
  const end = run.finished_at === null ? Math.max(now, created) : Date.parse(run.finished_at);
  const total = end - created;
  if (run.started_at === null) return { queued: total, total };
  const started = Date.parse(run.started_at);
  return { queued: started - created, processing: Math.max(0, end - started), total };
}

export interface RunSizes {
  /** Bytes of all inputs; absent when the tool took none. */
  in?: number;
  /** Bytes of all outputs; absent when there are none, or no longer. */
  out?: number;
}

export function sizesOf({ inputs, outputs = [] }: Run): RunSizes {
  const sum = (files: readonly { size_bytes: number }[]) =>
    files.reduce((total, { size_bytes }) => total + size_bytes, 0);
  return {
    ...(inputs.length > 0 && { in: sum(inputs) }),
    ...(outputs.length > 0 && { out: sum(outputs) }),
  };
}
