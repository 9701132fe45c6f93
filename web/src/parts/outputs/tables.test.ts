import { describe, expect, test } from 'vitest';
import { guessDelimiter, readDelimited, readJsonRows } from './tables.ts';

describe('the beginning of a CSV', () => {
  test('with quotes, line breaks within them, and empty cells', () => {
    const text = '\uFEFFid,note\r\n1,"says ""hi"",\nand more"\r\n2,\r\n\r\n3,last';
    expect(readDelimited(text, ',', true)).toEqual({
      columns: ['id', 'note'],
      rows: [
        ['1', 'says "hi",\nand more'],
        ['2', ''],
        ['3', 'last'],
      ],
      more: false,
    });
  });

  test('leaves out a row that may be cut', () => {
    expect(readDelimited('a;b\n1;2\n3;4567', ';', false)).toEqual({
      columns: ['a', 'b'],
      rows: [['1', '2']],
      more: true,
    });
    expect(readDelimited('a,b\n"never closed', ',', false).rows).toEqual([]);
  });

  test('shows a hundred rows and fifty columns', () => {
    const wide = Array.from({ length: 60 }, (_, index) => `c${index}`).join(',');
    const head = readDelimited(`${wide}\n${'1,2\n'.repeat(150)}`, ',', true);
    expect(head.columns).toHaveLength(50);
    expect(head.rows).toHaveLength(100);
    expect(head.more).toBe(true);
    expect(readDelimited(`a\n${'1\n'.repeat(100)}`, ',', true).more).toBe(false);
  });

  test('keeps a delimiter at the very end, and survives nothing at all', () => {
    expect(readDelimited('a,b\n1,', ',', true).rows).toEqual([['1', '']]);
    expect(readDelimited('', ',', true)).toEqual({ columns: [], rows: [], more: false });
  });

  test('guesses the delimiter outside quotes', () => {
    expect(guessDelimiter('"a,b,c";d\n')).toBe(';');
    expect(guessDelimiter('a\tb\tc')).toBe('\t');
    expect(guessDelimiter('alone')).toBe(',');
  });
});

describe('the beginning of a JSON table', () => {
  test('of records, with the columns of all', () => {
    expect(readJsonRows('[{"a":1,"b":null},{"b":[1],"c":"x"}]')).toEqual({
      columns: ['a', 'b', 'c'],
      rows: [
        ['1', '', ''],
        ['', '[1]', 'x'],
      ],
      more: false,
    });
  });

  test('that is cut off anywhere', () => {
    const text = '[\n  {"a": "x, ] } \\" y"},\n  {"a": {"b": [2]}},\n  {"a": 3}\n]';
    for (let length = 1; length < text.length; length++) {
      const head = readJsonRows(text.slice(0, length));
      expect(head?.more ?? true).toBe(true);
      expect(head?.rows.length ?? 0).toBeLessThanOrEqual(2);
    }
    expect(readJsonRows(text)?.rows).toEqual([['x, ] } " y'], ['{"b":[2]}'], ['3']]);
  });

  test('of rows, and of lines', () => {
    expect(readJsonRows('[[1,"a"],[2]]')).toEqual({ columns: [], rows: [['1', 'a'], ['2']], more: false });
    expect(readJsonRows('{"a":1}\n{"a":2}\n{"a":')).toEqual({ columns: ['a'], rows: [['1'], ['2']], more: true });
  });

  test('not of anything else', () => {
    for (const text of ['', '[]', '{"a":1}', '[1,2]', 'no json', '{\n  "a": 1\n}', '[{"a":1},2]'])
      expect(readJsonRows(text)).toBeUndefined();
  });

  test('keeps to the columns a record itself has', () => {
    expect(readJsonRows('[{"a":1},{"__proto__":{"a":5},"b":2}]')?.rows[1]?.[0]).toBe('');
  });
});
