import { expect, test } from 'vitest';
import { headerLines, readable } from './message-text.ts';

test('JSON gets lines, and everything else stays as it is', () => {
  expect(readable('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  for (const body of [
    'ok',
    '',
    '{"id":12345678901234567890}',
    '{ "a": 1.0 }',
    '12345678901234567890',
    '{"a":',
    '<b>{}</b>',
    'null',
    '"{}"',
  ])
    expect(readable(body)).toBe(body);
});

test('headers are one a line', () => {
  expect(headerLines({ host: 'example.com', 'x-a': 'b, c' })).toEqual(['host: example.com', 'x-a: b, c']);
});
