import { createReadStream } from 'node:fs';
import { readHead } from './read-head.ts';

/** Encodings that detection can name; each is a label `TextDecoder` knows. */
export type DetectedEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const sampleBytes = 4096;

/**
 * The encoding of a text file: its byte order mark, the zeros of UTF-16 without one, UTF-8 when every byte of the file
 * fits, and windows-1252 (what "Latin-1" means in practice) for the rest. Reads the file once, in constant memory.
 */
export async function detectEncoding(path: string): Promise<DetectedEncoding> {
  const head = await readHead(path, sampleBytes);
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return utf16WithoutMark(head) ?? ((await isUtf8File(path)) ? 'utf-8' : 'windows-1252');
}

/** Whether a file begins as text: nothing but characters in its first bytes, in any encoding that can be told. */
export async function isTextFile(path: string): Promise<boolean> {
  const head = await readHead(path, sampleBytes);
  if (head.length === 0 || utf16WithoutMark(head) !== undefined) return head.length > 0;
  const hasMark = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  // Tabulator to carriage return, and escape: every other control character is no text.
  return hasMark || head.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b);
}

/** The first characters of a text file, in the encoding its beginning shows: enough for a page, cheap for any file. */
export async function readTextHead(path: string): Promise<string> {
  const head = await readHead(path, sampleBytes);
  const encoding = await detectEncoding(path);
  // The last character may be cut: no complaint about it.
  return new TextDecoder(encoding).decode(head, { stream: true });
}

/** Western text in UTF-16 has a zero in every second byte; no other text has any. */
function utf16WithoutMark(head: Buffer): DetectedEncoding | undefined {
  let even = 0;
  let odd = 0;
  for (let at = 0; at < head.length; at++) {
    if (head[at] !== 0) continue;
    if (at % 2 === 0) even++;
    else odd++;
  }
  if (odd > head.length / 5 && even === 0) return 'utf-16le';
  if (even > head.length / 5 && odd === 0) return 'utf-16be';
  return undefined;
}

async function isUtf8File(path: string): Promise<boolean> {
  try {
    for await (const text of decodeFile(path, 'utf-8')) void text;
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/**
 * The text of a file piece by piece, without its byte order mark.
 *
 * @throws TypeError at bytes that are not of this encoding, RangeError for an encoding there is not.
 */
export async function* decodeFile(
  path: string,
  encoding: string,
  onBytes?: (count: number) => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of createReadStream(path)) {
    const bytes = chunk as Buffer;
    onBytes?.(bytes.length);
    const text = decoder.decode(bytes, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}
