import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as lifecycle from './lifecycle.ts';
import type { Lifecycle } from './lifecycle.ts';
import { createWorld, detectMs, leaseMs, windowMs, workerCount, type Rules, type Step } from './lifecycle.model.ts';

const start = Date.UTC(2026, 0, 1);
const at = (seconds: number) => new Date(start + seconds * 1000);

const queued: Lifecycle = { status: 'queued', attempt: 0, lostAttempts: 0, worker: null, unsafeUntil: null };
const processing: Lifecycle = { ...queued, status: 'processing', attempt: 1, worker: 7 };
const done: Lifecycle = { ...processing, status: 'done', worker: null };
const failed: Lifecycle = { ...done, status: 'failed' };

describe('claiming', () => {
  test('starts a queued run under a new token', () => {
    expect(lifecycle.claimed(queued, 7)).toEqual(processing);
  });

  test('starts a run again that was lost or given back', () => {
    const lost = lifecycle.lost(processing, 1, at(30)) as Lifecycle;
    expect(lifecycle.claimed(lost, 8)).toEqual({ ...lost, attempt: 3, worker: 8 });
    const givenBack = lifecycle.givenBack(processing, 1) as Lifecycle;
    expect(lifecycle.claimed(givenBack, 8)).toEqual({ ...processing, attempt: 3, worker: 8 });
  });

  test.each([done, failed])('finds nothing to do on a run that is $status', (run) => {
    expect(lifecycle.claimed(run, 7)).toBeUndefined();
  });
});

describe('settling', () => {
  test.each(['done', 'failed'] as const)('ends a run as %s and leaves no window', (status) => {
    const run = lifecycle.settled(processing, 1, status) as Lifecycle;
    expect(run).toEqual({ ...processing, status, worker: null });
    expect(lifecycle.isSafe(run, at(0))).toBe(true);
  });

  test('keeps the window of an earlier attempt whose worker may still be exiting', () => {
    const lost = lifecycle.lost(processing, 1, at(30)) as Lifecycle;
    const run = lifecycle.settled(lifecycle.claimed(lost, 8) as Lifecycle, 3, 'done') as Lifecycle;
    expect(lifecycle.isSafe(run, at(29.999))).toBe(false);
    expect(lifecycle.isSafe(run, at(30))).toBe(true);
  });

  test.each([queued, done, failed])('is refused for a run that is $status', (run) => {
    expect(lifecycle.settled(run, run.attempt, 'done')).toBeUndefined();
  });

  test('is refused for every attempt but the latest', () => {
    const again = lifecycle.claimed(lifecycle.lost(processing, 1, at(30)) as Lifecycle, 8) as Lifecycle;
    expect([0, 1, 2, 4].map((attempt) => lifecycle.settled(again, attempt, 'done'))).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });
});

describe('cancelling', () => {
  test('ends a queued run that may be deleted at once', () => {
    const run = lifecycle.cancelled(queued, at(30)) as Lifecycle;
    expect(run).toEqual({ ...queued, status: 'failed' });
    expect(lifecycle.actions(run, at(0))).toEqual({ cancel: false, delete: true });
  });

  test('ends a processing run and starts the window', () => {
    const run = lifecycle.cancelled(processing, at(30)) as Lifecycle;
    expect(run).toEqual({ ...processing, status: 'failed', worker: null, unsafeUntil: at(30) });
  });

  test('starts the window also between two attempts', () => {
    const between = lifecycle.givenBack(processing, 1) as Lifecycle;
    expect(lifecycle.cancelled(between, at(30))?.unsafeUntil).toEqual(at(30));
  });

  test.each([done, failed])('is refused for a run that is $status', (run) => {
    expect(lifecycle.cancelled(run, at(30))).toBeUndefined();
  });
});

