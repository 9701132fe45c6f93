import { describe, expect, test } from 'vitest';
import { exampleOf, fieldsToSend, isMissing, problemsOf, readSettings, startValues, valuesOfRun } from './settings.ts';

function settingsOf(properties: Record<string, unknown>, required: string[] = []) {
  return readSettings({ settings: { type: 'object', properties, required, additionalProperties: false } });
}
const controlOf = (schema: Record<string, unknown>) => settingsOf({ x: schema })[0]?.control;
const hexPattern = '^(#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|#[0-9a-fA-F]{8}|transparent)$';
const perFile = {
  type: 'string',
  contentMediaType: 'application/json',
  contentSchema: {
    oneOf: [
      { type: 'array', items: { type: ['string', 'null'] } },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
  },
};

describe('how a setting is asked for', () => {
  test.each([
    ['a flag', { type: 'boolean', default: true }, { kind: 'switch' }],
    [
      'a short range with a default',
      { type: 'integer', minimum: 1, maximum: 100, default: 80 },
      { kind: 'number', integer: true, min: 1, max: 100, step: 1, slider: true },
    ],
    [
      'a range without a default',
      { type: 'integer', minimum: 1, maximum: 100 },
      { kind: 'number', integer: true, min: 1, max: 100, step: 1, slider: false },
    ],
    [
      'a part of one',
      { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
      { kind: 'number', integer: false, min: 0, max: 1, step: 0.01, slider: true },
    ],
    [
      'a wide range',
      { type: 'integer', minimum: 1, maximum: 16384, default: 512 },
      { kind: 'number', integer: true, min: 1, max: 16384, step: 1, slider: false },
    ],
    [
      'a number that may be null',
      { type: ['null', 'number'] },
      { kind: 'number', integer: false, min: undefined, max: undefined, step: 1, slider: false },
    ],
    ['a colour', { type: 'string', pattern: hexPattern }, { kind: 'color', alpha: true, transparent: true }],
    [
      'a colour by its format',
      { type: 'string', format: 'color' },
      { kind: 'color', alpha: false, transparent: false },
    ],
    [
      'a password',
      { type: 'string', format: 'password', writeOnly: true },
      { kind: 'text', input: 'text', lines: false, secret: true },
    ],
    ['a long text', { type: 'string', maxLength: 2000 }, { kind: 'text', input: 'text', lines: true, secret: false }],
    [
      'a long text of one line',
      { type: 'string', maxLength: 2000, pattern: '^[^\\r\\n]*$' },
      { kind: 'text', input: 'text', lines: false, secret: false },
    ],
    ['an address', { type: 'string', format: 'uri' }, { kind: 'text', input: 'url', lines: false, secret: false }],
    ['a text for each file', perFile, { kind: 'per_file', secret: false }],
    ['any other JSON', { ...perFile, contentSchema: { type: 'object' } }, { kind: 'json', secret: false }],
    ['what nobody knows', {}, { kind: 'text', input: 'text', lines: false, secret: false }],
    [
      'a pattern nobody can read',
      { type: 'string', pattern: '(((' },
      { kind: 'text', input: 'text', lines: false, secret: false },
    ],
  ])('%s', (_name, schema, control) => {
    expect(controlOf(schema)).toEqual(control);
  });

  test('choices, named by the schema where it does', () => {
    expect(controlOf({ type: 'string', enum: ['top-left', 'webp'] })).toEqual({
      kind: 'choice',
      choices: [
        { value: 'top-left', label: 'Top left' },
        { value: 'webp', label: 'WebP' },
      ],
    });
    expect(controlOf({ oneOf: [{ const: 1, title: 'One' }, { const: 2 }] })).toEqual({
      kind: 'choice',
      choices: [
        { value: '1', label: 'One' },
        { value: '2', label: '2' },
      ],
    });
  });
});

describe('what is sent', () => {
  const settings = settingsOf(
    {
      quality: { type: 'integer', minimum: 1, maximum: 100, default: 80 },
      keep: { type: 'boolean', default: true },
      format: { type: 'string', enum: ['keep', 'png'], default: 'keep' },
      name: { type: 'string', maxLength: 10, default: 'archive' },
      width: { type: 'integer', minimum: 1 },
      ranges: perFile,
    },
    ['format'],
  );

  test('nothing of what the form starts with', () => {
    expect(startValues(settings)).toEqual({ quality: '80', keep: 'true', format: 'keep' });
    expect(fieldsToSend(settings, startValues(settings), [])).toEqual([]);
  });

  test('only what differs, as text', () => {
    const values = {
      quality: ' 80.0',
      keep: 'false',
      format: 'png',
      name: 'archive',
      width: '0012',
      ranges: { b: '1-2' },
    };
    expect(fieldsToSend(settings, values, ['a', 'b', 'c'])).toEqual([
      ['keep', 'false'],
      ['format', 'png'],
      ['width', '0012'],
      ['ranges', '[null,"1-2",null]'],
    ]);
  });

  test('what a run had, when it is repeated', () => {
    const given = { quality: 60, keep: true, format: 'png', name: 'archive', width: null, ranges: ['1'], gone: 'x' };
    const values = valuesOfRun(settings, given);
    expect(values).toEqual({ quality: '60', keep: 'true', format: 'png' });
    expect(fieldsToSend(settings, values, [])).toEqual([
      ['quality', '60'],
      ['format', 'png'],
    ]);
  });

  test('texts of files that are gone are not sent', () => {
    expect(fieldsToSend(settings, { ranges: { gone: '1' } }, ['a'])).toEqual([]);
  });
});

test('what has to be set is shown by an example until it is', () => {
  const [format] = settingsOf({ format: { type: 'string', enum: ['png', 'jpeg'] } }, ['format']);
  if (format === undefined) throw new Error('no setting');
  expect(isMissing(format, {})).toBe(true);
  expect(isMissing(format, { format: 'jpeg' })).toBe(false);
  expect(isMissing({ ...format, required: false }, {})).toBe(false);
  expect(exampleOf(format)).toBe('png');
});

describe('what is wrong before anything is sent', () => {
  const settings = settingsOf(
    {
      format: { type: 'string', enum: ['a', 'b'] },
      quality: { type: 'integer', minimum: 1, maximum: 100, default: 80 },
      opacity: { type: 'number', minimum: 0, maximum: 1 },
      tint: { type: 'string', pattern: hexPattern, default: '#ffffff' },
      name: { type: 'string', maxLength: 3 },
      list: { type: 'string', contentMediaType: 'application/json', contentSchema: { type: 'array' } },
    },
    ['format'],
  );

  test('nothing', () => {
    expect(
      problemsOf(settings, {
        format: 'a',
        quality: '',
        opacity: '.5',
        tint: 'transparent',
        name: '😀😀😀',
        list: '[1]',
      }),
    ).toEqual({});
  });

  test('everything', () => {
    expect(problemsOf(settings, { quality: '101', opacity: '1e5', tint: 'red', name: 'long', list: '[1' })).toEqual({
      format: ['is required'],
      quality: ['must be between 1 and 100'],
      opacity: ['must be a number'],
      tint: ['must be a colour such as #3366ff'],
      name: ['must be at most 3 characters, and has 4'],
      list: ['must be valid JSON'],
    });
  });
});
