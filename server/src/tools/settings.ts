import { editDistance } from '../lib/edit-distance.ts';
import type { FieldErrors } from '../lib/errors.ts';

/** A JSON value, as a JSON setting may hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON Schema (2020-12) fragment. */
export type JsonSchema = { [key: string]: Json };

type Parsed<T> = { value: T } | { problem: string };

/**
 * One setting of a tool: its JSON Schema for everybody who draws or documents a form, and the way from the text of a form
 * field to a value. Form values are text and generic coercion lies (`''` is not 0, `'false'` is not true), so each kind
 * says itself what it reads.
 */
export interface Field<T> {
  readonly schema: JsonSchema;
  readonly required: boolean;
  /** What the setting is when the caller does not send it. */
  readonly fallback: T;
  parse(text: string): Parsed<T>;
}

export type Fields = Record<string, Field<unknown>>;
/** The values a tool's `run` receives: one property a field, typed by the field. */
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

interface Described {
  /** One sentence for the person who fills in the form. */
  describe: string;
}
interface Defaulted<T> extends Described {
  default: T;
}
interface Optional extends Described {
  default?: undefined;
}
interface Required extends Described {
  required: true;
}

function field<T>(
  options: Described & { default?: T | undefined; required?: boolean },
  schema: JsonSchema,
  parse: (text: string) => Parsed<T>,
): Field<T | undefined> {
  const withDefault = options.default === undefined ? {} : { default: options.default as Json };
  return {
    schema: { ...schema, description: options.describe, ...withDefault },
    required: options.required ?? false,
    fallback: options.default,
    parse,
  };
}

interface Range {
  min?: number;
  max?: number;
}

function outside(value: number, { min, max }: Range): string | undefined {
  const below = min !== undefined && value < min;
  const above = max !== undefined && value > max;
  if (!below && !above) return undefined;
  if (min === undefined) return `must be at most ${max}`;
  if (max === undefined) return `must be at least ${min}`;
  return `must be between ${min} and ${max}`;
}