describe('losing a worker', () => {
  test('puts the run back the first time: its token is dead and a window starts', () => {
    const run = lifecycle.lost(processing, 1, at(30)) as Lifecycle;
    expect(run).toEqual({ ...processing, attempt: 2, lostAttempts: 1, worker: null, unsafeUntil: at(30) });
    expect(lifecycle.settled(run, 1, 'done')).toBeUndefined();
  });

  test('fails the run the second time', () => {
    const again = lifecycle.claimed(lifecycle.lost(processing, 1, at(30)) as Lifecycle, 8) as Lifecycle;
    expect(lifecycle.lost(again, 3, at(60))).toMatchObject({ status: 'failed', lostAttempts: 2, unsafeUntil: at(60) });
  });

  test('does not happen twice to one attempt, nor to a run that nobody executes', () => {
    const run = lifecycle.lost(processing, 1, at(30)) as Lifecycle;
    expect(lifecycle.lost(run, 1, at(30))).toBeUndefined();
    expect(lifecycle.lost(run, run.attempt, at(30))).toBeUndefined();
    for (const other of [queued, done, failed]) expect(lifecycle.lost(other, other.attempt, at(30))).toBeUndefined();
  });
});

describe('giving back', () => {
  test('kills the token, but is no loss and starts no window', () => {
    const run = lifecycle.givenBack(processing, 1) as Lifecycle;
    expect(run).toEqual({ ...processing, attempt: 2, worker: null });
    expect(lifecycle.settled(run, 1, 'done')).toBeUndefined();
  });

  test('is refused when the attempt was taken away meanwhile', () => {
    for (const run of [lifecycle.lost(processing, 1, at(30)) as Lifecycle, queued, done, failed]) {
      expect(lifecycle.givenBack(run, 1)).toBeUndefined();
    }
  });
});

describe('actions', () => {
  test.each([queued, processing])('of a run that is $status: cancel alone', (run) => {
    expect(lifecycle.actions(run, at(0))).toEqual({ cancel: true, delete: false });
  });

  test('of an active run never show the window of a lost attempt', () => {
    expect(lifecycle.actions({ ...processing, unsafeUntil: at(30) }, at(0))).toEqual({ cancel: true, delete: false });
  });

  test.each([done, failed])('of a run that is $status: delete alone', (run) => {
    expect(lifecycle.actions(run, at(0))).toEqual({ cancel: false, delete: true });
  });

  test.each([
    [0, 30],
    [0.001, 30],
    [28.999, 2],
    [29, 1],
    [29.999, 1],
  ])('inside the window after %d s: delete in %d s', (seconds, left) => {
    const run = { ...failed, unsafeUntil: at(30) };
    expect(lifecycle.actions(run, at(seconds))).toEqual({ cancel: false, delete: false, delete_retry_after_s: left });
  });

  test('at the end of the window and after it: delete', () => {
    const run = { ...failed, unsafeUntil: at(30) };
    expect(lifecycle.actions(run, at(30))).toEqual({ cancel: false, delete: true });
    expect(lifecycle.actions(run, at(3000))).toEqual({ cancel: false, delete: true });
  });
});

