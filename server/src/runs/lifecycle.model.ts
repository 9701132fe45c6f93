import type * as lifecycle from './lifecycle.ts';
import type { Lifecycle } from './lifecycle.ts';

/** The functions under test, so that a test can hand in broken ones. */
export type Rules = Pick<
  typeof lifecycle,
  'actions' | 'cancelled' | 'claimed' | 'givenBack' | 'isSafe' | 'isTerminal' | 'lost' | 'maxLostAttempts' | 'settled'
>;

/** A worker whose run was taken away hears of it within this long … */
export const detectMs = 2000;
/** … and has killed everything that works on it within this long after that. */
export const killMs = 1000;
/** The shortest window that may be configured. */
export const windowMs = detectMs + killMs;
/** A worker that is frozen keeps its connection, so it is only missed when its heartbeat has been silent this long. */
export const leaseMs = 30_000;
export const workerCount = 3;

/** One thing that happens in the world. */
export type Step =
  | { kind: 'wait'; ms: number }
  | { kind: 'claim' | 'publish' | 'settle done' | 'settle failed' | 'host dies' | 'give back'; worker: number }
  | { kind: 'crash' | 'freeze' | 'resume' | 'lose or restore connection'; worker: number }
  | { kind: 'reap' | 'cancel' | 'delete' };

/** Whatever can still write files of one attempt: the tool host and the worker that publishes what it made. */
interface Writer {
  attempt: number;
  worker: number;
  /** Nothing of it runs from this moment on. Infinity while it believes that the attempt is its own. */
  goneAt: number;
  /** Since when it is stopped by SIGSTOP: neither writing nor hearing anything. */
  frozenAt: number | undefined;
  /** It was taken away while it was frozen: no window can wait for that, so it must clean up when it wakes. */
  overslept: boolean;
}

interface ModelWorker {
  number: number;
  writer: Writer | undefined;
  /** Its session lock is held. A crash or a lost connection frees it. */
  connected: boolean;
}

/**
 * One run among several workers, with a virtual clock. The row changes through the rules alone; everything around it
 * (queue, file store, workers, clock) is as hostile as the real one may be. A broken invariant throws:
 *
 * - I1 an accepted run exists until its owner deletes it, and can always be brought to an end
 * - I2 it ends exactly once and never changes after that
 * - I3 outputs are visible iff it is done, and then they are there
 * - I4 one event for the end
 * - I5 after a delete there are no files of it, ever again
 * - I6 one worker at most may settle it: the one that holds the latest attempt
 * - I7 it counts against its day unless it was cancelled before it was ever started
 * - I8 `actions` tells the truth, to the second
 * - I14 nothing works on it any more when it may be deleted
 */
export interface World {
  step(step: Step): void;
  /** Everybody wakes up and looks again: whatever happened, the run must end and leave nothing behind. */
  recover(): void;
}

