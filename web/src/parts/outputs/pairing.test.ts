import { describe, expect, test } from 'vitest';
import { pairWithInputs, percentSaved, sayChange } from './pairing.ts';

const named = (...names: string[]) => names.map((filename) => ({ filename }));

describe('which input an output was made of', () => {
  test('by order where there are as many and the names agree', () => {
    expect(pairWithInputs(named('image.webp', 'image-1.webp'), named('image.png', 'image.jpg'))).toEqual([0, 1]);
  });

  test('by name where there are fewer', () => {
    expect(pairWithInputs(named('b.jpg', 'a.jpg'), named('a.png', 'b.png', 'logo.png'))).toEqual([1, 0]);
  });

  test('not where the name could be of several', () => {
    expect(pairWithInputs(named('a.jpg'), named('a.png', 'a.gif'))).toEqual([undefined]);
    expect(pairWithInputs(named('a.jpg', 'a.png'), named('a.gif'))).toEqual([undefined, undefined]);
    expect(pairWithInputs(named('report-merged.pdf'), named('report.pdf', 'cover.pdf'))).toEqual([undefined]);
    expect(pairWithInputs(named('qr-code.png'), [])).toEqual([undefined]);
  });

  test('whatever form the letters are written in', () => {
    expect(pairWithInputs(named('Łódź.webp'.normalize('NFC')), named('Łódź.png'.normalize('NFD')))).toEqual([0]);
  });
});

describe('what was saved', () => {
  test('is never rounded to nothing or everything', () => {
    expect(percentSaved(1000, 250)).toBe(75);
    expect(percentSaved(1000, 999)).toBe(1);
    expect(percentSaved(1000, 1)).toBe(99);
    expect(percentSaved(1000, 1000)).toBe(0);
    expect(percentSaved(0, 10)).toBeUndefined();
  });

  test('in words', () => {
    expect(sayChange(1000, 250)).toBe('75 % smaller');
    expect(sayChange(1000, 1001)).toBe('1 % larger');
    expect(sayChange(1000, 1000)).toBe('same size');
    expect(sayChange(1000, 15_000)).toBe('15 times as large');
  });
});