function rangeSchema({ min, max }: Range): JsonSchema {
  return { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
}

/** A whole number: `80`, `-5`. */
export function int(options: Range & Defaulted<number>): Field<number>;
export function int(options: Range & Required): Field<number>;
export function int(options: Range & Optional): Field<number | undefined>;
export function int(
  options: Range & Described & { default?: number | undefined; required?: boolean },
): Field<number | undefined> {
  return field(options, { type: 'integer', ...rangeSchema(options) }, (text) => {
    if (!/^[+-]?\d{1,15}$/.test(text)) return { problem: `must be a whole number, not "${shorten(text)}"` };
    const value = Number(text);
    const problem = outside(value, options);
    return problem === undefined ? { value } : { problem };
  });
}

/** A number with a decimal point: `0.5`, `12`. */
export function num(options: Range & Defaulted<number>): Field<number>;
export function num(options: Range & Required): Field<number>;
export function num(options: Range & Optional): Field<number | undefined>;
export function num(
  options: Range & Described & { default?: number | undefined; required?: boolean },
): Field<number | undefined> {
  return field(options, { type: 'number', ...rangeSchema(options) }, (text) => {
    if (!/^[+-]?(\d{1,15}(\.\d{0,12})?|\.\d{1,12})$/.test(text))
      return { problem: `must be a number, not "${shorten(text)}"` };
    const value = Number(text);
    const problem = outside(value, options);
    return problem === undefined ? { value } : { problem };
  });
}

/** One of a closed list. */
export function choice<const T extends string>(options: { of: readonly T[] } & Defaulted<NoInfer<T>>): Field<T>;
export function choice<const T extends string>(options: { of: readonly T[] } & Required): Field<T>;
export function choice<const T extends string>(options: { of: readonly T[] } & Optional): Field<T | undefined>;
export function choice<const T extends string>(
  options: { of: readonly T[] } & Described & { default?: T | undefined; required?: boolean },
): Field<T | undefined> {
  return field<T>(options, { type: 'string', enum: [...options.of] }, (text) => {
    const value = options.of.find((candidate) => candidate === text);
    return value === undefined ? { problem: `must be one of ${options.of.join(', ')}` } : { value };
  });
}

/** One or more of a closed list, separated by commas: `md5,sha256`. Read in the order sent, each once. */
export function list<const T extends string>(
  options: { of: readonly T[] } & Defaulted<NoInfer<T>>,
): Field<readonly T[]> {
  const words = options.of.join('|');
  const known = new Set<string>(options.of);
  const read = (text: string) => text.split(',').map((word) => word.trim().toLowerCase());
  return {
    schema: {
      type: 'string',
      pattern: `^\\s*(${words})(\\s*,\\s*(${words}))*\\s*$`,
      description: options.describe,
      default: options.default,
      examples: [options.of.slice(0, 2).join(',')],
    },
    required: false,
    fallback: [options.default],
    parse(text) {
      const sent = read(text);
      const unknown = sent.find((word) => !known.has(word));
      if (unknown !== undefined) {
        return { problem: `"${shorten(unknown)}" is not one of ${options.of.join(', ')}` };
      }
      return { value: [...new Set(sent)] as T[] };
    },
  };
}

const flagWords = new Map([
  ['true', true],
  ['1', true],
  ['on', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['off', false],
  ['no', false],
]);

/** Yes or no: `true`, `false`, and what HTML forms and people send for them. */
export function flag(options: Defaulted<boolean>): Field<boolean> {
  return {
    schema: { type: 'boolean', description: options.describe, default: options.default },
    required: false,
    fallback: options.default,
    parse(text) {
      const value = flagWords.get(text.toLowerCase());
      return value === undefined ? { problem: 'must be true or false' } : { value };
    },
  };
}

interface TextRules {
  /** At most this many characters (1000 unless told). */
  max?: number;
  /** At most this many bytes of UTF-8. */
  maxBytes?: number;
  min?: number;
  /** An anchored pattern of linear time; `patternHint` says in words what it wants. */
  pattern?: RegExp;
  patternHint?: string;
  /** A password: shown as one in forms, never returned or logged. */
  secret?: boolean;
}

/** Free text. */
export function text(options: TextRules & Defaulted<string>): Field<string>;
export function text(options: TextRules & Required): Field<string>;
export function text(options: TextRules & Optional): Field<string | undefined>;
export function text(
  options: TextRules & Described & { default?: string | undefined; required?: boolean },
): Field<string | undefined> {
  const max = options.max ?? 1000;
  const schema: JsonSchema = {
    type: 'string',
    maxLength: max,
    ...(options.min === undefined ? {} : { minLength: options.min }),
    ...(options.pattern === undefined ? {} : { pattern: options.pattern.source }),
    ...(options.secret === true ? { format: 'password', writeOnly: true } : {}),
  };
  return field<string>(options, schema, (value) => {
    const length = [...value].length;
    if (length > max) return { problem: `must be at most ${max} characters` };
    if (options.min !== undefined && length < options.min)
      return { problem: `must be at least ${options.min} characters` };
    if (options.maxBytes !== undefined && Buffer.byteLength(value) > options.maxBytes) {
      return { problem: `must be at most ${options.maxBytes} bytes of UTF-8` };
    }
    if (value.includes('\0')) return { problem: 'must not contain a NUL character' };
    if (options.pattern !== undefined && !options.pattern.test(value)) {
      return { problem: options.patternHint ?? 'has a form that is not accepted' };
    }
    return { value };
  });
}

/** The name of a file to be made: one path segment that no shell takes for a switch or a hidden file. */
export function filename(options: Defaulted<string>): Field<string>;
export function filename(options: Optional): Field<string | undefined>;
export function filename(options: Described & { default?: string | undefined }): Field<string | undefined> {
  return text({
    ...options,
    default: options.default as string,
    max: 100,
    // oxlint-disable-next-line no-control-regex -- control characters are what is refused
    pattern: /^[^/\\\x00-\x1f\x7f.\s-][^/\\\x00-\x1f\x7f]*$/,
    patternHint: 'must be a file name, without a slash and not starting with a dot, a dash or a space',
  });
}

/**
 * A moment or a length in seconds. Written as seconds (`90`, `1.5`) or as a clock shows it (`1:30`, `00:01:30.250`); read
 * as seconds.
 */
export function time(options: Defaulted<string>): Field<number>;
export function time(options: Required): Field<number>;
export function time(options: Optional): Field<number | undefined>;
export function time(
  options: Described & { default?: string | undefined; required?: boolean },
): Field<number | undefined> {
  const schema: JsonSchema = { type: 'string', pattern: timePattern.source, maxLength: 16 };
  const written = field<number>({ ...options, default: undefined }, schema, (value) => {
    const seconds = parseTime(value);
    return seconds === undefined ? { problem: 'must be a time such as 90, 1.5 or 00:01:30.250' } : { value: seconds };
  });
  if (options.default === undefined) return written;
  return {
    ...written,
    schema: { ...written.schema, default: options.default },
    fallback: parseTime(options.default),
  };
}

const timePattern = /^(\d{1,6}(\.\d{1,6})?|(\d{1,3}:)?\d{1,3}:[0-5]?\d(\.\d{1,6})?)$/;

/** Seconds of a time as people write it; undefined when it is none. */
function parseTime(value: string): number | undefined {
  if (!timePattern.test(value)) return undefined;
  return value.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0);
}

/** A colour as `#rgb`, `#rrggbb` or `#rrggbbaa`; with `transparent: true` also the word `transparent`. */
export function color(options: { transparent?: boolean } & Defaulted<string>): Field<string> {
  const word = options.transparent === true ? '|transparent' : '';
  const hint =
    options.transparent === true
      ? 'must be a colour such as #3366ff, or transparent'
      : 'must be a colour such as #3366ff';
  return text({
    describe: options.describe,
    default: options.default,
    max: 11,
    pattern: new RegExp(`^(#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|#[0-9a-fA-F]{8}${word})$`),
    patternHint: hint,
  });
}

/**
 * A JSON value in a form field. `check` narrows the parsed value or returns a sentence that says what is wrong;
 * `schema` describes the value for documentation and forms.
 */
export function json<T extends Json>(
  options: Described & { schema: JsonSchema; secret?: boolean; check: (value: Json) => Parsed<T> },
): Field<T | undefined> {
  const schema: JsonSchema = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: options.schema,
    ...(options.secret === true ? { format: 'password', writeOnly: true } : {}),
  };
  return field<T>(options, schema, (value) => {
    let parsed: Json;
    try {
      parsed = JSON.parse(value) as Json;
    } catch {
      return { problem: 'must be valid JSON' };
    }
    return options.check(parsed);
  });
}

