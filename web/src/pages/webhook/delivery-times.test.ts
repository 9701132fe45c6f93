import { expect, test } from 'vitest';
import { nextTry, refreshAfter } from './delivery-times.ts';

const now = Date.parse('2026-11-21T10:00:00Z');
const pending = (seconds: number) => ({
  state: 'pending' as const,
  next_attempt_at: new Date(now + seconds * 1000).toISOString(),
});
const delivered = { state: 'delivered' as const, next_attempt_at: null };

test('only what is pending is tried again', () => {
  expect(nextTry(pending(5))).toBe(now + 5000);
  expect(nextTry(delivered)).toBeUndefined();
  expect(nextTry({ state: 'failed', next_attempt_at: null })).toBeUndefined();
});

test('the list is looked at more often while a try is due or under way', () => {
  const idle = refreshAfter([], now);
  expect(refreshAfter([delivered, pending(300)], now)).toBe(idle);
  expect(refreshAfter([delivered, pending(1)], now)).toBeLessThan(idle);
  expect(refreshAfter([pending(-10), delivered], now)).toBeLessThan(idle);
});
