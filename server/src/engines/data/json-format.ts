import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import {
  type Converter,
  type JsonNode,
  type JsonStyle,
  jsonFailure,
  jsonPieces,
  parseJson,
  treeOf,
} from './json-tree.ts';
import { JsonSyntaxError } from './json-scanner.ts';
import { type DataSource, readText, writeText } from './source.ts';

export const json5: Engine = {
  id: 'json5',
  name: 'JSON5',
  license: 'MIT',
  version: () => packageVersion('json5'),
};

const maxMegabytes = 100;

/**
 * Writes a JSON or JSON5 file as JSON. Strict JSON keeps every number, text and repeated key as it was written.
 *
 * @throws Failure `invalid_input` with line and column; for JSON5 also for Infinity and NaN, which JSON has no number for.
 */
export async function formatJson(source: DataSource, target: string, style: JsonStyle): Promise<void> {
  const text = await readText(source, maxMegabytes);
  const { default: json5Library } = await import('json5');
  const convert: Converter = (token) => toStrict(token, json5Library.parse);
  function* pieces(): Generator<string> {
    yield* jsonPieces(parseEither(source, text, convert), style);
    yield '\n';
  }
  await writeText(target, pieces(), source.signal);
}

/** Strict JSON first: what is both must not pass through conversions. */
function parseEither(source: DataSource, text: string, convert: Converter): JsonNode {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw jsonFailure(source, text, error);
    return treeOf(source, text, 'json5', convert);
  }
}

/** One JSON5 scalar as JSON. Decimal numbers keep their digits. */
function toStrict(
  { kind, text, at }: Parameters<Converter>[0],
  parse: (text: string) => unknown,
): ReturnType<Converter> {
  if (kind === 'string') return { kind, text: JSON.stringify(parseText(text, at, parse)), at };
  if (kind === 'word' && /^(true|false|null)$/.test(text)) return { kind, text, at };
  if (kind === 'number' && /^[+-]?0x/i.test(text)) return { kind, text: hexadecimal(text), at };
  if (kind === 'number' && /\d/.test(text)) return { kind, text: decimal(text), at };
  throw new JsonSyntaxError(`${text} has no place in JSON`, at);
}

function parseText(text: string, at: number, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    throw new JsonSyntaxError('a text has a wrong escape in it', at);
  }
}

function hexadecimal(text: string): string {
  const digits = BigInt(text.replace(/^[+-]/, '')).toString();
  return text.startsWith('-') ? `-${digits}` : digits;
}

/** `+1`, `.5` and `5.` as JSON has them. */
function decimal(text: string): string {
  return text
    .replace(/^\+/, '')
    .replace(/^(-?)\./, (_match, sign: string) => `${sign}0.`)
    .replace(/\.(?=$|[eE])/, '');
}
