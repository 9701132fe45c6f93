import type { RunStatus } from '@millrun/sdk';
import { describe, expect, test } from 'vitest';
import type { SeenRun } from '../../parts/run-state.ts';
import { holdPlaces, toFollow } from './rows.ts';

function run(id: string, status: RunStatus = 'done'): SeenRun {
  return {
    id,
    status,
    tool: 'pdf-merger',
    status_url: '',
    stream_url: '',
    actions: { cancel: false, delete: true },
    settings: {},
    inputs: [],
    created_at: '',
    started_at: null,
    finished_at: null,
    expires_at: null,
  };
}

describe('the runs to follow', () => {
  test('are no more than the browser has connections for', () => {
    const runs = Array.from({ length: 20 }, (_, index) => run(`run_${index}`, 'queued'));
    expect(toFollow(runs, new Set())).toHaveLength(3);
  });

  test('are those that go on, on the screen first, and processing before queued', () => {
    const runs = [run('a', 'queued'), run('b'), run('c', 'processing'), run('d', 'queued'), run('e', 'processing')];
    expect(toFollow(runs, new Set(['d', 'e']))).toEqual(['e', 'd', 'c']);
  });
});

describe('rows that are held', () => {
  test('change but do not move', () => {
    const { rows, waiting } = holdPlaces(
      [run('b', 'processing'), run('a')],
      [run('d'), run('c'), run('b', 'failed'), run('a')],
    );
    expect(rows.map(({ id, status }) => `${id} ${status}`)).toEqual(['b failed', 'a done']);
    expect(waiting).toBe(2);
  });

  test('stay when new runs have pushed them off the page', () => {
    expect(holdPlaces([run('b'), run('a')], [run('c'), run('b')]).rows.map(({ id }) => id)).toEqual(['b', 'a']);
  });
});