export function createWorld(rules: Rules, window = windowMs): World {
  let now = Date.UTC(2026, 0, 1);
  let run: Lifecycle | undefined = { status: 'queued', attempt: 0, lostAttempts: 0, worker: null, unsafeUntil: null };
  /** Attempts that have files in the store. */
  const files = new Set<number>();
  let visibleOutput: number | undefined;
  let transitions = 0;
  let events = 0;
  let losses = 0;
  let starts = 0;
  let dailyRuns = 1;
  const writers = new Set<Writer>();
  let nextNumber = 0;
  const newWorker = (): ModelWorker => ({ number: (nextNumber += 1), writer: undefined, connected: true });
  const workers = Array.from({ length: workerCount }, newWorker);

  const at = (time: number) => new Date(time);
  const windowEnd = () => at(now + window);
  const isAlive = (writer: Writer) => writer.frozenAt === undefined && now < writer.goneAt;
  const workerAt = (index: number) => workers[index % workerCount] as ModelWorker;

  /** What the transaction does around each decision. */
  function write(next: Lifecycle): void {
    if (run === undefined) throw new Error('I2: a deleted run has changed');
    if (rules.isTerminal(run.status)) throw new Error(`I2: a run that was ${run.status} has changed`);
    const taken = next.attempt !== run.attempt || next.worker !== run.worker;
    run = next;
    if (rules.isTerminal(next.status)) {
      transitions += 1;
      events += 1;
    }
    if (taken) for (const writer of writers) tell(writer);
  }

  /** A writer that no longer holds the run hears of it, sooner or later. */
  function tell(writer: Writer): void {
    if (holds(writer)) return;
    if (writer.frozenAt === undefined) writer.goneAt = Math.min(writer.goneAt, now + detectMs + killMs);
    else writer.overslept = true;
  }

  function holds(writer: Writer): boolean {
    return run?.status === 'processing' && run.attempt === writer.attempt && run.worker === writer.worker;
  }

  function claim(worker: ModelWorker): void {
    if (run === undefined || rules.isTerminal(run.status) || worker.writer !== undefined || !worker.connected) return;
    if (run.worker !== null) {
      if (!isMissed(run)) return;
      lose(run.attempt, true);
    }
    if (rules.isTerminal(run.status)) return;
    const next = rules.claimed(run, worker.number);
    if (next === undefined) throw new Error('I1: an active run cannot be claimed');
    write(next);
    starts += 1;
    const { attempt } = next;
    worker.writer = { attempt, worker: worker.number, goneAt: Infinity, frozenAt: undefined, overslept: false };
    writers.add(worker.writer);
  }

  /** Whether the worker in the row can no longer be heard. */
  function isMissed({ worker }: Lifecycle): boolean {
    const known = workers.find(({ number }) => number === worker);
    if (known === undefined || !known.connected) return true;
    return known.writer?.frozenAt !== undefined && now - known.writer.frozenAt >= leaseMs;
  }

  /** Takes the lease of an attempt away. */
  function lose(attempt: number, held: boolean): void {
    const next = run === undefined ? undefined : rules.lost(run, attempt, windowEnd());
    checkFence(held, next);
    if (next === undefined) return;
    losses += 1;
    write(next);
  }

  /** What a worker asks for is done if and only if it holds the lease. */
  function checkFence(held: boolean, next: Lifecycle | undefined): void {
    if (next !== undefined && !held) throw new Error('I6: a worker without the lease has changed the run');
    if (next === undefined && held) throw new Error('I6: the holder of the lease is refused');
  }

  function publish({ writer }: ModelWorker): void {
    if (writer === undefined || !isAlive(writer)) return;
    if (run === undefined && !writer.overslept) throw new Error('I5: a file was written after the run was deleted');
    files.add(writer.attempt);
  }

  function settle(worker: ModelWorker, status: 'done' | 'failed'): void {
    const { writer } = worker;
    if (writer === undefined || !isAlive(writer)) return;
    if (status === 'done') publish(worker);
    else files.delete(writer.attempt);
    const next = run === undefined ? undefined : rules.settled(run, writer.attempt, status);
    checkFence(holds(writer), next);
    leave(worker);
    if (next === undefined) return void files.delete(writer.attempt);
    write(next);
    if (status === 'done') visibleOutput = writer.attempt;
  }

  function leave(worker: ModelWorker): void {
    if (worker.writer !== undefined) writers.delete(worker.writer);
    worker.writer = undefined;
  }

  function cancel(): void {
    if (run === undefined) return;
    const promised = rules.actions(run, at(now)).cancel;
    const next = rules.cancelled(run, windowEnd());
    if (promised !== (next !== undefined)) throw new Error('I8: actions.cancel does not tell the truth');
    if (next === undefined) return;
    if (run.status === 'queued') {
      if (starts > 0) throw new Error('I7: a run that was started gives its place in the day back');
      if (!rules.isSafe(next, at(now))) throw new Error('I8: a run that never started cannot be deleted at once');
      dailyRuns -= 1;
    }
    write(next);
  }

  function remove(): void {
    if (run === undefined || !rules.isSafe(run, at(now))) return;
    run = undefined;
    visibleOutput = undefined;
    files.clear();
  }

  /** The sandbox dies with its parent. What was written stays; the janitor removes it when there is no such run. */
  function crash(index: number): void {
    const { writer } = workerAt(index);
    workers[index % workerCount] = newWorker();
    if (writer === undefined) return;
    writer.goneAt = Math.min(writer.goneAt, now + killMs);
    if (run === undefined) files.delete(writer.attempt);
  }

  function resume({ writer }: ModelWorker): void {
    if (writer?.frozenAt === undefined) return;
    writer.frozenAt = undefined;
    if (writer.overslept) writer.goneAt = now + detectMs + killMs;
  }

  function reap(): void {
    if (run !== undefined && run.worker !== null && isMissed(run)) lose(run.attempt, true);
  }

  /** Writers whose time has come are gone; one that oversleeps removes what it wrote, as after any refusal. */
  function endWriters(): void {
    for (const worker of workers) {
      const { writer } = worker;
      if (writer === undefined || writer.frozenAt !== undefined || now < writer.goneAt) continue;
      if (writer.attempt !== visibleOutput) files.delete(writer.attempt);
      leave(worker);
    }
    for (const writer of writers) if (now >= writer.goneAt) writers.delete(writer);
  }

  function check(): void {
    if (transitions > 1 || events !== transitions) throw new Error('I2, I4: not one event for one terminal transition');
    if (run === undefined) return;
    const terminal = rules.isTerminal(run.status);
    if (terminal !== (transitions === 1)) throw new Error('I2: the state and its history disagree');
    if ((run.status === 'done') !== (visibleOutput !== undefined)) throw new Error('I3: outputs are visible iff done');
    if (visibleOutput !== undefined && !files.has(visibleOutput)) throw new Error('I3: a visible output is missing');
    if (run.lostAttempts !== losses) throw new Error('lost attempts are counted wrongly');
    if (run.lostAttempts > rules.maxLostAttempts) throw new Error('a poison file was tried without end');
    if (!terminal && losses >= rules.maxLostAttempts) throw new Error('a run outlived its lost attempts');
    if (run.status === 'queued' && starts > 0) throw new Error('I7: a run that was started is queued');
    if (dailyRuns !== (starts === 0 && terminal ? 0 : 1)) throw new Error('I7: the run is counted wrongly');
    checkLease(run);
    checkActions(run);
  }

  function checkLease(current: Lifecycle): void {
    if ([...writers].filter(holds).length > 1) throw new Error('I6: two workers hold the lease');
    for (let attempt = 0; attempt < current.attempt; attempt++) {
      if (rules.settled(current, attempt, 'done') !== undefined) throw new Error('I6: a former attempt may settle');
    }
    if (!rules.isSafe(current, at(now))) return;
    if ([...writers].some((writer) => isAlive(writer) && !writer.overslept))
      throw new Error('I14: something still works on a run that may be deleted');
  }

  function checkActions(current: Lifecycle): void {
    const told = rules.actions(current, at(now));
    const terminal = rules.isTerminal(current.status);
    if (told.cancel === terminal) throw new Error('I8: actions.cancel does not tell the truth');
    if (told.delete !== rules.isSafe(current, at(now))) throw new Error('I8: actions.delete does not tell the truth');
    const wait = told.delete_retry_after_s;
    if ((wait !== undefined) !== (terminal && !told.delete))
      throw new Error('I8: delete_retry_after_s is out of place');
    if (wait === undefined) return;
    if (!Number.isInteger(wait) || wait < 1)
      throw new Error('I8: delete_retry_after_s is not a number of whole seconds');
    if (!rules.isSafe(current, at(now + wait * 1000)))
      throw new Error('I8: waiting delete_retry_after_s is not enough');
    if (rules.isSafe(current, at(now + (wait - 1) * 1000))) throw new Error('I8: delete_retry_after_s is too long');
  }

  function perform(step: Step): void {
    switch (step.kind) {
      case 'wait':
        now += step.ms;
        return endWriters();
      case 'claim':
        return claim(workerAt(step.worker));
      case 'publish':
        return publish(workerAt(step.worker));
      case 'settle done':
        return settle(workerAt(step.worker), 'done');
      case 'settle failed':
        return settle(workerAt(step.worker), 'failed');
      case 'freeze': {
        const { writer } = workerAt(step.worker);
        if (writer !== undefined) writer.frozenAt ??= now;
        return undefined;
      }
      case 'resume':
        return resume(workerAt(step.worker));
      case 'crash':
        return crash(step.worker);
      case 'lose or restore connection':
        workerAt(step.worker).connected = !workerAt(step.worker).connected;
        return undefined;
      case 'reap':
        return reap();
      case 'host dies':
        return hostDies(workerAt(step.worker));
      case 'give back':
        return giveBack(workerAt(step.worker));
      case 'cancel':
        return cancel();
      case 'delete':
        return remove();
    }
  }

  function hostDies(worker: ModelWorker): void {
    const { writer } = worker;
    if (writer === undefined || !isAlive(writer)) return;
    leave(worker);
    lose(writer.attempt, holds(writer));
    files.delete(writer.attempt);
  }

  function giveBack(worker: ModelWorker): void {
    const { writer } = worker;
    if (writer === undefined || !isAlive(writer)) return;
    leave(worker);
    files.delete(writer.attempt);
    const next = run === undefined ? undefined : rules.givenBack(run, writer.attempt);
    checkFence(holds(writer), next);
    if (next !== undefined) write(next);
  }

  return {
    step(step) {
      perform(step);
      check();
    },
    recover() {
      for (const worker of workers) resume(worker);
      for (const worker of workers) worker.connected = worker.writer === undefined;
      now += leaseMs + detectMs + killMs;
      endWriters();
      for (let round = 0; run !== undefined && !rules.isTerminal(run.status); round++) {
        if (round > rules.maxLostAttempts) throw new Error('I1: the run is never finished');
        workers[0] = newWorker();
        claim(workers[0]);
        settle(workers[0], 'done');
      }
      check();
      now += windowMs;
      endWriters();
      remove();
      if (run !== undefined) throw new Error('I8: a run that ended long ago cannot be deleted');
      if (files.size > 0) throw new Error('I5: files are left of a run that was deleted');
    },
  };
}
