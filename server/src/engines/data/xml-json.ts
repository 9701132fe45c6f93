import { type JsonMember, type JsonNode, type JsonObject, type JsonScalar, stringOf } from './json-tree.ts';
import { type DataSource, invalid } from './source.ts';
import type { XmlNode, XmlTree } from './xml-document.ts';
import { attributesOf, decodeXml, encodeXml } from './xml-tokens.ts';

export interface XmlToJsonOptions {
  /** `prefix`: keys such as `@id`; `merge`: keys as children have; `drop`: none. */
  attributes: 'prefix' | 'merge' | 'drop';
  /** `auto`: an array for names that are repeated; `always`: for every child. */
  arrays: 'auto' | 'always';
}

const textKey = '#text';

/**
 * A document as JSON: `{"root": …}`. An element with nothing but text is that text; else an object of its attributes, its
 * children and, as `#text`, its own text. Values stay text: `007` is no number in XML.
 *
 * @throws Failure `invalid_input` for a reference to an entity that is not in the document.
 */
export function xmlToJson(source: DataSource, { nodes }: XmlTree, options: XmlToJsonOptions): JsonNode {
  const root = nodes.find(isElement);
  if (root === undefined) throw invalid(source, 'has no element.');
  return {
    kind: 'object',
    members: [{ key: root.token.name, value: elementJson(source, root, options), at: 0 }],
    at: 0,
  };
}

function isElement({ token }: XmlNode): boolean {
  return token.kind === 'open' || token.kind === 'empty';
}

function elementJson(source: DataSource, { token, children }: XmlNode, options: XmlToJsonOptions): JsonNode {
  const { attributes, arrays } = options;
  const values = new Map<string, JsonNode[]>();
  const add = (key: string, value: JsonNode) => values.set(key, [...(values.get(key) ?? []), value]);
  const lists = new Map<string, JsonNode[]>();
  if (attributes !== 'drop') {
    checked(source, token.raw);
    for (const [name, value] of attributesOf(token)) add(attributes === 'prefix' ? `@${name}` : name, text(value));
  }
  let own = '';
  for (const child of children) {
    if (child.token.kind === 'text') own += decodeXml(checked(source, child.token.raw));
    else if (child.token.kind === 'cdata') own += child.token.raw.slice(9, -3);
    else if (isElement(child)) {
      const list = values.get(child.token.name) ?? [];
      list.push(elementJson(source, child, options));
      values.set(child.token.name, list);
      lists.set(child.token.name, list);
    }
  }
  if (values.size === 0) return text(own);
  const members: JsonMember[] = [...values].map(([key, list]) => {
    const [only] = list;
    const single = list.length === 1 && only !== undefined && !(arrays === 'always' && lists.has(key));
    return { key, value: single ? only : { kind: 'array', items: list, at: 0 }, at: 0 };
  });
  if (own.trim() !== '') members.push({ key: textKey, value: text(lists.size > 0 ? own.trim() : own), at: 0 });
  return { kind: 'object', members, at: 0 };
}

function text(value: string): JsonScalar {
  return { kind: 'string', text: JSON.stringify(value), at: 0 };
}

function checked(source: DataSource, raw: string): string {
  const entity = /&(?!(?:lt|gt|amp|quot|apos);)([\p{L}_][\p{L}\p{N}_.-]*);/u.exec(raw)?.[1];
  if (entity !== undefined)
    throw invalid(source, `uses the entity &${entity};, but only entities that the document itself defines are read.`);
  return raw;
}

/** A name of XML without a colon. */
const ncName = /^[\p{L}_][\p{L}\p{N}\p{M}_.\-·]*$/u;

/** Whether a text can name an element. */
export function isXmlName(name: string): boolean {
  return ncName.test(name);
}

/**
 * A JSON value as an XML document. Repeated elements stand for arrays, `item` for elements of arrays without a name;
 * `@name` and `#text` are attributes and text again. Characters a name cannot have become `_`.
 *
 * @throws Failure `invalid_input` for text with control characters, which XML cannot hold.
 */
export function* jsonToXml(source: DataSource, tree: JsonNode, root: string, indent: number): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield* element({ source, indent }, root, tree.kind === 'array' ? asItems(tree.items) : tree, 0, new Set(['xml']));
}

