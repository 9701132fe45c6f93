import { createReadStream } from 'node:fs';
import { detectEncoding } from '../lib/text-encoding.ts';
import { readHead } from '../lib/read-head.ts';

const headBytes = 4096;
const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

/** What a page says itself: in an XML declaration, or in a meta element; the charset of a script says nothing of the page. */
const declarations = [/^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w:.-]+)/i, /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i];

/** The encoding of an HTML page as a browser tells it: the byte order mark, what the page says itself, else its bytes. */
async function htmlEncoding(path: string): Promise<string> {
  const [head, detected] = await Promise.all([readHead(path, headBytes), detectEncoding(path)]);
  if (head.subarray(0, 3).equals(utf8Mark)) return 'utf-8';
  if (detected.startsWith('utf-16')) return detected;
  const declared = declaredEncoding(head.toString('latin1'));
  // A declaration that can be read as ASCII is not in UTF-16, whatever it says.
  if (declared === undefined || declared.startsWith('utf-16')) return detected;
  if (declared !== 'utf-8' || detected === 'utf-8') return declared;
  return (await isMostlyUtf8(path)) ? declared : detected;
}

function declaredEncoding(head: string): string | undefined {
  for (const declaration of declarations) {
    const label = declaration.exec(head)?.[1];
    try {
      if (label !== undefined) return new TextDecoder(label).encoding;
    } catch {
      // A name nobody knows.
    }
  }
  return undefined;
}

/** Whether a page that says UTF-8 only has a slip in it, rather than being written in another encoding. */
async function isMostlyUtf8(path: string): Promise<boolean> {
  let good = 0;
  let bad = 0;
  for await (const text of decodeAs(path, 'utf-8')) {
    bad += text.match(/\ufffd/g)?.length ?? 0;
    good += text.match(/[\u0080-\ufffc]/g)?.length ?? 0;
  }
  return good > bad;
}

/** The text of an HTML page piece by piece. As in a browser, bytes that are of no character become replacement characters. */
export async function* decodeHtmlFile(path: string): AsyncGenerator<string> {
  yield* decodeAs(path, await htmlEncoding(path));
}

async function* decodeAs(path: string, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of createReadStream(path)) {
    const text = decoder.decode(chunk as Buffer, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}
