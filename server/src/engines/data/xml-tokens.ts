/** A piece of XML text as it is written. */
export interface XmlToken {
  kind: 'open' | 'empty' | 'close' | 'text' | 'cdata' | 'comment' | 'instruction' | 'doctype';
  /** All of it, brackets included. */
  raw: string;
  /** Of an element, with its prefix. */
  name: string;
}

/**
 * Cuts well-formed XML into tokens as its text arrives. What is not well-formed gives some tokens: parse it with libxml2
 * first where that matters.
 */
export class XmlTokenizer {
  #text = '';

  /** The tokens that are complete with this text. */
  *push(text: string): Generator<XmlToken> {
    this.#text += text;
    let at = 0;
    for (;;) {
      const end = this.#tokenEnd(at);
      if (end === undefined) break;
      yield tokenOf(this.#text.slice(at, end));
      at = end;
    }
    this.#text = this.#text.slice(at);
  }

  /** What is left when the text is over. */
  *end(): Generator<XmlToken> {
    if (this.#text !== '') yield tokenOf(this.#text);
    this.#text = '';
  }

  /** How much waits for its end. */
  get pending(): number {
    return this.#text.length;
  }

  #tokenEnd(at: number): number | undefined {
    const text = this.#text;
    if (at >= text.length) return undefined;
    if (text[at] !== '<') return found(text.indexOf('<', at), 0);
    const next = text[at + 1];
    if (next === undefined) return undefined;
    if (next === '?') return this.#after('?>', at + 2);
    if (next !== '!') return this.#tagEnd(at);
    if (text.startsWith('<!--', at)) return this.#after('-->', at + 4);
    if (text.startsWith('<![CDATA[', at)) return this.#after(']]>', at + 9);
    // Too short yet to be told from a comment or a CDATA section.
    if (text.length - at < 9) return undefined;
    return this.#doctypeEnd(at);
  }

  #after(mark: string, from: number): number | undefined {
    return found(this.#text.indexOf(mark, from), mark.length);
  }

  /** A `>` inside a quoted attribute does not end a tag. */
  #tagEnd(from: number): number | undefined {
    const text = this.#text;
    let quote = 0;
    for (let at = from + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (quote !== 0) quote = code === quote ? 0 : quote;
      else if (code === 0x3e) return at + 1;
      else if (code === 0x22 || code === 0x27) quote = code;
    }
    return undefined;
  }

  #doctypeEnd(from: number): number | undefined {
    const text = this.#text;
    let inSubset = false;
    let at = from + 2;
    while (at < text.length) {
      const character = text[at];
      if (character === '"' || character === "'") {
        const closing = text.indexOf(character, at + 1);
        if (closing < 0) return undefined;
        at = closing;
      } else if (text.startsWith('<!--', at)) {
        const end = this.#after('-->', at + 4);
        if (end === undefined) return undefined;
        at = end - 1;
      } else if (character === '[') inSubset = true;
      else if (character === ']') inSubset = false;
      else if (character === '>' && !inSubset) return at + 1;
      at++;
    }
    return undefined;
  }
}

function found(index: number, length: number): number | undefined {
  return index < 0 ? undefined : index + length;
}

function tokenOf(raw: string): XmlToken {
  if (raw[0] !== '<') return { kind: 'text', raw, name: '' };
  const second = raw[1];
  if (second === '?') return { kind: 'instruction', raw, name: '' };
  if (second === '!') return { kind: raw[2] === '-' ? 'comment' : raw[2] === '[' ? 'cdata' : 'doctype', raw, name: '' };
  const start = second === '/' ? 2 : 1;
  let end = start;
  while (end < raw.length && !isNameEnd(raw.charCodeAt(end))) end++;
  const kind = start === 2 ? 'close' : raw.at(-2) === '/' ? 'empty' : 'open';
  return { kind, raw, name: raw.slice(start, end) };
}

/** White space, `/` or `>`. */
function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x2f || code === 0x3e;
}

/** The attributes of a tag, in order, decoded. */
export function attributesOf({ raw }: XmlToken): [name: string, value: string][] {
  const pattern = /\s([^\s=/>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
  return [...raw.matchAll(pattern)].map(([, name = '', double, single]) => [
    name,
    decodeXml((double ?? single ?? '').replaceAll(/\r\n|[\t\r\n]/g, ' ')),
  ]);
}

const predefined: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Text without its references. Only characters and the five names of XML itself: nothing a document defines. */
export function decodeXml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    if (name !== undefined) return predefined[name as string] ?? whole;
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Text as XML content or as an attribute in double quotes. Characters XML cannot hold are left out. */
export function encodeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(forbidden, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

// oxlint-disable-next-line no-control-regex -- what XML 1.0 forbids
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
