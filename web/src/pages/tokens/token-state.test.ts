import { describe, expect, test } from 'vitest';
import type { TokenInfo } from '../../wire.ts';
import { dayOf, expiryOf, isFormer, stateOf } from './token-state.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const token: TokenInfo = {
  id: 'tok_1',
  name: 'ci',
  prefix: 'mr_abc',
  created_at: '2026-11-01T00:00:00Z',
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
};

describe('the state of a token', () => {
  test.each([
    [null, 'active'],
    ['2027-11-21T12:00:00Z', 'active'],
    ['2026-12-05T12:00:00Z', 'expiring'],
    ['2026-11-21T12:00:01Z', 'expiring'],
    ['2026-11-21T12:00:00Z', 'expired'],
  ])('that expires at %s is %s', (expires_at, state) => {
    expect(stateOf({ ...token, expires_at }, now)).toBe(state);
  });

  test('is revoked whatever its expiry', () => {
    const revoked_at = '2026-11-20T00:00:00Z';
    expect(stateOf({ ...token, revoked_at, expires_at: '2026-01-01T00:00:00Z' }, now)).toBe('revoked');
  });
});

test.each([
  [null, null, false],
  ['2026-11-20T00:00:00Z', null, false],
  ['2026-11-10T00:00:00Z', null, true],
  [null, '2026-11-21T00:00:00Z', true],
])('a token that expired at %s and was revoked at %s is a former one: %s', (expires_at, revoked_at, former) => {
  expect(isFormer({ ...token, expires_at, revoked_at }, now)).toBe(former);
});

describe('the expiry of a new token', () => {
  test('is so many days from now, or never', () => {
    expect(expiryOf('30', '', now)).toBe('2026-12-21T12:00:00.000Z');
    expect(expiryOf('never', '', now)).toBeNull();
  });

  test('is the end of a chosen day where the person is', () => {
    const at = new Date(expiryOf('date', '2027-02-28', now) ?? '');
    expect([at.getFullYear(), at.getMonth(), at.getDate(), at.getHours()]).toEqual([2027, 1, 28, 23]);
    expect(dayOf(at.getTime())).toBe('2027-02-28');
  });

  test('is nothing without a day', () => {
    expect(expiryOf('date', '', now)).toBeUndefined();
    expect(expiryOf('date', '2027-13-40', now)).toBeUndefined();
  });
});
