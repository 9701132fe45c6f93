import type { Tool } from '@millrun/sdk';
import { labelOfChoice, labelOfName } from './labels.ts';

export interface Choice {
  value: string;
  label: string;
}

/** How a setting is asked for; read from its JSON Schema alone. */
export type Control =
  | { kind: 'switch' }
  | { kind: 'choice'; choices: readonly Choice[] }
  | {
      kind: 'number';
      integer: boolean;
      min: number | undefined;
      max: number | undefined;
      step: number;
      slider: boolean;
    }
  | { kind: 'color'; alpha: boolean; transparent: boolean }
  | {
      kind: 'text';
      input: 'text' | 'url' | 'email' | 'date' | 'time' | 'datetime-local';
      lines: boolean;
      secret: boolean;
    }
  | { kind: 'json'; secret: boolean }
  /** A text for each file, sent as a JSON list in the order of the files with null for none. */
  | { kind: 'per_file'; secret: boolean };

export interface Setting {
  name: string;
  label: string;
  description: string;
  required: boolean;
  /** What holds when nothing is sent, as the text of a form field; undefined when there is no such value. */
  fallback: string | undefined;
  examples: readonly string[];
  control: Control;
  /** Never shown or returned by the service: kept out of everything that can be copied. */
  secret: boolean;
  rules: TextRules;
}

interface TextRules {
  minLength: number | undefined;
  maxLength: number | undefined;
  pattern: RegExp | undefined;
}

/** Texts of the form by setting; of a setting for each file, the texts by the id of the file. Absent or empty is not set. */
export type FormValues = Readonly<Record<string, string | Readonly<Record<string, string>> | undefined>>;

type Schema = Readonly<Record<string, unknown>>;

/** Longer texts than this get more than one line. */
const longestLine = 200;
/** A slider with more steps than this cannot be set by hand. */
const mostSteps = 1000;

/** The settings of a tool in the order it names them. What a schema does not say is a plain text, which the service judges. */
export function readSettings({ settings }: Pick<Tool, 'settings'>): Setting[] {
  const properties = asSchema(settings['properties']);
  const required = new Set(asTexts(settings['required']));
  return Object.entries(properties).map(([name, value]) => readSetting(name, asSchema(value), required.has(name)));
}

function readSetting(name: string, schema: Schema, required: boolean): Setting {
  const secret = schema['writeOnly'] === true || schema['format'] === 'password';
  const fallback = asText(schema['default']);
  const rules = {
    minLength: asNumber(schema['minLength']),
    maxLength: asNumber(schema['maxLength']),
    pattern: asPattern(schema['pattern']),
  };
  return {
    name,
    label: asText(schema['title']) ?? labelOfName(name),
    description: asText(schema['description']) ?? '',
    required,
    fallback,
    examples: asTexts(schema['examples']),
    control: readControl(schema, { secret, fallback, rules }),
    secret,
    rules,
  };
}

interface Known {
  secret: boolean;
  fallback: string | undefined;
  rules: TextRules;
}

function readControl(schema: Schema, { secret, fallback, rules }: Known): Control {
  const choices = readChoices(schema);
  if (choices.length > 0) return { kind: 'choice', choices };
  const type = asTexts(schema['type']).find((name) => name !== 'null') ?? 'string';
  if (type === 'boolean') return { kind: 'switch' };
  if (type === 'integer' || type === 'number') return readNumber(schema, type === 'integer', fallback);
  if (type === 'array' || type === 'object') return { kind: 'json', secret };
  if (schema['contentMediaType'] === 'application/json')
    return { kind: isPerFile(asSchema(schema['contentSchema'])) ? 'per_file' : 'json', secret };
  const color = readColor(schema, rules.pattern);
  return color ?? readText(schema, secret, rules);
}

/** `enum`, or alternatives that are each one value with a title. */
function readChoices(schema: Schema): Choice[] {
  const listed = asList(schema['enum']).map((value) => ({ value: asText(value), label: undefined }));
  const titled = [...asList(schema['oneOf']), ...asList(schema['anyOf'])].map(asSchema);
  const constants = titled.every((option) => 'const' in option)
    ? titled.map((option) => ({ value: asText(option['const']), label: asText(option['title']) }))
    : [];
  return [...listed, ...constants].flatMap(({ value, label }) =>
    value === undefined ? [] : [{ value, label: label ?? labelOfChoice(value) }],
  );
}

