import { expect, test } from 'vitest';
import { splitName } from './split-name.ts';

test('a short name stays whole', () => {
  expect(splitName('photo.jpg')).toEqual(['photo.jpg', '']);
  expect(splitName('')).toEqual(['', '']);
});

test('a long name keeps its end', () => {
  const name = 'report of the year that nobody will read-v2-signed.pdf';
  const [head, tail] = splitName(name);
  expect(head + tail).toBe(name);
  expect(tail).toBe('2-signed.pdf');
});

test('no character is cut in two', () => {
  const family = '👨‍👩‍👧‍👦';
  const [head, tail] = splitName(family.repeat(40));
  expect(tail).toBe(family.repeat(12));
  expect(head).toBe(family.repeat(28));
  const accented = 'e\u0301';
  expect(splitName(accented.repeat(40))[1]).toBe(accented.repeat(12));
  expect(splitName(accented.repeat(20))).toEqual([accented.repeat(20), '']);
});
