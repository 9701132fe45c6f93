import type { FileTypeId } from '../lib/media-types.ts';
import { markedTextType } from './sniff-text-formats.ts';
import { decodeLegacyText, decodeUnicode, type TextSample } from './text-sample.ts';

const htmlElements = new Set(
  (
    'html head body title meta link base style script noscript template iframe div span p a b i u em strong small font br hr ' +
    'img h1 h2 h3 h4 h5 h6 ul ol li dl table tr td th form input button section article main nav header footer aside ' +
    'center blockquote pre figure details'
  ).split(' '),
);

/** Whether a browser would show these bytes as a page, whatever follows. */
export function startsAsHtml(head: Buffer): boolean {
  const type = markupType(head.toString('latin1', 0, 4096).replace(/^ï»¿/, ''));
  return type === 'html' || type === 'hocr';
}

/** Whether these bytes, the beginning of a file, are a drawing. */
export function startsAsSvg(start: Buffer): boolean {
  const head = start.subarray(0, start.length & ~1); // A character of UTF-16 is not to be cut.
  const sample = { head, tail: head, size: head.length };
  const text = decodeUnicode(sample) ?? decodeLegacyText(sample);
  return text !== undefined && markupType(text.head) === 'svg';
}

/** The kind of a text. */
export function textType(sample: TextSample): FileTypeId {
  const marked = markupType(sample.head, sample.tail) ?? markedTextType(sample);
  return marked ?? jsonType(sample) ?? tableType(sample) ?? 'txt';
}

interface Prolog {
  /** An XML declaration came first. */
  declared: boolean;
  /** The name in the document type declaration, in lower case. */
  doctype: string | undefined;
  /** The first element, with its prefix. */
  root: string | undefined;
}

function markupType(head: string, tail = ''): FileTypeId | undefined {
  if (!/^\s*</.test(head)) return undefined;
  const { declared, doctype, root } = readProlog(head);
  const name = root?.replace(/^.*:/, '');
  if (doctype === 'html' || name?.toLowerCase() === 'html') return isHocr(head) ? 'hocr' : 'html';
  if (name === 'svg' || (root === undefined && doctype === 'svg')) return 'svg';
  if (name === 'FictionBook') return 'fb2';
  if (name === 'tt' && timedText.test(head)) return 'ttml';
  if (declared || doctype !== undefined) return 'xml';
  if (root === undefined) return undefined;
  if (htmlElements.has(root.toLowerCase())) return 'html';
  return endsElement(tail, root) ? 'xml' : undefined;
}

