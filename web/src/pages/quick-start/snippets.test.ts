import { expect, test } from 'vitest';
import { languages } from '../tool/code-samples.ts';
import { writeSnippets } from './snippets.ts';

const base = 'https://files.example.org/api/v2';
const steps = Object.entries(writeSnippets(base));

test('every step is written in every language, for this server', () => {
  for (const [step, codes] of steps) {
    expect(Object.keys(codes), step).toEqual(languages.map(({ id }) => id));
    for (const code of Object.values(codes)) expect(code.trim(), step).toBe(code);
  }
  expect(steps.filter(([, codes]) => codes.curl.includes(base)).map(([step]) => step)).toEqual(
    steps.map(([step]) => step).filter((step) => step !== 'verify'),
  );
});

test('no line is so long that it has to be scrolled for on a laptop', () => {
  for (const [step, codes] of steps)
    for (const line of Object.values(codes).flatMap((code) => code.split('\n')))
      expect(line.length, `${step}: ${line}`).toBeLessThanOrEqual(80);
});

test('no code has a token or a secret in it', () => {
  for (const codes of steps.map(([, each]) => Object.values(each).join('\n')))
    expect(codes).not.toMatch(/mr_[0-9A-Za-z]|whsec_[0-9A-Za-z]/);
});
