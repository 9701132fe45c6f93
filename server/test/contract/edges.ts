import type { JsonSchema } from '../../src/tools/settings.ts';

/** A value of a setting. */
export interface Choice {
  name: string;
  value: string;
}

/**
 * The edges that a schema tells: both ends of a number, every choice, both flags. Not the default: the runs that are
 * about something else have it.
 */
export function edgesOf(schema: JsonSchema): string[] {
  return valuesOf(schema).filter((value) => value !== String(schema['default']));
}

/** As few rows as there are values of the setting that has most, with one value of each setting in every row. */
export function rowsOf(columns: readonly (readonly Choice[])[]): Choice[][] {
  const length = Math.max(0, ...columns.map((column) => column.length));
  return Array.from({ length }, (_, index) => columns.flatMap((column) => column[index] ?? []));
}

/** Something a schema forbids; undefined when it allows every text. */
export function valueBeyond(schema: JsonSchema): string | undefined {
  if (Array.isArray(schema['enum'])) return 'no-such-choice';
  if (schema['type'] === 'boolean') return 'perhaps';
  const { minimum, maximum } = schema;
  if (typeof maximum === 'number') return String(maximum + 1);
  if (typeof minimum === 'number') return String(minimum - 1);
  if (schema['type'] === 'integer' || schema['type'] === 'number') return 'many';
  const longest = schema['maxLength'];
  return typeof longest === 'number' && longest <= 10_000 ? 'x'.repeat(longest + 1) : undefined;
}

function valuesOf(schema: JsonSchema): string[] {
  if (Array.isArray(schema['enum'])) return schema['enum'].map(String);
  if (schema['type'] === 'boolean') return ['true', 'false'];
  return [schema['minimum'], schema['maximum']].filter((edge) => edge !== undefined).map(String);
}
