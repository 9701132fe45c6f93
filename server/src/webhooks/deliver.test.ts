import { expect, test } from 'vitest';
import type { StoredAttempt } from '../db/schema.ts';
import { withAttempt } from './deliver.ts';

function attempt(number: number, parts: { sent: boolean; answered: boolean }): StoredAttempt {
  return {
    at: `2026-11-21T10:00:${String(number).padStart(2, '0')}.000Z`,
    duration_ms: number,
    ...(parts.sent ? { request: { url: `https://example.com/${number}`, headers: {} } } : {}),
    ...(parts.answered ? { status: 500, response: { headers: {}, body: `reply ${number}`, truncated: false } } : {}),
  };
}

test('every attempt stays, replies of the latest ten, and the last request', () => {
  let attempts: StoredAttempt[] = [];
  for (let number = 0; number < 25; number++)
    attempts = withAttempt(attempts, attempt(number, { sent: true, answered: true }));
  expect(attempts.map(({ duration_ms }) => duration_ms)).toEqual(Array.from({ length: 25 }, (_, number) => number));
  expect(attempts.map(({ response }) => response?.body)).toEqual([
    ...Array.from({ length: 15 }, () => undefined),
    ...Array.from({ length: 10 }, (_, number) => `reply ${number + 15}`),
  ]);
  expect(attempts.flatMap(({ request }) => (request === undefined ? [] : [request.url]))).toEqual([
    'https://example.com/24',
  ]);
});

test('the request stays while later attempts come to none', () => {
  const first = attempt(1, { sent: true, answered: false });
  const refused = attempt(2, { sent: false, answered: false });
  expect(withAttempt(withAttempt([], first), refused)).toEqual([first, refused]);
});
