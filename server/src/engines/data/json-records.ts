import type { Row } from '../csv.ts';
import { uniqueNames } from '../csv.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { JsonSyntaxError } from './json-scanner.ts';
import { type JsonNode, compactJson, jsonFailure, parseJson, stringOf, treeOf } from './json-tree.ts';
import { JsonValueStream } from './json-value-stream.ts';
import { type DataSource, invalid, readText, textPieces, tooLarge } from './source.ts';

export const jsonPath: Engine = {
  id: 'json-p3',
  name: 'JSON P3 (JSONPath)',
  license: 'MIT',
  version: () => packageVersion('json-p3'),
};

/** A query that is not one member after the other needs the whole document in memory. */
const maxQueriedMegabytes = 64;
const maxColumns = 16_384;

export interface JsonSource extends DataSource {
  /** Every line is a record (NDJSON). */
  lines?: boolean;
}

/** The keys of `$`, `$.data.items` or `$['data']`; undefined for any other JSONPath. */
function simplePath(path: string): string[] | undefined {
  if (!/^\$(?:\.[A-Za-z_]\w*|\['[^'\\]*'\])*$/.test(path)) return undefined;
  return [...path.matchAll(/\.(\w+)|\['([^']*)'\]/g)].map(([, dotted, bracketed]) => dotted ?? bracketed ?? '');
}

/**
 * The records of a JSON or NDJSON file: the elements of the array the path leads to, or the one value there. For a path of
 * plain names they stream, in the memory of one record.
 *
 * @throws Failure `invalid_input` for broken JSON and for a path that leads nowhere, `resource_limit` for a record above
 *   16 MB or a document too large to query.
 */
export async function* jsonRecords(source: JsonSource, path = '$'): AsyncGenerator<JsonNode> {
  const keys = simplePath(path);
  if (keys === undefined) {
    yield* queriedRecords(source, path);
    return;
  }
  const stream = new JsonValueStream(textPieces(source), source.lines);
  let found = false;
  try {
    for await (const text of stream.values(keys)) {
      found = true;
      yield parseJson(text);
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw jsonFailure(source, '', error);
    throw invalid(source, `is not valid JSON: line ${stream.line}: ${error.message}.`, error);
  }
  if (stream.tooLong) throw tooLarge(source, 'has a record larger than 16 MB.');
  if (!found && !stream.reached) throw invalid(source, `has nothing at ${path}.`);
}

async function* queriedRecords(source: DataSource, path: string): AsyncGenerator<JsonNode> {
  const text = await readText(source, maxQueriedMegabytes);
  treeOf(source, text);
  const { jsonpath } = await import('json-p3');
  // Numbers a double cannot hold are carried as their text, which JSON.stringify writes back unchanged.
  const document: unknown = JSON.parse(text, exactNumber);
  let found: unknown[];
  try {
    found = jsonpath.query(path, document as never).values();
  } catch (error) {
    throw invalid(source, `cannot be searched: ${path} is not a JSONPath.`, error);
  }
  if (found.length === 0) throw invalid(source, `has nothing at ${path}.`);
  const rows = found.length === 1 && Array.isArray(found[0]) ? (found[0] as unknown[]) : found;
  for (const row of rows) yield parseJson(JSON.stringify(row));
}

const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const text = context?.source;
  return typeof value === 'number' && text !== undefined && String(value) !== text ? rawJSON(text) : value;
}

interface TableOptions {
  /** Objects inside records become columns `address.city`; else they are cells of JSON text. */
  flatten: boolean;
  path?: string;
}

/**
 * JSON records as a table: first the names of all columns, in the order they are first seen, then the rows. The file is
 * read twice, so that a key which only the last record has still gets its column, in flat memory.
 */
export async function* jsonTable(source: JsonSource, { flatten, path = '$' }: TableOptions): AsyncGenerator<Row> {
  const columns = new Map<string, number>();
  for await (const record of jsonRecords(source, path)) {
    for (const { id } of cellsOf(record, flatten)) if (!columns.has(id)) columns.set(id, columns.size);
    if (columns.size > maxColumns) throw tooLarge(source, `has more than ${maxColumns} columns.`);
  }
  if (columns.size === 0) return;
  yield uniqueNames([...columns.keys()].map((id) => (JSON.parse(id) as string[]).join('.')));
  for await (const record of jsonRecords(source, path)) {
    const row = Array.from({ length: columns.size }, () => '');
    for (const { id, text } of cellsOf(record, flatten)) row[columns.get(id) ?? 0] = text;
    yield row;
  }
}

interface Cell {
  /** The keys that lead to it, as JSON: `a.b` and `a` → `b` are two columns. */
  id: string;
  text: string;
}

function cellsOf(record: JsonNode, flatten: boolean): Cell[] {
  const cells: Cell[] = [];
  function add(node: JsonNode, keys: string[]): void {
    if (flatten && node.kind === 'object' && node.members.length > 0) {
      for (const { key, value } of node.members) add(value, [...keys, key]);
    } else cells.push({ id: JSON.stringify(keys), text: cellText(node) });
  }
  if (record.kind === 'object') {
    for (const { key, value } of record.members) {
      if (flatten) add(value, [key]);
      else cells.push({ id: JSON.stringify([key]), text: cellText(value) });
    }
  } else if (record.kind === 'array') {
    for (const [index, value] of record.items.entries()) add(value, [`column_${index + 1}`]);
  } else add(record, ['value']);
  return cells;
}

/** Text as it is, null as an empty cell, everything else as JSON. */
function cellText(node: JsonNode): string {
  if (node.kind === 'string') return stringOf(node);
  if (node.kind === 'word' && node.text === 'null') return '';
  return compactJson(node);
}
