import { describe, expect, test } from 'vitest';
import type { UsageHistory, UsageOfDay } from '@millrun/sdk';
import { byTool, chartOf, daysBetween, formatShare, successShare, totalsOf } from './usage-data.ts';

function row(day: string, tool: string, counts: Partial<UsageOfDay> = {}): UsageOfDay {
  return { day, tool, done: 1, failed: 0, cancelled: 0, bytes_in: 0, bytes_out: 0, processing_ms: 0, ...counts };
}

const history: UsageHistory = {
  from: '2026-02-27',
  to: '2026-03-02',
  data: [
    row('2026-02-27', 'merge', { done: 3, failed: 1, cancelled: 2, bytes_in: 10, bytes_out: 5, processing_ms: 100 }),
    row('2026-03-01', 'crop', { done: 2, bytes_in: 7 }),
    row('2026-03-01', 'merge', { done: 1, failed: 1 }),
  ],
};
const name = (slug: string) => slug.toUpperCase();

test('a span has every day, over the end of a month', () => {
  expect(daysBetween('2026-02-27', '2026-03-02')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
  expect(daysBetween('2026-03-02', '2026-03-02')).toEqual(['2026-03-02']);
});

describe('the chart', () => {
  test('by outcome adds the tools of a day, with zeros where nothing ended', () => {
    expect(chartOf(history, 'outcome', name).series).toEqual([
      { key: 'done', label: 'Done', values: [3, 0, 3, 0], total: 6 },
      { key: 'failed', label: 'Failed', values: [1, 0, 1, 0], total: 2 },
      { key: 'cancelled', label: 'Cancelled', values: [2, 0, 0, 0], total: 2 },
    ]);
  });

  test('by tool adds the outcomes, the busiest tool first', () => {
    expect(chartOf(history, 'tool', name).series).toEqual([
      { key: 'tool-0', label: 'MERGE', values: [6, 0, 2, 0], total: 8 },
      { key: 'tool-1', label: 'CROP', values: [0, 0, 2, 0], total: 2 },
    ]);
  });

  test('of bytes shows both directions', () => {
    expect(chartOf(history, 'bytes', name).series.map(({ key, values }) => [key, values])).toEqual([
      ['in', [10, 0, 7, 0]],
      ['out', [5, 0, 0, 0]],
    ]);
  });

  test('puts what is beyond six tools together, but never one alone', () => {
    const tools = (count: number) => ({
      ...history,
      data: Array.from({ length: count }, (_, index) => row('2026-03-01', `t${index}`, { done: 20 - index })),
    });
    expect(chartOf(tools(7), 'tool', name).series.map(({ label }) => label)).toEqual([
      'T0',
      'T1',
      'T2',
      'T3',
      'T4',
      'T5',
      'T6',
    ]);
    const eight = chartOf(tools(8), 'tool', name).series;
    expect(eight.map(({ label }) => label)).toEqual(['T0', 'T1', 'T2', 'T3', 'T4', 'T5', '2 others']);
    expect(eight.at(-1)).toMatchObject({ key: 'others', total: 14 + 13 });
  });
});

test('totals add everything, overall and by tool', () => {
  expect(totalsOf(history.data)).toEqual({ runs: 10, done: 6, failed: 2, bytesIn: 17, bytesOut: 5, processingMs: 100 });
  expect(byTool(history.data).map(({ tool, runs }) => [tool, runs])).toEqual([
    ['merge', 8],
    ['crop', 2],
  ]);
});

test('the success share leaves cancelled runs out, and one failure is never 100 %', () => {
  expect(successShare({ done: 3, failed: 1 })).toBe(0.75);
  expect(successShare({ done: 0, failed: 0 })).toBeUndefined();
  expect(formatShare(undefined)).toBe('–');
  expect(formatShare(1)).toMatch(/^100/);
  expect(formatShare(0.99999)).toMatch(/^99\.9/);
});
