import { expect, test } from 'vitest';
import { findDrawings, identity } from './content.ts';

const find = (text: string) => findDrawings(Buffer.from(text, 'latin1'), identity);

test('follows the transformation through saved states', () => {
  expect(find('q 2 0 0 2 0 0 cm q 100 0 0 50 10 10 cm /A Do Q /B Do Q /C Do')).toEqual([
    { name: 'A', matrix: [200, 0, 0, 100, 20, 20] },
    { name: 'B', matrix: [2, 0, 0, 2, 0, 0] },
    { name: 'C', matrix: identity },
  ]);
});

test('steps over strings, comments and inline images', () => {
  const content = String.raw`(/X Do \) (/Y Do) ) Tj % /Z Do` + '\nBI /W 1 ID \x00(/V Do\xff EI /A Do';
  expect(find(content).map(({ name }) => name)).toEqual(['A']);
});

test('unclosed brackets cost one pass, not a square of them', () => {
  const started = performance.now();
  expect(find('('.repeat(2_000_000))).toEqual([]);
  expect(find('< '.repeat(1_000_000))).toEqual([]);
  expect(performance.now() - started).toBeLessThan(2000);
});
