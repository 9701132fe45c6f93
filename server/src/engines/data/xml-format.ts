import { writeFile } from 'node:fs/promises';
import type { XmlNode, XmlTree } from './xml-document.ts';

export interface XmlStyle {
  /** Spaces a level. */
  indent: number;
  /** Leave out the white space between elements instead. */
  minify: boolean;
}

/**
 * Writes a document in its own encoding with new white space between elements. Text keeps its white space: nothing is
 * changed inside an element that has text of its own or says `xml:space="preserve"`.
 */
export async function writeXml(target: string, { nodes, encoding }: XmlTree, style: XmlStyle): Promise<void> {
  const { default: iconv } = await import('iconv-lite');
  const lines: string[] = [];
  for (const node of nodes) if (!isBlank(node)) lines.push(format(node, style, 0));
  const text = `${lines.join(style.minify ? '' : '\n')}\n`;
  await writeFile(target, iconv.encode(text, encoding, { addBOM: encoding.startsWith('utf-16') }));
}

function isBlank({ token }: XmlNode): boolean {
  return token.kind === 'text' && /^[ \t\r\n]*$/.test(token.raw);
}

function format(node: XmlNode, style: XmlStyle, level: number): string {
  const { token, children } = node;
  if (token.kind !== 'open' && token.kind !== 'empty') return token.raw;
  const tag = tidyTag(token.raw);
  if (token.kind === 'empty') return tag;
  const content = children.filter((child) => !isBlank(child));
  const keeps = content.length === 0 || content.some(isText) || /\sxml:space\s*=\s*["']preserve["']/.test(tag);
  if (keeps) return `${tag}${children.map(verbatim).join('')}</${token.name}>`;
  const inner = content.map((child) => format(child, style, level + 1));
  if (style.minify) return `${tag}${inner.join('')}</${token.name}>`;
  const pad = ' '.repeat(style.indent * (level + 1));
  return `${tag}\n${inner.map((text) => `${pad}${text}\n`).join('')}${' '.repeat(style.indent * level)}</${token.name}>`;
}

function isText({ token }: XmlNode): boolean {
  return token.kind === 'text' || token.kind === 'cdata';
}

function verbatim({ token, children }: XmlNode): string {
  return token.kind === 'open' ? `${token.raw}${children.map(verbatim).join('')}</${token.name}>` : token.raw;
}

/** One space before each attribute; values stay as they are. */
function tidyTag(raw: string): string {
  const parts = raw.match(/"[^"]*"|'[^']*'|[^"']+/g) ?? [];
  const spaced = parts.map((part) => (/^["']/.test(part) ? part : part.replaceAll(/\s+/g, ' ').replace(/ ?= ?/, '=')));
  return spaced.join('').replace(/ (\/?>)$/, '$1');
}
