import { isUtf8 } from 'node:buffer';
import type { ContentSample } from './content-sample.ts';

/** The beginning and the end of a file that is text, without a byte order mark. */
export interface TextSample {
  head: string;
  tail: string;
  /** True when `head` is the whole file. */
  complete: boolean;
}

/** What no text has: control characters except BEL, BS, TAB, LF, VT, FF, CR, the DOS end mark, ESC and DEL (JSON allows it as it is). */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const notText = /[\x00-\x06\x0e-\x19\x1c-\x1f]/;

/** The text of a UTF-8 or UTF-16 file; undefined when either end of it is something else. */
export function decodeUnicode(sample: ContentSample): TextSample | undefined {
  const encoding = unicodeEncoding(sample);
  if (encoding === undefined) return undefined;
  return asText(sample, (bytes) => new TextDecoder(encoding).decode(bytes));
}

/** The text of a file in one of the older encodings: every byte may be a letter, only control characters tell. */
export function decodeLegacyText(sample: ContentSample): TextSample | undefined {
  return asText(sample, (bytes) => bytes.toString('latin1'));
}

function asText(sample: ContentSample, decode: (bytes: Buffer) => string): TextSample | undefined {
  const complete = sample.size <= sample.head.length;
  const head = decode(sample.head);
  const tail = complete ? head : decode(sample.tail);
  if (notText.test(head) || (!complete && notText.test(tail))) return undefined;
  return { head, tail, complete };
}

function unicodeEncoding({ head, tail, size }: ContentSample): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return size % 2 === 0 ? 'utf-16le' : undefined;
  if (head[0] === 0xfe && head[1] === 0xff) return size % 2 === 0 ? 'utf-16be' : undefined;
  if (isUtf8(wholeCharacters(head)) && isUtf8(wholeCharacters(tail))) {
    return size % 2 === 0 ? (utf16WithoutMark(head) ?? 'utf-8') : 'utf-8';
  }
  return undefined;
}

/** The bytes without a character that was cut at either end. */
function wholeCharacters(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  let end = bytes.length;
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (length > back) end = bytes.length - back;
    break;
  }
  return bytes.subarray(start, end);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Latin text in UTF-16 has a zero in every second byte, and UTF-8 text has none at all. */
function utf16WithoutMark(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const looked = Math.min(head.length, 4096);
  const zeros = [0, 0];
  for (let at = 0; at < looked; at++) if (head[at] === 0) zeros[at % 2]!++;
  const [even = 0, odd = 0] = zeros;
  if (odd > looked / 5 && even === 0) return 'utf-16le';
  if (even > looked / 5 && odd === 0) return 'utf-16be';
  return undefined;
}
