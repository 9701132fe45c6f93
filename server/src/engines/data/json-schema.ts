import { runInNewContext } from 'node:vm';
import type { Ajv as AjvInstance, ErrorObject, Options } from 'ajv';
import { errorCode } from '../../lib/errors.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { JsonSyntaxError, positionOf } from './json-scanner.ts';
import { type JsonNode, jsonFailure, parseJson, treeOf } from './json-tree.ts';
import { type DataSource, invalid, readText, tooLarge } from './source.ts';

export const ajv: Engine = {
  id: 'ajv',
  name: 'Ajv',
  license: 'MIT',
  version: () => packageVersion('ajv'),
};

export const schemaDrafts = ['7', '2019', '2020'] as const;
export type SchemaDraft = (typeof schemaDrafts)[number];

export interface JsonProblem {
  /** JSON pointer; empty for the whole document. */
  path: string;
  line: number;
  column: number;
  message: string;
}

export interface JsonReport {
  file: string;
  valid: boolean;
  schema?: string;
  draft?: SchemaDraft;
  errors: JsonProblem[];
  /** What is allowed and seldom meant: keys that are repeated in one object. */
  warnings: JsonProblem[];
}

interface SchemaOptions {
  source: DataSource;
  /** Undefined to follow the schema's own `$schema`, and 2020-12 where it has none. */
  draft: SchemaDraft | undefined;
  allErrors: boolean;
}

const maxMegabytes = 64;
const maxProblems = 1000;
/** A pattern of a schema can take for ever on the right text. */
const maxMilliseconds = 20_000;

/**
 * Judges a JSON file, by a schema where there is one. What is wrong with the file is in the report; references from the
 * schema to other documents are not followed.
 *
 * @throws Failure `invalid_input` for a schema that cannot be used, `resource_limit` when judging takes too long.
 */
export async function validateJson(source: DataSource, schema?: SchemaOptions): Promise<JsonReport> {
  const text = await readText(source, maxMegabytes);
  const report: JsonReport = { file: source.filename, valid: true, errors: [], warnings: [] };
  let tree: JsonNode;
  try {
    tree = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw jsonFailure(source, text, error);
    return { ...report, valid: false, errors: [{ path: '', ...positionOf(text, error.at), message: error.message }] };
  }
  report.warnings.push(...repeatedKeys(text, tree));
  if (schema === undefined) return report;
  const { draft, errors } = await judge(text, source, schema);
  const places = new Map(errors.map(({ instancePath }) => [instancePath, nodeAt(tree, instancePath)]));
  return {
    ...report,
    valid: errors.length === 0,
    schema: schema.source.filename,
    draft,
    errors: errors.slice(0, maxProblems).map((error) => ({
      path: error.instancePath,
      ...positionOf(text, places.get(error.instancePath)?.at ?? 0),
      message: describeError(error),
    })),
  };
}

async function judge(text: string, document: DataSource, { source, draft, allErrors }: SchemaOptions) {
  const schemaText = await readText(source, maxMegabytes);
  treeOf(source, schemaText);
  const schema = JSON.parse(schemaText) as unknown;
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema))) {
    throw invalid(source, 'is not a JSON Schema: it must be an object.');
  }
  const chosen = draft ?? draftOf(source, schema);
  const judgeWith = await createAjv(chosen, { allErrors, strict: false, validateFormats: true, logger: false });
  const value = JSON.parse(text) as unknown;
  const errors = inTime(document, () => {
    let validate;
    try {
      validate = judgeWith.compile(schema);
    } catch (error) {
      if (errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw invalid(source, `is not a schema that can be used: ${schemaProblem(error)}.`, error);
    }
    return validate(value) ? [] : [...(validate.errors ?? [])];
  });
  return { draft: chosen, errors };
}

/** Runs synchronous work that is stopped at a limit: a clock inside it would not tick. */
function inTime<T>(source: DataSource, work: () => T): T {
  try {
    return runInNewContext('work()', { work }, { timeout: maxMilliseconds }) as T;
  } catch (error) {
    if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw tooLarge(source, 'takes too long to be judged by this schema.');
  }
}

function draftOf(source: DataSource, schema: unknown): SchemaDraft {
  const named = (schema as { $schema?: unknown }).$schema;
  if (typeof named !== 'string') return '2020';
  if (/draft-0[67]\b/.test(named)) return '7';
  if (named.includes('2019-09')) return '2019';
  if (named.includes('2020-12')) return '2020';
  throw invalid(source, `follows ${named.slice(0, 100)}, which is none of the drafts 7, 2019-09 and 2020-12.`);
}

async function createAjv(draft: SchemaDraft, options: Options): Promise<AjvInstance> {
  const { default: formats } = await import('ajv-formats');
  const load = {
    7: async () => new (await import('ajv')).Ajv(options),
    2019: async () => new (await import('ajv/dist/2019.js')).Ajv2019(options),
    2020: async () => new (await import('ajv/dist/2020.js')).Ajv2020(options),
  }[draft];
  const made = await load();
  formats.default(made);
  return made;
}

function schemaProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s+/g, ' ').slice(0, 300).replace(/\.$/, '');
}

function describeError({ message, params, keyword }: ErrorObject): string {
  const words = message ?? `breaks the rule "${keyword}"`;
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  const property = additionalProperty ?? unevaluatedProperty;
  if (typeof property === 'string') return `${words}: "${property}"`;
  if (Array.isArray(allowedValues))
    return `${words}: ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  return allowedValue === undefined ? words : `${words}: ${JSON.stringify(allowedValue)}`;
}

/** Where a JSON pointer leads. */
function nodeAt(tree: JsonNode, pointer: string): JsonNode | undefined {
  let node: JsonNode | undefined = tree;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (node?.kind === 'array') node = node.items[Number(key)];
    else if (node?.kind === 'object') node = node.members.findLast((member) => member.key === key)?.value;
    else return undefined;
  }
  return node;
}

function repeatedKeys(text: string, tree: JsonNode): JsonProblem[] {
  const found: JsonProblem[] = [];
  const waiting: { node: JsonNode; path: string }[] = [{ node: tree, path: '' }];
  for (let next = waiting.pop(); next !== undefined && found.length < maxProblems; next = waiting.pop()) {
    const { node, path } = next;
    if (node.kind === 'array') {
      for (const [index, item] of node.items.entries()) waiting.push({ node: item, path: `${path}/${index}` });
    }
    if (node.kind !== 'object') continue;
    const seen = new Set<string>();
    for (const { key, value, at } of node.members) {
      const pointer = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (seen.has(key))
        found.push({ path: pointer, ...positionOf(text, at), message: 'the key is repeated in its object' });
      seen.add(key);
      waiting.push({ node: value, path: pointer });
    }
  }
  return found;
}
