import { readFile } from 'node:fs/promises';
import type { ErrorDetail, XmlDocument } from 'libxml2-wasm';
import { Failure } from '../../lib/failure.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { type DataSource, invalid, limitSize, tooLarge } from './source.ts';
import { expandEntities } from './xml-entities.ts';
import { type XmlToken, XmlTokenizer } from './xml-tokens.ts';

export const libxml2: Engine = {
  id: 'libxml2',
  name: 'libxml2 (WebAssembly)',
  license: 'MIT',
  version: () => packageVersion('libxml2-wasm'),
};

const maxMegabytes = 64;

/** An element or a piece of the document between elements, as it is written. */
export interface XmlNode {
  token: XmlToken;
  /** Of an element that has an end tag. */
  children: XmlNode[];
}

/** A well-formed document. */
export interface XmlTree {
  nodes: XmlNode[];
  /** How the file's bytes are encoded. */
  encoding: string;
}

/**
 * Reads an XML document. libxml2 judges whether it is well-formed; it loads no external entity or DTD and
 * refuses entities that would grow enormously. References to entities stay as they are written unless they are to be expanded.
 *
 * @throws Failure `invalid_input` with line and column, `resource_limit` for a document too large, deep or explosive.
 */
export async function readXml(
  source: DataSource,
  { expandsEntities = false }: { expandsEntities?: boolean } = {},
): Promise<XmlTree> {
  const bytes = await readBytes(source);
  (await parseBytes(source, bytes)).dispose();
  const { default: iconv } = await import('iconv-lite');
  const encoding = encodingOf(bytes);
  if (!iconv.encodingExists(encoding)) throw invalid(source, `is encoded as ${encoding}, which is not known.`);
  const text = iconv.decode(bytes, encoding).replaceAll(/\r\n?/g, '\n');
  return { nodes: treeOf(expandsEntities ? expandEntities(source, text) : text), encoding };
}

/** Whether the document is an XML Schema. */
export function isSchema({ nodes }: XmlTree): boolean {
  const root = nodes.find(({ token }) => token.kind === 'open' || token.kind === 'empty');
  return (
    root !== undefined &&
    /(?:^|:)schema$/.test(root.token.name) &&
    root.token.raw.includes('http://www.w3.org/2001/XMLSchema')
  );
}

/**
 * Judges documents by an XML Schema (XSD 1.0) that needs no other file.
 *
 * @throws Failure `invalid_input` naming the first faults of the document, or what is wrong with the schema.
 */
export async function validateByXsd(schema: DataSource, documents: readonly DataSource[]): Promise<void> {
  const { XsdValidator } = await import('libxml2-wasm');
  using xsd = await parseBytes(schema, await readBytes(schema));
  using validator = described(schema, 'is not a schema that can be used', () => XsdValidator.fromDoc(xsd));
  for (const document of documents) {
    // The validator knows no references: entities of the document itself are replaced.
    using xml = await parseBytes(document, await readBytes(document), { expandsEntities: true });
    described(document, `does not fit ${schema.filename}`, () => validator.validate(xml));
  }
}

async function readBytes(source: DataSource): Promise<Buffer> {
  await limitSize(source, maxMegabytes);
  const bytes = await readFile(source.path);
  if (bytes.length === 0) throw invalid(source, 'is empty.');
  return bytes;
}

async function parseBytes(
  source: DataSource,
  bytes: Buffer,
  { expandsEntities }: { expandsEntities: boolean } = { expandsEntities: false },
): Promise<XmlDocument> {
  const { ParseOption, XmlDocument: Document } = await import('libxml2-wasm');
  const option =
    ParseOption.XML_PARSE_NO_XXE |
    ParseOption.XML_PARSE_NONET |
    ParseOption.XML_PARSE_NO_SYS_CATALOG |
    ParseOption.XML_PARSE_BIG_LINES |
    (expandsEntities ? ParseOption.XML_PARSE_NOENT : 0);
  return described(source, 'is not well-formed XML', () => Document.fromBuffer(bytes, { option }));
}

const faultsShown = 5;

function described<T>(source: DataSource, problem: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { details } = error as { details?: ErrorDetail[] };
    if (details === undefined)
      throw new Failure('engine_failed', `"${source.filename}" cannot be read.`, {
        file: source.filename,
        cause: error,
      });
    const faults = details.filter(({ level }) => level > 1);
    const limit = faults.find(({ message }) => /amplification|Excessive depth|too long|too big|huge/i.test(message));
    if (limit !== undefined) throw tooLarge(source, 'has entities, levels or texts beyond what is read.');
    const shown = faults.slice(0, faultsShown).map(({ line, col, message }) => {
      const place = col > 0 ? `line ${line}, column ${col}` : `line ${line}`;
      return `${place}: ${message.trim().replaceAll(/\s+/g, ' ').replace(/\.$/, '')}`;
    });
    const rest = faults.length > faultsShown ? `, and ${faults.length - faultsShown} more` : '';
    throw invalid(source, `${problem}: ${shown.join('; ')}${rest}.`, error);
  }
}

/** The byte order mark, or what the declaration says. */
function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0x3c && bytes[1] === 0) return 'utf-16le';
  if (bytes[0] === 0 && bytes[1] === 0x3c) return 'utf-16be';
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]+)["']/.exec(
    bytes.toString('latin1', 0, 200),
  );
  return declared?.[1]?.toLowerCase() ?? 'utf-8';
}

function treeOf(text: string): XmlNode[] {
  const nodes: XmlNode[] = [];
  const open: XmlNode[][] = [nodes];
  const tokenizer = new XmlTokenizer();
  for (const tokens of [tokenizer.push(text), tokenizer.end()]) {
    for (const token of tokens) {
      if (token.kind === 'close') {
        open.pop();
        continue;
      }
      const node: XmlNode = { token, children: [] };
      open.at(-1)?.push(node);
      if (token.kind === 'open') open.push(node.children);
    }
  }
  return nodes;
}
