import type { Run, RunStatus } from '@millrun/sdk';
import { describe, expect, test } from 'vitest';
import { afterMessage, mayDelete, newer, secondsUntil, seen, sizesOf, timesOf, withActions } from './run-state.ts';

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000).toISOString();
const now = Date.parse(at(60));

function run(status: RunStatus, more: Partial<Run> = {}): Run {
  return {
    id: 'run_1',
    status,
    tool: 'image-compressor',
    status_url: '',
    stream_url: '',
    actions: { cancel: status === 'queued' || status === 'processing', delete: status === 'done' },
    settings: {},
    inputs: [],
    created_at: at(0),
    started_at: null,
    finished_at: null,
    expires_at: null,
    ...more,
  };
}

describe('the safety window', () => {
  const cancelled = seen(run('failed', { actions: { cancel: false, delete: false, delete_retry_after_s: 30 } }), now);

  test('is counted from the arrival of the reply, in whole seconds', () => {
    expect(secondsUntil(cancelled.deletable_at, now)).toBe(30);
    expect(secondsUntil(cancelled.deletable_at, now + 1)).toBe(30);
    expect(secondsUntil(cancelled.deletable_at, now + 29_001)).toBe(1);
    expect(secondsUntil(cancelled.deletable_at, now + 30_000)).toBe(0);
    expect(secondsUntil(cancelled.deletable_at, now + 90_000)).toBe(0);
    expect(secondsUntil(undefined, now)).toBe(0);
  });

  test('opens delete when it is over, not before', () => {
    expect(mayDelete(cancelled, now + 29_999)).toBe(false);
    expect(mayDelete(cancelled, now + 30_000)).toBe(true);
  });

  test('never gets longer by the rounding of a later reply', () => {
    const later = seen(
      run('failed', { actions: { cancel: false, delete: false, delete_retry_after_s: 26 } }),
      now + 4500,
    );
    expect(newer(cancelled, later).deletable_at).toBe(now + 30_000);
  });

  test('is forgotten when the service no longer tells of it', () => {
    const open = withActions(cancelled, { cancel: false, delete: true }, now);
    expect(open.deletable_at).toBeUndefined();
    expect(mayDelete(open, now)).toBe(true);
  });

  test('does not matter to a run that is still going', () => {
    expect(mayDelete(seen(run('processing', { actions: { cancel: true, delete: true } }), now), now)).toBe(false);
  });
});

describe('views of a run that overtake each other', () => {
  test('do not take an end back', () => {
    const done = seen(run('done'), now);
    expect(newer(done, seen(run('processing', { progress: 40 }), now))).toBe(done);
    expect(afterMessage(done, { status: 'processing', progress: 40 })).toBe(done);
  });

  test('do not put a run back into the queue', () => {
    const processing = seen(run('processing', { progress: 3 }), now);
    expect(newer(processing, seen(run('queued'), now)).status).toBe('processing');
  });

  test('keep the furthest progress', () => {
    const processing = seen(run('processing', { progress: 55 }), now);
    expect(newer(processing, seen(run('processing', { progress: 40 }), now)).progress).toBe(55);
    expect(afterMessage(processing, { status: 'processing', progress: 40 }).progress).toBe(55);
    expect(afterMessage(processing, { status: 'processing', progress: 60 }).progress).toBe(60);
  });
});

describe('a message of the stream', () => {
  test('takes away what belonged to the state before', () => {
    const queued = seen(run('queued', { queue_position: 4 }), now);
    const processing = afterMessage(queued, { status: 'processing', progress: 0 });
    expect(processing).not.toHaveProperty('queue_position');
    const failed = afterMessage(processing, { status: 'failed', error: { code: 'internal', message: 'No.' } });
    expect(failed).not.toHaveProperty('progress');
    expect(failed.error?.message).toBe('No.');
  });

  test('allows nothing at the end until the service has said what', () => {
    const processing = seen(run('processing'), now);
    expect(afterMessage(processing, { status: 'done', outputs: [] }).actions).toEqual({ cancel: false, delete: false });
    const told = seen(run('done'), now);
    expect(afterMessage(told, { status: 'done', outputs: [] }).actions).toEqual(told.actions);
  });
});

describe('times', () => {
  test('of a finished run are its own', () => {
    const done = run('done', { started_at: at(2), finished_at: at(5) });
    expect(timesOf(done, now)).toEqual({ queued: 2000, processing: 3000, total: 5000 });
  });

  test('of a run that goes on grow', () => {
    expect(timesOf(run('processing', { started_at: at(2) }), now)).toEqual({
      queued: 2000,
      processing: 58_000,
      total: 60_000,
    });
    expect(timesOf(run('queued'), now)).toEqual({ queued: 60_000, total: 60_000 });
  });

  test('of a run that was cancelled in the queue are those of waiting', () => {
    expect(timesOf(run('failed', { finished_at: at(7) }), now)).toEqual({ queued: 7000, total: 7000 });
  });

  test('are never negative when the clocks of page and service differ', () => {
    expect(timesOf(run('queued'), Date.parse(at(-30)))).toEqual({ queued: 0, total: 0 });
    expect(timesOf(run('processing', { started_at: at(2) }), Date.parse(at(1))).processing).toBe(0);
  });
});

test('sizes are those of all files, and absent where there are none', () => {
  expect(sizesOf(run('queued'))).toEqual({});
  const file = (size_bytes: number) => ({ filename: 'a', size_bytes, url: '', media_type: '', sha256: '' });
  expect(sizesOf(run('done', { inputs: [file(1), file(2)], outputs: [file(4)] }))).toEqual({ in: 3, out: 4 });
});
