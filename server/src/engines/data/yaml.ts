import type * as Yaml from 'yaml';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { type JsonMember, type JsonNode, type JsonScalar, byKey, compactJson, stringOf } from './json-tree.ts';
import { type DataSource, invalid, readText, tooLarge } from './source.ts';

export const yamlEngine: Engine = {
  id: 'yaml',
  name: 'yaml',
  license: 'ISC',
  version: () => packageVersion('yaml'),
};

const maxMegabytes = 32;
/** Values that aliases may repeat in all: a few lines of them can stand for billions. */
const maxRepeated = 250_000;
const maxDepth = 500;

/**
 * The documents of a YAML 1.2 file. Numbers keep their digits, dates are text, `<<` merges, keys become text.
 *
 * @throws Failure `invalid_input` with line and column, `resource_limit` for a file that aliases blow up.
 */
export async function readYaml(source: DataSource): Promise<JsonNode[]> {
  const text = await readText(source, maxMegabytes);
  const yaml = await import('yaml');
  let documents: Yaml.Document.Parsed[];
  try {
    documents = [
      ...yaml.parseAllDocuments(text, { merge: true, intAsBigInt: true, prettyErrors: true, logLevel: 'silent' }),
    ];
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(source, 'is nested too deeply.');
    throw error;
  }
  const budget = { repeated: 0 };
  return documents.map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) {
      const [{ line, col } = { line: 1, col: 1 }] = problem.linePos ?? [];
      const words = problem.message.split(/ at line \d+|\n/)[0];
      throw invalid(source, `is not valid YAML: line ${line}, column ${col}: ${words}.`, problem);
    }
    return toJson({ yaml, source, anchors: new Map(), budget }, document.contents, 1);
  });
}

interface Reading {
  yaml: typeof Yaml;
  source: DataSource;
  /** What was met so far: an alias means the nearest anchor before it. */
  anchors: Map<string, unknown>;
  budget: { repeated: number };
  /** The value is repeated by an alias. */
  inAlias?: boolean;
}