/** The namespace of TTML, or one from before it was a recommendation (DFXP). */
const timedText = /xmlns(:\w+)?\s*=\s*["']http:\/\/www\.w3\.org\/(ns\/ttml|20\d\d\/\d\d\/ttaf1)/;

/** Pages of recognised text say so by the classes of their elements or by who made them. */
function isHocr(head: string): boolean {
  return (
    /<(div|span)[^>]{0,200}\bclass\s*=\s*["']ocr_page\b/i.test(head) ||
    /<meta\s+name\s*=\s*["']ocr-system["']/i.test(head)
  );
}

/** Whether the last thing in a text closes an element: the root by its name, or an empty one. */
function endsElement(tail: string, root: string): boolean {
  const end = tail.trimEnd();
  const lastTag = end.slice(end.lastIndexOf('<'));
  return lastTag.endsWith('/>') || (lastTag.startsWith(`</${root}`) && lastTag.endsWith('>'));
}

/** Skips what may stand before the first element: declarations, comments, a document type with its own entities. */
function readProlog(text: string): Prolog {
  const prolog: Prolog = { declared: false, doctype: undefined, root: undefined };
  let at = 0;
  while (at < text.length) {
    at = text.length - text.slice(at).trimStart().length;
    const end = prologItemEnd(text, at);
    if (end === undefined) {
      prolog.root = /^<([A-Za-z_][\w.:-]*)(?=[\s/>])/.exec(text.slice(at, at + 256))?.[1];
      return prolog;
    }
    if (/^<\?xml\s/i.test(text.slice(at, at + 6))) prolog.declared = true;
    prolog.doctype ??= /^<!doctype\s+([\w.:-]+)/i.exec(text.slice(at, at + 256))?.[1]?.toLowerCase();
    at = end;
  }
  return prolog;
}

/** Where a comment, a processing instruction or a document type ends; undefined when there is none of them here. */
function prologItemEnd(text: string, at: number): number | undefined {
  if (text.startsWith('<!--', at)) return after(text, '-->', at + 4);
  if (text.startsWith('<?', at)) return after(text, '?>', at + 2);
  if (!/^<!doctype/i.test(text.slice(at, at + 9))) return undefined;
  const close = after(text, '>', at);
  const subset = text.indexOf('[', at);
  return subset >= 0 && subset < close ? after(text, '>', after(text, ']', subset)) : close;
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

/** JSON with a mistake in it is still JSON: the tool can say where the mistake is. */
function jsonType({ head, tail, complete }: TextSample): FileTypeId | undefined {
  const start = head.trimStart();
  if (start[0] !== '{' && start[0] !== '[') return undefined;
  if (complete && parses(start)) return 'json';
  if (isNdjson(start, complete)) return 'ndjson';
  const end = tail.trimEnd().at(-1);
  if (start[0] === '{') return /^\{\s*["}]/.test(start) && end === '}' ? 'json' : undefined;
  return /^\[\s*(["{[\]]|-?\d+(\.\d+)?\s*,)/.test(start) && end === ']' ? 'json' : undefined;
}

const linesJudged = 20;

/** Two or more lines that are each a JSON object or array. */
function isNdjson(text: string, complete: boolean): boolean {
  const lines = completeLines(text, complete).slice(0, linesJudged);
  return lines.length > 1 && lines.every((line) => /^\s*[{[]/.test(line) && parses(line));
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The lines that are not blank; the last one only when the text does not go on. */
function completeLines(text: string, complete: boolean): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (!complete) lines.pop();
  return lines.filter((line) => line.trim() !== '');
}

const recordsJudged = 50;
const delimiters = [
  ['\t', 'tsv'],
  [',', 'csv'],
  [';', 'csv'],
] as const;

/** A table: two or more records, and nine in ten have the same number of fields, at least two. */
function tableType({ head, complete }: TextSample): FileTypeId | undefined {
  let best: { type: FileTypeId; fields: number } | undefined;
  for (const [delimiter, type] of delimiters) {
    const fields = commonFieldCount(head, delimiter, complete);
    if (fields > (best?.fields ?? 1)) best = { type, fields };
  }
  return best?.type;
}

/** The number of fields nine in ten records have, or 0 when there is no such number. */
function commonFieldCount(text: string, delimiter: string, complete: boolean): number {
  const counts = fieldCounts(text, delimiter, complete);
  if (counts.length < 2) return 0;
  const tally = new Map<number, number>();
  for (const count of counts) tally.set(count, (tally.get(count) ?? 0) + 1);
  const [fields, records] = [...tally].reduce((most, next) => (next[1] > most[1] ? next : most));
  return records >= counts.length * 0.9 ? fields : 0;
}

/** Fields of each of the first records; a delimiter or a line break inside double quotes is data. */
function fieldCounts(text: string, delimiter: string, complete: boolean): number[] {
  const counts: number[] = [];
  let fields = 1;
  let quoted = false;
  let recordStart = 0;
  for (let at = 0; at < text.length && counts.length < recordsJudged; at++) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === delimiter) fields++;
    else if (character === '\n' || character === '\r') {
      if (text.slice(recordStart, at).trim() !== '') counts.push(fields);
      fields = 1;
      recordStart = at + 1;
    }
  }
  const rest = counts.length < recordsJudged && text.slice(recordStart).trim() !== '';
  if (complete && rest && !quoted) counts.push(fields);
  return counts;
}
