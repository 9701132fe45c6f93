import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Pool } from 'pg';
import { createLimits } from './limits.ts';
import { defaultPlans } from './plans.ts';

const pro = defaultPlans['pro']!;
const noPool = undefined as unknown as Pool;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('after the seconds it was told to wait an account has its whole minute again, and not before', async () => {
  const limits = createLimits({ pool: noPool, shared: false });
  const request = () => limits.countRequest('an-account', 'pro', pro);
  for (let count = 0; count < 60; count++) expect(await request()).toMatchObject({ allowed: true });
  await vi.advanceTimersByTimeAsync(20_000);
  const refused = await request();
  expect(refused).toMatchObject({ allowed: false, remaining: 0, resetMs: 40_000 });

  await vi.advanceTimersByTimeAsync(39_999);
  expect(await request()).toMatchObject({ allowed: false });
  await vi.advanceTimersByTimeAsync(1);
  expect(await request()).toMatchObject({ allowed: true, remaining: 59, resetMs: 60_000 });
});

test('asking while it is refused does not make an account wait longer', async () => {
  const limits = createLimits({ pool: noPool, shared: false });
  for (let count = 0; count < 60; count++) await limits.countRequest('an-account', 'pro', pro);
  for (let second = 0; second < 60; second++) {
    expect(await limits.countRequest('an-account', 'pro', pro)).toMatchObject({ allowed: false });
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(await limits.countRequest('an-account', 'pro', pro)).toMatchObject({ allowed: true });
});

test('where an account stands can be looked at without counting', async () => {
  const limits = createLimits({ pool: noPool, shared: false });
  const standing = () => limits.standing('an-account', 'pro', pro);
  expect(await standing()).toEqual({ allowed: true, limit: 60, remaining: 60, resetMs: 0 });
  for (let count = 0; count < 3; count++) await limits.countRequest('an-account', 'pro', pro);
  await vi.advanceTimersByTimeAsync(10_000);
  for (let look = 0; look < 100; look++)
    expect(await standing()).toEqual({ allowed: true, limit: 60, remaining: 57, resetMs: 50_000 });
  expect(await limits.standing('another', 'pro', pro)).toMatchObject({ remaining: 60 });

  for (let count = 0; count < 70; count++) await limits.countRequest('an-account', 'pro', pro);
  expect(await standing()).toMatchObject({ allowed: false, remaining: 0 });
  await vi.advanceTimersByTimeAsync(50_000);
  expect(await standing()).toMatchObject({ allowed: true, remaining: 60 });
});

test('a plan without a limit has nowhere to stand', async () => {
  const limits = createLimits({ pool: noPool, shared: false });
  const unlimited = defaultPlans['unlimited']!;
  await limits.countRequest('an-account', 'unlimited', unlimited);
  expect(await limits.standing('an-account', 'unlimited', unlimited)).toBeUndefined();
});

test('a stranger may come again after a minute', async () => {
  const limits = createLimits({ pool: noPool, shared: false });
  let knocks = 0;
  while ((await limits.countStranger('203.0.113.7')).allowed) knocks += 1;
  expect(knocks).toBe(30);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await limits.countStranger('203.0.113.7')).toMatchObject({ allowed: true });
});