function toJson(reading: Reading, node: unknown, depth: number): JsonNode {
  const { yaml, source, anchors, budget } = reading;
  if (depth > maxDepth) throw tooLarge(source, `is nested deeper than ${maxDepth} levels.`);
  if (reading.inAlias === true && ++budget.repeated > maxRepeated) {
    throw tooLarge(source, `repeats more than ${maxRepeated} values by its aliases.`);
  }
  if (yaml.isAlias(node)) {
    if (anchors.has(node.source)) return toJson({ ...reading, inAlias: true }, anchors.get(node.source), depth + 1);
    throw invalid(source, `has an alias *${node.source} without an anchor before it.`);
  }
  if (yaml.isNode(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
  if (yaml.isSeq(node))
    return { kind: 'array', items: node.items.map((item) => toJson(reading, item, depth + 1)), at: 0 };
  if (yaml.isMap(node)) return { kind: 'object', members: membersOf(reading, node, depth), at: 0 };
  // The items of an ordered map.
  if (yaml.isPair(node)) {
    const key = keyText(toJson(reading, node.key, depth + 1));
    return { kind: 'object', members: [{ key, value: toJson(reading, node.value, depth + 1), at: 0 }], at: 0 };
  }
  if (yaml.isScalar(node)) return scalar(node.value, node.source);
  return { kind: 'word', text: 'null', at: 0 };
}

function membersOf(reading: Reading, map: Yaml.YAMLMap, depth: number): JsonMember[] {
  const members = new Map<string, JsonMember>();
  const merged = new Map<string, JsonMember>();
  for (const { key, value } of map.items as Yaml.Pair[]) {
    if (isMergeKey(reading, key)) {
      for (const member of mergedMembers(reading, value, depth)) {
        if (!merged.has(member.key)) merged.set(member.key, member);
      }
      continue;
    }
    const name = keyText(toJson(reading, key, depth + 1));
    members.set(name, { key: name, value: toJson(reading, value, depth + 1), at: 0 });
  }
  return [...members.values(), ...[...merged.values()].filter(({ key }) => !members.has(key))];
}

function isMergeKey({ yaml }: Reading, key: unknown): boolean {
  return yaml.isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

function mergedMembers(reading: Reading, value: unknown, depth: number): JsonMember[] {
  const found = toJson(reading, value, depth + 1);
  const maps = found.kind === 'array' ? found.items : [found];
  return maps.flatMap((map) => {
    if (map.kind !== 'object') throw invalid(reading.source, 'merges (<<) something that is not a map.');
    return map.members;
  });
}

/** Complex keys become their JSON. */
function keyText(key: JsonNode): string {
  if (key.kind === 'string') return stringOf(key);
  if (key.kind === 'number' || key.kind === 'word') return key.text;
  return compactJson(key);
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function scalar(value: unknown, source: string | undefined): JsonScalar {
  if (typeof value === 'bigint') return { kind: 'number', text: value.toString(), at: 0 };
  if (typeof value === 'number') {
    if (source !== undefined && jsonNumber.test(source)) return { kind: 'number', text: source, at: 0 };
    // JSON has no infinity and no "not a number": they stay the words they were.
    if (!Number.isFinite(value)) return { kind: 'string', text: JSON.stringify(source ?? String(value)), at: 0 };
    return { kind: 'number', text: JSON.stringify(value), at: 0 };
  }
  if (typeof value === 'boolean' || value === null || value === undefined) {
    return { kind: 'word', text: String(value ?? null), at: 0 };
  }
  if (value instanceof Uint8Array)
    return { kind: 'string', text: JSON.stringify(Buffer.from(value).toString('base64')), at: 0 };
  if (value instanceof Date) return { kind: 'string', text: JSON.stringify(value.toISOString()), at: 0 };
  return { kind: 'string', text: JSON.stringify(typeof value === 'string' ? value : (source ?? '')), at: 0 };
}

interface YamlStyle {
  indent: number;
  sortKeys: boolean;
}

/**
 * YAML of a JSON value that YAML 1.1 and 1.2 readers understand alike: text that looks like a number, a date, `yes` or
 * `null` is quoted. Numbers keep their digits.
 *
 * @throws Failure `invalid_input` for a repeated key, which YAML forbids.
 */
export async function writeYaml(source: DataSource, tree: JsonNode, { indent, sortKeys }: YamlStyle): Promise<string> {
  const yaml = await import('yaml');
  const number: Yaml.ScalarTag = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    identify: (value) => value instanceof JsonNumber,
    resolve: (text) => text,
    test: /(?!)/,
    stringify: ({ value }) => (value as JsonNumber).text,
  };
  const document = new yaml.Document(null, {
    customTags: (tags) => [number, ...tags],
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
  });
  document.contents = toYaml({ yaml, source, sortKeys }, tree) as never;
  return document.toString({ indent, lineWidth: 0 });
}

class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

interface Writing {
  yaml: typeof Yaml;
  source: DataSource;
  sortKeys: boolean;
}

function toYaml(writing: Writing, node: JsonNode): Yaml.Node {
  const { yaml, source, sortKeys } = writing;
  if (node.kind === 'array') {
    const sequence = new yaml.YAMLSeq();
    sequence.items = node.items.map((item) => toYaml(writing, item));
    return sequence;
  }
  if (node.kind !== 'object') return new yaml.Scalar(scalarValue(node));
  const map = new yaml.YAMLMap();
  const seen = new Set<string>();
  for (const { key, value } of sortKeys ? byKey(node.members) : node.members) {
    if (seen.has(key)) {
      throw invalid(source, `has the key "${key.slice(0, 50)}" twice in one object, which YAML forbids.`);
    }
    seen.add(key);
    map.items.push(new yaml.Pair(new yaml.Scalar(key), toYaml(writing, value)));
  }
  return map;
}

function scalarValue(node: JsonScalar): unknown {
  if (node.kind === 'string') return stringOf(node);
  if (node.kind === 'number') return new JsonNumber(node.text);
  return JSON.parse(node.text);
}
