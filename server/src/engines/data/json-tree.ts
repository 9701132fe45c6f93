import type { DataSource } from './source.ts';
import { invalid, readText, tooLarge } from './source.ts';
import { type JsonDialect, JsonScanner, JsonSyntaxError, type JsonToken, positionOf } from './json-scanner.ts';

/**
 * A JSON value as it is written. Numbers keep their text (1.0, 1e400 and 12345678901234567890 stay what they are) and
 * objects their order and repeated keys, both of which JavaScript values lose.
 */
export type JsonNode = JsonScalar | JsonArray | JsonObject;
export interface JsonScalar {
  kind: 'string' | 'number' | 'word';
  /** JSON text of the value. */
  text: string;
  at: number;
}
export interface JsonArray {
  kind: 'array';
  items: JsonNode[];
  at: number;
}
export interface JsonObject {
  kind: 'object';
  members: JsonMember[];
  at: number;
}
export interface JsonMember {
  /** Decoded. */
  key: string;
  value: JsonNode;
  at: number;
}

/** Deeper values exist only to exhaust stacks. */
export const maxJsonDepth = 500;

/** A document nested beyond `maxJsonDepth`. */
export class JsonDepthError extends Error {
  override readonly name = 'JsonDepthError';
  constructor() {
    super(`is nested deeper than ${maxJsonDepth} levels.`);
  }
}

export type Converter = (token: JsonToken) => JsonScalar;

const strict: Converter = ({ kind, text, at }) => ({ kind: kind as JsonScalar['kind'], text, at });

/**
 * The value a text holds.
 *
 * @throws JsonSyntaxError, JsonDepthError
 */
export function parseJson(text: string, dialect: JsonDialect = 'json', convert: Converter = strict): JsonNode {
  const scanner = new JsonScanner(text, dialect);
  let token = scanner.next();
  const advance = (): JsonToken => {
    const taken = token;
    token = scanner.next();
    return taken;
  };

  const is = (kind: JsonToken['kind']): boolean => token.kind === kind;

  function value(depth: number): JsonNode {
    if (depth > maxJsonDepth) throw new JsonDepthError();
    if (token.kind === '{') return object(depth);
    if (token.kind === '[') return array(depth);
    if (token.kind !== 'string' && token.kind !== 'number' && token.kind !== 'word') {
      throw unexpected(token, 'a value');
    }
    return convert(advance());
  }

  function object(depth: number): JsonObject {
    const { at } = advance();
    const members: JsonMember[] = [];
    while (token.kind !== '}') {
      members.push(member(depth));
      if (!comma('}')) break;
    }
    close('}');
    return { kind: 'object', members, at };
  }

  function member(depth: number): JsonMember {
    const isKey = token.kind === 'string' || (dialect === 'json5' && token.kind === 'word');
    if (!isKey) throw unexpected(token, 'a key in double quotes');
    const name = advance();
    if (token.kind !== ':') throw unexpected(token, 'a colon');
    advance();
    return { key: decodeKey(name, convert), value: value(depth + 1), at: name.at };
  }

  function array(depth: number): JsonArray {
    const { at } = advance();
    const items: JsonNode[] = [];
    while (token.kind !== ']') {
      items.push(value(depth + 1));
      if (!comma(']')) break;
    }
    close(']');
    return { kind: 'array', items, at };
  }

  /** Whether another element may follow. */
  function comma(end: '}' | ']'): boolean {
    if (token.kind !== ',') return false;
    const { at } = advance();
    if (dialect === 'json' && is(end)) throw new JsonSyntaxError('nothing follows this comma', at);
    return true;
  }

  function close(kind: '}' | ']'): void {
    if (token.kind !== kind) throw unexpected(token, `a comma or "${kind}"`);
    advance();
  }

  const root = value(1);
  if (token.kind !== 'end') throw unexpected(token, 'the end of the file');
  return root;
}

function decodeKey(name: JsonToken, convert: Converter): string {
  if (name.kind === 'string') return stringOf(convert(name));
  return name.text.replaceAll(/\\u([0-9a-fA-F]{4})/g, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function unexpected(token: JsonToken, wanted: string): JsonSyntaxError {
  const found = token.kind === 'end' ? 'the file ends' : `${token.text.slice(0, 20)} stands`;
  return new JsonSyntaxError(`${found} where ${wanted} is expected`, token.at);
}

/** The text a string scalar stands for. */
export function stringOf({ text }: JsonScalar): string {
  return JSON.parse(text) as string;
}

/**
 * The value of a JSON file.
 *
 * @throws Failure `invalid_input` with line and column, `resource_limit` above `megabytes` or too many levels.
 */
export async function readJsonTree(source: DataSource, megabytes = 100): Promise<JsonNode> {
  return treeOf(source, await readText(source, megabytes));
}

/** @throws Failure as `readJsonTree` */
export function treeOf(source: DataSource, text: string, dialect?: JsonDialect, convert?: Converter): JsonNode {
  try {
    return parseJson(text, dialect, convert);
  } catch (error) {
    throw jsonFailure(source, text, error);
  }
}

/** A Failure for what `parseJson` throws. */
export function jsonFailure(source: DataSource, text: string, error: unknown): unknown {
  if (error instanceof JsonDepthError) return tooLarge(source, error.message);
  if (!(error instanceof JsonSyntaxError)) return error;
  const { line, column } = positionOf(text, error.at);
  return invalid(source, `is not valid JSON: line ${line}, column ${column}: ${error.message}.`, error);
}

export interface JsonStyle {
  /** Spaces a level; 0 writes everything on one line. */
  indent: number;
  sortKeys?: boolean;
}

/** JSON text of a value, in pieces. Numbers and texts come out as they were written. */
export function* jsonPieces(node: JsonNode, style: JsonStyle, level = 0): Generator<string> {
  if (node.kind !== 'array' && node.kind !== 'object') {
    yield node.text;
    return;
  }
  const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}'];
  const children = node.kind === 'array' ? node.items : style.sortKeys === true ? byKey(node.members) : node.members;
  yield open;
  let first = true;
  for (const child of children) {
    if (!first) yield ',';
    first = false;
    yield newLine(style, level + 1);
    if ('key' in child) yield `${JSON.stringify(child.key)}:${style.indent > 0 ? ' ' : ''}`;
    yield* jsonPieces('key' in child ? child.value : child, style, level + 1);
  }
  if (!first) yield newLine(style, level);
  yield close;
}

/** JSON text of a value on one line. */
export function compactJson(node: JsonNode): string {
  return [...jsonPieces(node, { indent: 0 })].join('');
}

/** Members in the order of their keys' UTF-16 units, which no locale changes. */
export function byKey(members: readonly JsonMember[]): JsonMember[] {
  return members.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function newLine({ indent }: JsonStyle, level: number): string {
  return indent === 0 ? '' : `\n${' '.repeat(indent * level)}`;
}
