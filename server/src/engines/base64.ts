import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../lib/failure.ts';

export interface Base64Options {
  /** `-` and `_` for `+` and `/`, without padding (RFC 4648, section 5). */
  urlSafe: boolean;
  /** Characters a line; 0 for one line. */
  wrap: number;
  /** Written before the code, such as `data:image/png;base64,`. */
  prefix: string;
}

/** Encodes a file piece by piece. */
export async function encodeBase64(
  input: string,
  output: string,
  options: Base64Options,
  signal: AbortSignal,
): Promise<void> {
  await pipeline(createReadStream(input), base64Encoder(options), createWriteStream(output), { signal });
}

function base64Encoder({ urlSafe, wrap, prefix }: Base64Options): Transform {
  const encoding = urlSafe ? 'base64url' : 'base64';
  let rest: Buffer = Buffer.alloc(0);
  let column = 0;
  let started = false;

  function wrapped(code: string): string {
    if (wrap === 0) return code;
    const lines: string[] = [];
    let at = 0;
    while (at < code.length) {
      const taken = code.slice(at, at + wrap - column);
      lines.push(taken);
      at += taken.length;
      column += taken.length;
      if (column < wrap) break;
      lines.push('\n');
      column = 0;
    }
    return lines.join('');
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = bytes.length - (bytes.length % 3);
      rest = bytes.subarray(whole);
      const start = started ? '' : prefix;
      started = true;
      done(null, start + wrapped(bytes.toString(encoding, 0, whole)));
    },
    flush(done) {
      const end = wrapped(rest.toString(encoding));
      done(null, wrap > 0 && column > 0 ? `${end}\n` : end);
    },
  });
}

/**
 * Decodes a text piece by piece: either alphabet, with or without padding, white space anywhere, a data URI or the BEGIN
 * and END lines of PEM around it.
 *
 * @throws Failure `invalid_input` at the first character that has no place in Base64, and for a text without any.
 */
export async function decodeBase64(
  input: { path: string; filename: string },
  output: string,
  signal: AbortSignal,
): Promise<void> {
  const decoder = base64Decoder(input.filename);
  await pipeline(createReadStream(input.path, 'utf8'), decoder, createWriteStream(output), { signal });
}

/** Longest start of a data URI or of a PEM block that is looked for. */
const longestPreamble = 512;

function base64Decoder(filename: string): Transform {
  const refuse = (message: string) => new Failure('invalid_input', message, { file: filename });
  let preamble: { length: number; isPem: boolean } | undefined;
  let unread = '';
  /** Digits that do not make a group of four yet. */
  let digits = '';
  let position = 0;
  let ended = false;
  let decoded = 0;

  function decode(text: string, isLast: boolean): Buffer {
    const body = preamble?.isPem === true ? text.slice(0, endOfPem(text)) : text;
    const wrong = /[^A-Za-z0-9+/_=\s-]/.exec(ended ? '' : body);
    if (wrong !== null) {
      throw refuse(`"${filename}" is not Base64: "${wrong[0]}" stands at character ${position + wrong.index + 1}.`);
    }
    const code = ended ? '' : digits + body.replaceAll(/\s/g, '');
    ended ||= body.length < text.length;
    position += text.length;
    const isWhole = isLast || ended;
    digits = isWhole ? '' : code.slice(code.length - (code.length % 4));
    return decodeGroups(isWhole ? code : code.slice(0, code.length - digits.length), isWhole);
  }

  function decodeGroups(code: string, isEnd: boolean): Buffer {
    const bare = code.replace(/={1,2}$/, '');
    ended ||= bare.length < code.length;
    if (bare.includes('=')) throw refuse(`"${filename}" goes on after the padding of its Base64.`);
    if (isEnd && bare.length % 4 === 1) throw refuse(`"${filename}" ends in the middle of a Base64 group.`);
    const bytes = Buffer.from(bare, 'base64');
    decoded += bytes.length;
    return bytes;
  }

  function takePreamble(): string {
    const found = /^\uFEFF?\s*(?:data:[^,]{0,400};base64,|(-----BEGIN [^-\n]{1,64}-----))?/.exec(unread);
    preamble = { length: found?.[0].length ?? 0, isPem: found?.[1] !== undefined };
    position = preamble.length;
    return unread.slice(preamble.length);
  }

  return new Transform({
    decodeStrings: false,
    transform(chunk: string, _encoding, done) {
      try {
        if (preamble !== undefined) return done(null, decode(chunk, false));
        unread += chunk;
        done(null, unread.length < longestPreamble ? undefined : decode(takePreamble(), false));
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      try {
        const bytes = decode(preamble === undefined ? takePreamble() : '', true);
        if (decoded === 0) throw refuse(`"${filename}" holds no Base64.`);
        done(null, bytes);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

/** PEM ends at its END line; Base64 of PEM has no dash of its own. */
function endOfPem(text: string): number {
  const dash = text.indexOf('-');
  return dash === -1 ? text.length : dash;
}
