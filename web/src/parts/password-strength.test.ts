import { expect, test } from 'vitest';
import { judgePassword, passwordProblem } from './password-strength.ts';

const email = 'ada@example.com';

test.each([
  ['', 'Enter a password.'],
  ['ninechars', 'Use at least 10 characters.'],
  ['x'.repeat(129), 'Use at most 128 characters.'],
  ['Ada@Example.com', 'Use something else than the e-mail address.'],
  ['abcabcabcabc', 'Use at least 4 different characters.'],
  ['lemon tractor', undefined],
])('what the service says to %j is known before: %s', (password, problem) => {
  expect(passwordProblem(password, email)).toBe(problem);
});

test.each([
  ['short', 0],
  ['abcabcabcabc', 0],
  ['my-Passw0rd-is', 1],
  ['i am ada!!', 1],
  ['abcdeabcde', 1],
  ['k3Lm9xQ2vT', 2],
  ['lemon tractor sky nine', 3],
])('%j has strength %i', (password, level) => {
  expect(judgePassword(password, email).level).toBe(level);
});
