import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../lib/failure.ts';
import { readHead } from '../lib/read-head.ts';
import { detectEncoding } from '../lib/text-encoding.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';
import { mayBeWestern } from './western-text.ts';

export const iconv: Engine = {
  id: 'iconv-lite',
  name: 'iconv-lite',
  license: 'MIT',
  version: () => packageVersion('iconv-lite'),
};

/** Encodings by the names people know; `latin1` is what is meant by it everywhere, windows-1252. */
const codecs = {
  'utf-8': 'utf8',
  'utf-16': 'utf16le',
  'utf-16be': 'utf16be',
  latin1: 'win1252',
  'windows-1250': 'win1250',
  'windows-1251': 'win1251',
  'windows-1253': 'win1253',
  'windows-1254': 'win1254',
  'windows-1255': 'win1255',
  'windows-1256': 'win1256',
  'windows-1257': 'win1257',
  'iso-8859-2': 'iso88592',
  'iso-8859-5': 'iso88595',
  'iso-8859-7': 'iso88597',
  'iso-8859-9': 'iso88599',
  'iso-8859-15': 'iso885915',
  'koi8-r': 'koi8r',
  cp437: 'cp437',
  cp850: 'cp850',
  cp866: 'cp866',
  macroman: 'macroman',
  shift_jis: 'shiftjis',
  'euc-jp': 'eucjp',
  gb18030: 'gb18030',
  big5: 'big5',
  'euc-kr': 'euckr',
  ascii: 'ascii',
} as const;
export type TextEncoding = keyof typeof codecs;
export const textEncodings = Object.keys(codecs) as [TextEncoding, ...TextEncoding[]];

/** What chardet calls those it can find, where that is not our name. */
const detected: Readonly<Record<string, TextEncoding>> = {
  ASCII: 'utf-8',
  'ISO-8859-1': 'latin1',
  'windows-1252': 'latin1',
  Shift_JIS: 'shift_jis',
};

/** Encodings of languages with Latin letters. */
const western = new Set<TextEncoding>([
  'latin1',
  'windows-1250',
  'windows-1254',
  'windows-1257',
  'iso-8859-2',
  'iso-8859-9',
]);

/** Of 100: below it chardet guesses. Right answers on short natural texts had 28 and more, wrong ones up to 21. */
const lowestConfidence = 25;

/**
 * The encoding of a text: certain for Unicode; the likeliest, by how often letters and pairs of them occur, for older ones.
 *
 * @throws Failure `invalid_input` when it cannot be told.
 */
export async function detectTextEncoding({
  path,
  filename,
}: {
  path: string;
  filename: string;
}): Promise<TextEncoding> {
  const certain = await detectEncoding(path);
  if (certain === 'utf-8' || certain === 'utf-16be') return certain;
  if (certain === 'utf-16le') return 'utf-16';
  const { analyse } = await import('chardet');
  const sample = await readHead(path, sampleBytes);
  const [likely] = analyse(sample);
  const name = likely === undefined ? '' : (detected[likely.name] ?? likely.name.toLowerCase());
  const encoding = textEncodings.find((known) => known === name);
  const isPossible = encoding !== undefined && (!western.has(encoding) || mayBeWestern(sample));
  if (isPossible && (likely?.confidence ?? 0) >= lowestConfidence) return encoding;
  throw refuse(filename, 'is in an encoding that cannot be told from its content; say it with "from"');
}

const sampleBytes = 256 * 1024;

interface Target {
  path: string;
  from: TextEncoding;
  to: TextEncoding;
  newline: 'keep' | 'lf' | 'crlf';
  bom: boolean;
}

/**
 * Writes a text in another encoding, piece by piece.
 *
 * @throws Failure `invalid_input` for bytes that are not of the source encoding, and for a character the target has none of.
 */
export async function convertText(
  input: { path: string; filename: string },
  { path, from, to, newline, bom }: Target,
  { signal, onBytes }: { signal: AbortSignal; onBytes(count: number): void },
): Promise<void> {
  const { default: library } = await import('iconv-lite');
  const decoder = from.startsWith('utf-') ? strictDecoder(from) : library.getDecoder(codecs[from]);
  const encoder = library.getEncoder(codecs[to], { addBOM: bom });
  const isLossless = to.startsWith('utf-') || to === 'gb18030';
  let afterReturn = false;

  function lineEnds(text: string): string {
    if (newline === 'keep') return text;
    // A CR LF that was cut between two pieces is one line end.
    const whole = afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    afterReturn = text.endsWith('\r');
    return whole.replaceAll(/\r\n|\r|\n/g, newline === 'lf' ? '\n' : '\r\n');
  }

  function convert(text: string): Buffer {
    if (!from.startsWith('utf-') && text.includes('\uFFFD')) throw notInEncoding();
    const changed = lineEnds(text);
    const bytes = encoder.write(changed);
    if (!isLossless) assertKept(changed, library.decode(bytes, codecs[to]));
    return bytes;
  }

  function notInEncoding(): Failure {
    return refuse(input.filename, `is not ${from}: it has bytes that are no character of it`);
  }

  function assertKept(text: string, back: string): void {
    if (text === back) return;
    const kept = [...back];
    const lost = [...text].find((character, index) => kept[index] !== character) ?? '';
    throw refuse(input.filename, `has the character "${lost}", which ${to} does not have`);
  }

  const conversion = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes(chunk.length);
      try {
        done(null, convert(decoder.write(chunk)));
      } catch (error) {
        done(error instanceof TypeError ? notInEncoding() : (error as Error));
      }
    },
    flush(done) {
      try {
        const rest = convert(decoder.end() ?? '');
        done(null, Buffer.concat([rest, encoder.end() ?? Buffer.alloc(0)]));
      } catch (error) {
        done(error instanceof TypeError ? notInEncoding() : (error as Error));
      }
    },
  });
  await pipeline(createReadStream(input.path), conversion, createWriteStream(path), { signal });
}

/** Unlike iconv-lite's, it tells a wrong byte from a replacement character that is really there: by a TypeError. */
function strictDecoder(encoding: TextEncoding): { write(bytes: Buffer): string; end(): string } {
  const decoder = new TextDecoder(encoding === 'utf-16' ? 'utf-16le' : encoding, { fatal: true });
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

function refuse(filename: string, problem: string): Failure {
  return new Failure('invalid_input', `"${filename}" ${problem}.`, { file: filename });
}

/**
 * A whole text from its bytes, without its byte order mark.
 *
 * @throws Failure `invalid_input` for bytes that are not of the encoding.
 */
export async function decodeText(bytes: Buffer, encoding: TextEncoding, filename: string): Promise<string> {
  const wrong = () => refuse(filename, `is not ${encoding}: it has bytes that are no character of it`);
  if (encoding.startsWith('utf-')) {
    try {
      return new TextDecoder(encoding === 'utf-16' ? 'utf-16le' : encoding, { fatal: true }).decode(bytes);
    } catch {
      throw wrong();
    }
  }
  const { default: library } = await import('iconv-lite');
  const text = library.decode(bytes, codecs[encoding]);
  if (text.includes('\uFFFD')) throw wrong();
  return text;
}
