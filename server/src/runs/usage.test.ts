import { expect, test } from 'vitest';
import type { RunError } from '@millrun/sdk';
import { tally, type EndedRun } from './usage.ts';

const file = (size: number) => ({ filename: 'a', size_bytes: size, type: 'png', key: 'k' });
const output = (size: number) => ({ filename: 'a', size_bytes: size, media_type: 'image/png', sha256: '', key: 'k' });
const error = (code: RunError['code']): RunError => ({ code, message: 'Why.' });
const at = (time: string) => new Date(`2026-11-21T${time}Z`);

const done: EndedRun = {
  status: 'done',
  inputs: [file(10), file(20)],
  outputs: [output(5), output(6), output(7)],
  error: null,
  started_at: at('10:00:00.000'),
  finished_at: at('10:00:01.500'),
};

test('a run that is done adds its files and its time', () => {
  expect(tally(done)).toEqual({
    day: '2026-11-21',
    done: 1,
    failed: 0,
    cancelled: 0,
    bytesIn: 30,
    bytesOut: 18,
    processingMs: 1500,
  });
});

test('a run that failed has no outputs, and one that was cancelled is not counted as failed', () => {
  const failed: EndedRun = { ...done, status: 'failed', outputs: null, error: error('timed_out') };
  expect(tally(failed)).toMatchObject({ done: 0, failed: 1, cancelled: 0, bytesIn: 30, bytesOut: 0 });
  const cancelled = { ...failed, error: error('cancelled') };
  expect(tally(cancelled)).toMatchObject({ done: 0, failed: 0, cancelled: 1, processingMs: 1500 });
});

test('a run that never started took no time', () => {
  const cancelled: EndedRun = { ...done, status: 'failed', outputs: null, error: error('cancelled'), started_at: null };
  expect(tally(cancelled)).toMatchObject({ cancelled: 1, processingMs: 0 });
});

test('it counts for the UTC day of its end, and a clock that went back takes nothing away', () => {
  const overnight = { ...done, started_at: at('23:59:59.000'), finished_at: new Date('2026-11-22T00:00:02Z') };
  expect(tally(overnight)).toMatchObject({ day: '2026-11-22', processingMs: 3000 });
  expect(tally({ ...done, started_at: at('10:00:02.000') })).toMatchObject({ processingMs: 0 });
});
