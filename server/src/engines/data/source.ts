import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { decodeFile, detectEncoding } from '../../lib/text-encoding.ts';

/** A file to read data from. */
export interface DataSource {
  path: string;
  /** The given name, for messages. */
  filename: string;
  signal: AbortSignal;
  onBytes?: (count: number) => void;
}

/** A fault of the file itself: `"name" …`, a sentence for its owner. */
export function invalid({ filename }: Pick<DataSource, 'filename'>, problem: string, cause?: unknown): Failure {
  return new Failure('invalid_input', `"${filename}" ${problem}`, { file: filename, cause });
}

export function tooLarge({ filename }: Pick<DataSource, 'filename'>, problem: string): Failure {
  return new Failure('resource_limit', `"${filename}" ${problem}`, { file: filename });
}

const megabyte = 1024 * 1024;

/** @throws Failure `resource_limit` above `megabytes`. */
export async function limitSize(source: DataSource, megabytes: number): Promise<void> {
  const { size } = await stat(source.path);
  if (size > megabytes * megabyte)
    throw tooLarge(source, `is larger than the ${megabytes} MB that can be read at once.`);
}

/**
 * The text of a whole file in UTF-8, UTF-16 or windows-1252, without its byte order mark.
 *
 * @throws Failure `resource_limit` above `megabytes`, `invalid_input` when nothing is in it.
 */
export async function readText(source: DataSource, megabytes: number): Promise<string> {
  await limitSize(source, megabytes);
  const pieces: string[] = [];
  for await (const piece of textPieces(source)) pieces.push(piece);
  const text = pieces.join('');
  if (text.trim() === '') throw invalid(source, 'is empty.');
  return text;
}

/** As `readText`, piece by piece and of any size. */
export async function* textPieces(source: DataSource): AsyncGenerator<string> {
  const { path, signal, onBytes } = source;
  try {
    for await (const piece of decodeFile(path, await detectEncoding(path), onBytes)) {
      signal.throwIfAborted();
      yield piece;
    }
  } catch (error) {
    if (errorCode(error) !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw invalid(source, 'has bytes that are not text.', error);
  }
}

const batchCharacters = 64 * 1024;

/** Small pieces joined to larger ones, which streams are quicker with. */
export async function* inBatches(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  let batch = '';
  for await (const piece of pieces) {
    batch += piece;
    if (batch.length < batchCharacters) continue;
    yield batch;
    batch = '';
  }
  if (batch !== '') yield batch;
}

/** Writes text as UTF-8 as fast as the disk takes it. */
export async function writeText(
  target: string,
  pieces: AsyncIterable<string> | Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  await pipeline(Readable.from(inBatches(pieces)), createWriteStream(target), { signal });
}