function readNumber(schema: Schema, integer: boolean, fallback: string | undefined): Control {
  const min = asNumber(schema['minimum']) ?? asNumber(schema['exclusiveMinimum']);
  const max = asNumber(schema['maximum']) ?? asNumber(schema['exclusiveMaximum']);
  const range = min === undefined || max === undefined ? undefined : max - min;
  const step = asNumber(schema['multipleOf']) ?? (integer ? 1 : stepFor(range));
  // Without a default there is no place for a slider to stand at.
  const slider = range !== undefined && range > 0 && range / step <= mostSteps && fallback !== undefined;
  return { kind: 'number', integer, min, max, step, slider };
}

function stepFor(range: number | undefined): number {
  if (range === undefined) return 1;
  if (range <= 1) return 0.01;
  return range <= 20 ? 0.1 : 1;
}

/** A pattern that takes `#3366ff` but no other word is a colour, as is `format: color`. */
function readColor(schema: Schema, pattern: RegExp | undefined): Control | undefined {
  const takes = (text: string) => pattern?.test(text) === true;
  const looksLike = takes('#3366ff') && !takes('colour') && !takes('3366ff') && !takes('#33');
  if (schema['format'] !== 'color' && !looksLike) return undefined;
  return { kind: 'color', alpha: takes('#3366ff80'), transparent: takes('transparent') };
}

const inputOfFormat: Readonly<Record<string, 'url' | 'email' | 'date' | 'time'>> = {
  uri: 'url',
  url: 'url',
  email: 'email',
  date: 'date',
  time: 'time',
};

function readText(schema: Schema, secret: boolean, { maxLength, pattern }: TextRules): Control {
  const input = inputOfFormat[asText(schema['format']) ?? ''] ?? 'text';
  const oneLine = pattern !== undefined && !pattern.test('a\nb') && pattern.test('a b');
  const short = (maxLength ?? longestLine) <= longestLine || asList(schema['examples']).length > 0;
  return { kind: 'text', input, secret, lines: !secret && input === 'text' && !short && !oneLine };
}

/** A list of texts with gaps, or the same by name: one text for some of the files. */
function isPerFile(schema: Schema): boolean {
  const options = [schema, ...asList(schema['oneOf']).map(asSchema), ...asList(schema['anyOf']).map(asSchema)];
  const list = options.find((option) => option['type'] === 'array');
  const types = asTexts(asSchema(list?.['items'])['type']);
  return types.includes('string') && types.includes('null');
}

/** What the form starts with: every value that can be seen. Of a text the default is the placeholder, since empty means it. */
export function startValues(settings: readonly Setting[]): FormValues {
  return Object.fromEntries(
    settings.flatMap(({ name, fallback, control }) =>
      fallback === undefined || control.kind === 'text' ? [] : [[name, fallback]],
    ),
  );
}

/** What the form starts with when a run is to be repeated: its settings, as far as the tool has them and they can be seen. */
export function valuesOfRun(settings: readonly Setting[], given: Readonly<Record<string, unknown>>): FormValues {
  const kept = settings.flatMap(({ name, control, fallback, secret }): [string, string][] => {
    const value = given[name];
    if (value === undefined || value === null || secret || control.kind === 'per_file') return [];
    const text = asText(value) ?? JSON.stringify(value);
    return control.kind === 'text' && text === fallback ? [] : [[name, text]];
  });
  return { ...startValues(settings), ...Object.fromEntries(kept) };
}

/**
 * The form fields to send: only what differs from the default, as text.
 *
 * @param fileIds - The files in the order they are sent.
 */
export function fieldsToSend(
  settings: readonly Setting[],
  values: FormValues,
  fileIds: readonly string[],
): [string, string][] {
  return settings.flatMap((setting): [string, string][] => {
    const text = textOf(setting, values[setting.name], fileIds);
    return text === '' || isDefault(setting, text) ? [] : [[setting.name, text]];
  });
}