interface Writing {
  source: DataSource;
  indent: number;
}

function asItems(items: JsonNode[]): JsonObject {
  return { kind: 'object', members: items.map((value) => ({ key: 'item', value: wrapped(value), at: 0 })), at: 0 };
}

/** An array within an array is an element of its own. */
function wrapped(value: JsonNode): JsonNode {
  return value.kind === 'array' ? asItems(value.items) : value;
}

function* element(
  writing: Writing,
  key: string,
  node: JsonNode,
  level: number,
  prefixes: ReadonlySet<string>,
): Generator<string> {
  const pad = ' '.repeat(writing.indent * level);
  if (node.kind === 'array') {
    if (node.items.length === 0) yield `${pad}<${nameOf(key, prefixes)}/>\n`;
    for (const item of node.items) yield* element(writing, key, wrapped(item), level, prefixes);
    return;
  }
  if (node.kind !== 'object') {
    const name = nameOf(key, prefixes);
    const value = scalarText(writing, node);
    yield value === '' ? `${pad}<${name}/>\n` : `${pad}<${name}>${value}</${name}>\n`;
    return;
  }
  const attributes = attributeMembers(node);
  const inScope = new Set([
    ...prefixes,
    ...attributes.flatMap(({ key: name }) => /^@xmlns:(.+)$/.exec(name)?.[1] ?? []),
  ]);
  const name = nameOf(key, inScope);
  const start = `${pad}<${name}${attributes.map((member) => attributeXml(writing, member, inScope)).join('')}`;
  const taken = new Set(attributes);
  const own = node.members.find(({ key: found, value }) => found === textKey && isScalar(value));
  const children = node.members.filter((member) => !taken.has(member) && member !== own);
  const value = own === undefined ? '' : scalarText(writing, own.value as JsonScalar);
  if (children.length === 0) {
    yield value === '' ? `${start}/>\n` : `${start}>${value}</${name}>\n`;
    return;
  }
  yield `${start}>${value}\n`;
  for (const child of children) yield* element(writing, child.key, child.value, level + 1, inScope);
  yield `${pad}</${name}>\n`;
}

function isScalar({ kind }: JsonNode): boolean {
  return kind !== 'array' && kind !== 'object';
}

/** The members that are attributes, each name once. */
function attributeMembers({ members }: JsonObject): JsonMember[] {
  const seen = new Set<string>();
  return members.filter(({ key, value }) => {
    const name = key.slice(1);
    if (!key.startsWith('@') || !isScalar(value) || seen.has(name)) return false;
    seen.add(name);
    return name.split(':').length <= 2 && name.split(':').every(isXmlName);
  });
}

function attributeXml(writing: Writing, { key, value }: JsonMember, prefixes: ReadonlySet<string>): string {
  const name = key.slice(1);
  const shown = name === 'xmlns' || name.startsWith('xmlns:') ? name : nameOf(name, prefixes);
  const content = scalarText(writing, value as JsonScalar)
    .replaceAll('\n', '&#10;')
    .replaceAll('\t', '&#9;');
  return ` ${shown}="${content}"`;
}

function scalarText({ source }: Writing, node: JsonScalar): string {
  if (node.kind !== 'string') return node.text === 'null' ? '' : node.text;
  const value = stringOf(node);
  // oxlint-disable-next-line no-control-regex -- what XML 1.0 forbids
  const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.exec(value)?.[0];
  if (forbidden === undefined && value.isWellFormed()) return encodeXml(value);
  const code = (forbidden ?? '\ufffd').charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  throw invalid(
    source,
    `has a character (U+${code}) in "${value.slice(0, 20).replaceAll(/\p{C}/gu, '?')}" that XML cannot hold.`,
  );
}

/** A key as an element's name. A prefix stays where it is declared. */
function nameOf(key: string, prefixes: ReadonlySet<string>): string {
  const [prefix = '', local, ...more] = key.split(':');
  if (local !== undefined && more.length === 0 && prefixes.has(prefix) && isXmlName(local)) return key;
  if (isXmlName(key) && !/^xml$/i.test(key)) return key;
  const clean = key.replaceAll(/[^\p{L}\p{N}_.-]/gu, '_');
  return isXmlName(clean) && !/^xml$/i.test(clean) ? clean : `_${clean}`;
}
