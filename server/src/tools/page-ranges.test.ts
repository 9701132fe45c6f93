import { describe, expect, test } from 'vitest';
import { pageRanges, pageRangesProblem, selectPageGroups, selectPages } from './page-ranges.ts';

function pages(text: string, count = 10): number[] {
  return selectPages(text, count, 'a.pdf').map((index) => index + 1);
}

describe('page ranges', () => {
  test.each([
    ['1-3,8', [1, 2, 3, 8]],
    [' 2 , 1 ', [2, 1]],
    ['9-', [9, 10]],
    ['9-z', [9, 10]],
    ['8-LAST', [8, 9, 10]],
    ['-2', [1, 2]],
    ['last', [10]],
    ['r2', [9]],
    ['r2-r1,1', [9, 10, 1]],
    ['3-1', [3, 2, 1]],
    ['odd', [1, 3, 5, 7, 9]],
    ['even', [2, 4, 6, 8, 10]],
    ['5,5', [5, 5]],
  ])('%s', (text, expected) => expect(pages(text)).toEqual(expected));

  test('all is every page', () => expect(pages('all')).toHaveLength(10));

  test.each(['', ',', '0', '1-0', 'x', '1-2-3', '1,,2', '-', '1.5', '١', '99999999', 'r', 'r0', 'odd-3', '1;2'])(
    'refuses "%s" before the run',
    (text) => expect(pageRangesProblem(text)).toBeTypeOf('string'),
  );

  test('refuses a page the file does not have, by name and count', () => {
    expect(() => pages('2-11')).toThrow('There is no page "2-11": a.pdf has 10 pages.');
    expect(() => pages('r11')).toThrow('There is no page "r11"');
    expect(() => pages('even', 1)).toThrow('"even" selects no page: a.pdf has 1 page.');
  });

  test('keeps each range as a group', () => {
    expect(selectPageGroups('1-2, odd', 4, 'a.pdf')).toEqual([
      { text: '1-2', pages: [0, 1] },
      { text: 'odd', pages: [0, 2] },
    ]);
  });

  test('a setting has the default and says what is wrong', () => {
    const field = pageRanges({ describe: 'Pages.', default: 'all' });
    expect(field.schema['default']).toBe('all');
    expect(selectPages(field.fallback, 3, 'a.pdf')).toEqual([0, 1, 2]);
    expect(field.parse('5-z')).toEqual({ value: '5-z' });
    expect(field.parse('a')).toEqual({ problem: '"a" is not a page or a range; use 1-3,8 or 5-last' });
  });
});