/** A setting as the text of a form field; empty when it is not set. */
function textOf({ control }: Setting, value: FormValues[string], fileIds: readonly string[]): string {
  if (typeof value === 'string') return control.kind === 'number' ? value.trim() : value;
  if (value === undefined) return '';
  const texts = fileIds.map((id) => value[id] ?? '');
  return texts.some((text) => text !== '') ? JSON.stringify(texts.map((text) => (text === '' ? null : text))) : '';
}

function isDefault({ control, fallback }: Setting, text: string): boolean {
  // A switch that nobody has touched and that has no default is off, which is what not sending it means.
  if (control.kind === 'switch' && fallback === undefined) return text === 'false';
  if (fallback === undefined) return false;
  return control.kind === 'number' ? Number(text) === Number(fallback) : text === fallback;
}

/** What is wrong with the form before anything is sent, by setting, in the words of the service. */
export function problemsOf(settings: readonly Setting[], values: FormValues): Record<string, string[]> {
  const problems: Record<string, string[]> = {};
  for (const setting of settings) {
    const problem = isMissing(setting, values) ? 'is required' : problemOf(setting, values[setting.name] ?? '');
    if (problem !== undefined) problems[setting.name] = [problem];
  }
  return problems;
}

/** Whether it has to be set, and is not yet. */
export function isMissing({ name, required, fallback }: Setting, values: FormValues): boolean {
  const value = values[name] ?? '';
  return (
    required &&
    fallback === undefined &&
    (typeof value === 'string' ? value.trim() === '' : Object.keys(value).length === 0)
  );
}

/** A text that the setting takes, to show how it is sent. */
export function exampleOf({ examples, control }: Setting): string {
  if (examples[0] !== undefined) return examples[0];
  switch (control.kind) {
    case 'choice':
      return control.choices[0]?.value ?? '';
    case 'number':
      return String(control.min ?? 1);
    case 'switch':
      return 'true';
    case 'color':
      return '#3366ff';
    case 'json':
    case 'per_file':
      return '[]';
    case 'text':
      return 'text';
  }
}

function problemOf({ control, rules }: Setting, text: NonNullable<FormValues[string]>): string | undefined {
  if (typeof text === 'object' || text === '') return undefined;
  switch (control.kind) {
    case 'number':
      return numberProblem(text.trim(), control);
    case 'json':
      return isJson(text) ? undefined : 'must be valid JSON';
    case 'color':
    case 'text':
      return textProblem(text, rules, control.kind === 'color');
    case 'switch':
    case 'choice':
    case 'per_file':
      return undefined;
  }
}

function numberProblem(text: string, { integer, min, max }: Extract<Control, { kind: 'number' }>): string | undefined {
  const form = integer ? /^[+-]?\d{1,15}$/ : /^[+-]?(\d{1,15}(\.\d{0,12})?|\.\d{1,12})$/;
  if (!form.test(text)) return integer ? 'must be a whole number' : 'must be a number';
  const value = Number(text);
  if ((min === undefined || value >= min) && (max === undefined || value <= max)) return undefined;
  if (min === undefined) return `must be at most ${max}`;
  return max === undefined ? `must be at least ${min}` : `must be between ${min} and ${max}`;
}

function textProblem(text: string, { minLength, maxLength, pattern }: TextRules, color: boolean): string | undefined {
  const length = [...text].length;
  if (maxLength !== undefined && length > maxLength)
    return `must be at most ${maxLength} characters, and has ${length}`;
  if (minLength !== undefined && length < minLength) return `must be at least ${minLength} characters`;
  if (pattern === undefined || pattern.test(text)) return undefined;
  return color ? 'must be a colour such as #3366ff' : 'has a form that is not accepted';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** One text or a list of them. */
function asTexts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).flatMap((entry) => asText(entry) ?? []);
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A pattern that this browser cannot read is left to the service. */
function asPattern(value: unknown): RegExp | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return new RegExp(value, 'u');
  } catch {
    return tryPlain(value);
  }
}

function tryPlain(source: string): RegExp | undefined {
  try {
    return new RegExp(source);
  } catch {
    return undefined;
  }
}