/** A stored form, one text a field, as `parseSettings` reads it. */
export function toForm(fields: Readonly<Record<string, string>>): Map<string, string[]> {
  return new Map(Object.entries(fields).map(([name, value]) => [name, [value]]));
}

/**
 * What a run shows of its settings: every value that is in force, structured ones as they were sent, and no passwords.
 */
export function shownSettings<F extends Fields>(
  fields: F,
  values: Values<F>,
  form: ReadonlyMap<string, readonly string[]>,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(fields)) {
    if (schema['writeOnly'] === true) continue;
    const value: unknown = values[name as keyof F];
    const sent = form.get(name)?.find((text) => text !== '');
    const visible = typeof value === 'object' ? sent : value;
    if (visible !== undefined) shown[name] = visible;
  }
  return shown;
}

/** The JSON Schema of a whole form. */
export function formSchema(fields: Fields): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    required: Object.keys(fields).filter((name) => fields[name]?.required),
    additionalProperties: false,
  };
}

/**
 * Reads the form fields of a submission. An empty field counts as not sent, because that is what HTML forms send.
 * Returns the values, or every broken rule by field name; unknown names are refused with the nearest known one.
 */
export function parseSettings<F extends Fields>(
  fields: F,
  form: ReadonlyMap<string, readonly string[]>,
): { values: Values<F> } | { errors: FieldErrors } {
  const errors: FieldErrors = {};
  const values: Record<string, unknown> = {};
  for (const name of form.keys()) {
    if (!Object.hasOwn(fields, name)) errors[name] = [unknownSetting(name, Object.keys(fields))];
  }
  for (const [name, target] of Object.entries(fields)) {
    const sent = form.get(name) ?? [];
    const given = sent.filter((value) => value !== '');
    if (given.length > 1) errors[name] = ['was sent more than once'];
    const value = given[0];
    if (value === undefined) {
      if (target.required) errors[name] = ['is required'];
      values[name] = target.fallback;
      continue;
    }
    const parsed = target.parse(value);
    if ('problem' in parsed) errors[name] = [parsed.problem];
    else values[name] = parsed.value;
  }
  return Object.keys(errors).length > 0 ? { errors } : { values: values as Values<F> };
}

function unknownSetting(name: string, known: readonly string[]): string {
  const nearest = known
    .map((candidate) => ({ candidate, distance: editDistance(name.slice(0, 64), candidate) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  if (nearest === undefined) return 'is not a setting of this tool, which has none';
  if (nearest.distance <= 3) return `is not a setting of this tool; did you mean "${nearest.candidate}"?`;
  return `is not a setting of this tool; it has ${known.join(', ')}`;
}

function shorten(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}
