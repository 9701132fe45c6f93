import { type DataSource, tooLarge } from './source.ts';
import { type XmlToken, XmlTokenizer } from './xml-tokens.ts';

/** All that entities of one document may add, in characters. */
const maxExpansion = 16_000_000;
/** Even an entity without text takes time. */
const referenceCost = 20;
const maxDepth = 32;

/** A reference, but not to a character nor to one of the five names that XML has itself. */
const reference = /&(?!(?:lt|gt|amp|quot|apos);)([\p{L}_:][\p{L}\p{N}\p{M}_:.\-·]*);/gu;

/**
 * Well-formed XML with the references to entities that its own document type defines replaced by their text. What is
 * outside the document is not fetched: references to it, and to what parameter entities define, stay as they are.
 *
 * @throws Failure `resource_limit` when the document grows beyond what is read.
 */
export function expandEntities(source: DataSource, text: string): string {
  if (!text.includes('<!ENTITY')) return text;
  const doctype = tokensOf(text).find(({ kind }) => kind === 'doctype');
  const entities = definitionsOf(doctype?.raw ?? '');
  if (entities.size === 0) return text;
  let budget = maxExpansion;
  const expand = (xml: string, depth: number): string =>
    tokensOf(xml)
      .map((token) => (mayRefer(token) ? replace(token, depth) : token.raw))
      .join('');
  const replace = ({ kind, raw }: XmlToken, depth: number): string =>
    raw.replaceAll(reference, (whole, name: string) => {
      const value = entities.get(name);
      if (value === undefined) return whole;
      budget -= value.length + referenceCost;
      if (budget < 0 || depth > maxDepth) throw tooLarge(source, 'has entities beyond what is read.');
      return kind === 'text'
        ? expand(value, depth + 1)
        : inAttribute(replace({ kind, raw: value, name: '' }, depth + 1));
    });
  return expand(text, 0);
}

/** Each entity by its first definition, as XML wants it: its text, references to characters replaced; none when it is outside. */
function definitionsOf(doctype: string): Map<string, string | undefined> {
  const entities = new Map<string, string | undefined>();
  // Quoted text first: in it these marks are text.
  const plain = doctype.replaceAll(/("[^"]*"|'[^']*')|<!--[^]*?-->|<\?[^]*?\?>/g, '$1');
  for (const [, name = '', double, single] of plain.matchAll(
    /<!ENTITY\s+([^\s%"'>]+)\s+(?:"([^"]*)"|'([^']*)'|[^"'>])/g,
  )) {
    const value = double ?? single;
    if (!entities.has(name)) entities.set(name, value === undefined ? undefined : withCharacters(value));
  }
  return entities;
}

function withCharacters(value: string): string {
  return value.replaceAll(/&#(?:(\d{1,7})|x([0-9a-fA-F]{1,6}));/g, (whole, decimal?: string, hex = '') => {
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Quotation marks of an entity do not end the attribute it stands in. */
function inAttribute(value: string): string {
  return value.replaceAll('"', '&quot;').replaceAll("'", '&apos;');
}

function mayRefer({ kind, raw }: XmlToken): boolean {
  return (kind === 'text' || kind === 'open' || kind === 'empty') && raw.includes('&');
}

function tokensOf(text: string): XmlToken[] {
  const tokenizer = new XmlTokenizer();
  return [...tokenizer.push(text), ...tokenizer.end()];
}
