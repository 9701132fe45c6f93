import { describe, expect, test } from 'vitest';
import { createEventParser } from '../src/events.ts';

const stream =
  'retry: 3000\n\n: still here\n\nid: a\ndata: 1\n\nid: b\r\ndata: 2\r\ndata:3\r\n\r\nevent: x\rdata: 4\r\r';
const expected = [
  { data: '1', id: 'a' },
  { data: '2\n3', id: 'b' },
  { data: '4', id: 'b' },
];

describe('createEventParser', () => {
  test('reads events with every line end, cut at any place', () => {
    for (let size = 1; size <= stream.length; size++) {
      const parser = createEventParser();
      const events = [];
      for (let at = 0; at < stream.length; at += size) events.push(...parser.push(stream.slice(at, at + size)));
      // A lone carriage return at the end may be half a line end: what follows tells.
      events.push(...parser.push(': end\n'));
      expect(events, `pieces of ${size}`).toEqual(expected);
      expect(parser.retryMs).toBe(3000);
    }
  });

  test('drops what the end cut off, and passes over fields it does not know', () => {
    const parser = createEventParser();
    expect(parser.push('foo: 1\nid: a\0b\nretry: soon\ndata')).toEqual([]);
    expect(parser.push(': 5\n')).toEqual([]);
    expect(parser.retryMs).toBeUndefined();
    expect(parser.push('\n')).toEqual([{ data: '5', id: '' }]);
  });

  test('refuses a message without an end', () => {
    const parser = createEventParser();
    const chunk = `data: ${'x'.repeat(1_000_000)}\n`;
    expect(() => {
      for (let number = 0; number < 20; number++) parser.push(chunk);
    }).toThrow(RangeError);
  });
});