describe('a run among workers that crash, freeze, lose touch and finish late', () => {
  test('keeps every invariant', () => {
    expect(whatBreaks(lifecycle)).toBeUndefined();
  });

  test.each<[string, Partial<Rules>, RegExp]>([
    [
      'the fencing token',
      { settled: (run, _attempt, status) => lifecycle.settled(run, run.attempt, status) },
      /I6: a former attempt may settle/,
    ],
    [
      'the fencing token when its worker is gone',
      { lost: (run, attempt, end) => withAttempt(lifecycle.lost(run, attempt, end), run.attempt) },
      /I6/,
    ],
    [
      'the fencing token when a slow worker gives it back',
      { givenBack: (run) => lifecycle.givenBack(run, run.attempt) },
      /I6: a worker without the lease/,
    ],
    [
      'the fencing token when the host of a slow worker dies',
      { lost: (run, _attempt, end) => lifecycle.lost(run, run.attempt, end) },
      /I6: a worker without the lease/,
    ],
    [
      'the look at the state before it settles',
      { settled: (run, attempt, status) => (run.attempt === attempt ? { ...run, status, worker: null } : undefined) },
      /I6: a worker without the lease/,
    ],
    [
      'the look at the state before it cancels',
      { cancelled: (run, end) => ({ ...run, status: 'failed', worker: null, unsafeUntil: end }) },
      /I8|I2/,
    ],
    [
      'the window after a lost lease',
      {
        lost(run, attempt, end) {
          const next = lifecycle.lost(run, attempt, end);
          return next === undefined ? undefined : { ...next, unsafeUntil: run.unsafeUntil };
        },
      },
      /I14: something still works/,
    ],
    [
      'the window of a former attempt when it is claimed again',
      {
        claimed(run, worker) {
          const next = lifecycle.claimed(run, worker);
          return next === undefined ? undefined : { ...next, unsafeUntil: null };
        },
      },
      /I14: something still works/,
    ],
    [
      'the window after a cancel',
      { cancelled: (run) => lifecycle.cancelled(run, new Date(0)) },
      /I14: something still works/,
    ],
    [
      'the window of a cancel for a queued run alone',
      { cancelled: (run, end) => withWindow(lifecycle.cancelled(run, end), end) },
      /I8: a run that never started cannot be deleted at once/,
    ],
    [
      'an end of lost attempts',
      { lost: (run, attempt, end) => withStatus(lifecycle.lost(run, attempt, end), 'processing') },
      /lost attempts|poison/,
    ],
    [
      'rounding up the seconds to wait',
      {
        actions(run, now) {
          const told = lifecycle.actions(run, now);
          const left = told.delete_retry_after_s;
          return left === undefined ? told : { ...told, delete_retry_after_s: Math.max(1, left - 1) };
        },
      },
      /I8: waiting delete_retry_after_s is not enough/,
    ],
  ])('fails without %s', (_what, mutation, reason) => {
    expect(whatBreaks({ ...lifecycle, ...mutation })).toMatch(reason);
  });

  test('fails with a window that is shorter than noticing and killing take', () => {
    expect(whatBreaks(lifecycle, windowMs - 1)).toMatch(/I14: something still works/);
  });

  test('fails with a window that does not include the time to notice', () => {
    expect(whatBreaks(lifecycle, windowMs - detectMs)).toMatch(/I14: something still works/);
  });
});

function withAttempt(run: Lifecycle | undefined, attempt: number): Lifecycle | undefined {
  return run === undefined ? undefined : { ...run, attempt };
}

function withWindow(run: Lifecycle | undefined, unsafeUntil: Date): Lifecycle | undefined {
  return run === undefined ? undefined : { ...run, unsafeUntil };
}

function withStatus(run: Lifecycle | undefined, status: Lifecycle['status']): Lifecycle | undefined {
  return run === undefined ? undefined : { ...run, status };
}

/** Tries orders of events; tells the first invariant that one of them breaks, and the shortest such order. */
function whatBreaks(rules: Rules, window?: number): string | undefined {
  const property = fc.property(fc.array(anyStep, { maxLength: 60, size: 'max' }), (events) => {
    const world = createWorld(rules, window);
    for (const event of events) world.step(event);
    world.recover();
  });
  const result = fc.check(property, { numRuns: 50_000 });
  if (!result.failed) return undefined;
  return `${String(result.errorInstance)} (seed ${result.seed}): ${JSON.stringify(result.counterexample)}`;
}

const byWorker = (...kinds: Extract<Step, { worker: number }>['kind'][]): Step[] =>
  kinds.flatMap((kind) => Array.from({ length: workerCount }, (_, worker) => ({ kind, worker })));
const waiting = (...lengths: number[]): Step[] => lengths.map((ms) => ({ kind: 'wait', ms }));

/** A list with repetitions: what starts and ends work comes more often, so that sequences get deep. */
const steps: Step[] = [
  ...byWorker('claim', 'claim', 'publish', 'settle done', 'settle failed'),
  ...byWorker('crash', 'freeze', 'resume', 'lose or restore connection', 'host dies', 'give back'),
  ...(['reap', 'reap', 'cancel', 'delete', 'delete'] as const).map((kind) => ({ kind })),
  ...waiting(1, 400, 999, 1000, detectMs, windowMs - 1, windowMs, leaseMs),
];
const anyStep = fc.constantFrom(...steps);
