import { createHash, randomUUID, type Hash } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { clientError, type MillrunError } from './errors.ts';
import { createPatience } from './patience.ts';
import { bodyOf, type Transport } from './transport.ts';
import type { Output } from './types.ts';
import { anySignal, startWatchdog } from './watchdog.ts';

/** What to do when there is a file of the name: replace it, save under `name-1`, `name-2`, …, or refuse. */
export type OnExists = 'overwrite' | 'rename' | 'fail';

export interface DownloadProgress {
  receivedBytes: number;
  /** Undefined for an archive, which is made as it is sent. */
  totalBytes: number | undefined;
}

export interface SaveOptions {
  /** `overwrite` unless told. */
  onExists?: OnExists | undefined;
  onProgress?: ((progress: DownloadProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** What is downloaded, and what is known of it. */
export interface Source {
  /** As `ApiRequest.path`. */
  path: string;
  expected?: Pick<Output, 'filename' | 'size_bytes' | 'sha256'>;
}

/** After this long without a byte the connection is dead, in milliseconds. */
const silenceMs = 60_000;
/** Names that are tried for one file. */
const mostNames = 10_000;

/**
 * Downloads to a temporary name beside the path, checks size and SHA-256, and only then gives it its name: half a file is
 * never found there, even after a power failure. A download that breaks off is taken up where it broke.
 *
 * @returns The path it was saved under.
 * @throws MillrunError `download_damaged`, `file_unwritable`, `file_exists`, or what the service answers.
 */
export async function save(
  transport: Transport,
  source: Source,
  toPath: string,
  options: SaveOptions = {},
): Promise<string> {
  const path = resolve(toPath);
  const temporary = join(dirname(path), `.millrun-${randomUUID()}.part`);
  const file = await open(temporary, 'wx').catch((error: unknown) => {
    throw unwritable(path, error);
  });
  try {
    try {
      await receive(transport, source, createSink(file, path), options);
      await file.sync();
    } finally {
      await file.close();
    }
    const saved = await giveName(temporary, path, options.onExists ?? 'overwrite');
    await syncDirectory(dirname(saved));
    return saved;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

interface Sink {
  readonly size: number;
  write(chunk: Uint8Array): Promise<void>;
  /** Begins again from nothing. */
  restart(): Promise<void>;
  sha256(): string;
}

function createSink(file: FileHandle, path: string): Sink {
  let hash: Hash = createHash('sha256');
  let size = 0;
  return {
    get size() {
      return size;
    },
    async write(chunk) {
      hash.update(chunk);
      for (let done = 0; done < chunk.length;) {
        const { bytesWritten } = await file.write(chunk, done, chunk.length - done, size).catch((error: unknown) => {
          throw unwritable(path, error);
        });
        done += bytesWritten;
        size += bytesWritten;
      }
    },
    async restart() {
      hash = createHash('sha256');
      size = 0;
      await file.truncate(0);
    },
    sha256: () => hash.digest('hex'),
  };
}

async function receive(transport: Transport, source: Source, sink: Sink, options: SaveOptions): Promise<void> {
  const patience = createPatience(options.signal);
  for (let complete = false; !complete;) {
    const before = sink.size;
    try {
      await receiveRest(transport, source, sink, options);
      complete = true;
    } catch (error) {
      if (source.expected !== undefined && sink.size > before) patience.renew();
      await patience.bear(error);
    }
  }
  if (source.expected !== undefined) check(sink, source.expected);
}

/** The whole, or what is missing of it; an archive, which is made anew each time, always whole. */
async function receiveRest(
  transport: Transport,
  { path, expected }: Source,
  sink: Sink,
  options: SaveOptions,
): Promise<void> {
  if (sink.size > 0 && sink.size === expected?.size_bytes) return;
  const silent = clientError('timed_out', 'The download has gone silent.');
  const watchdog = startWatchdog(silenceMs, silent);
  try {
    const response = await transport.open({
      method: 'GET',
      path,
      headers: { Accept: '*/*', 'Accept-Encoding': 'identity', ...rangeAfter(sink.size, expected?.sha256) },
      repeatable: true,
      retries: 0,
      replyWithinMs: silenceMs,
      signal: anySignal(watchdog.signal, options.signal),
    });
    if (response.status !== 206) await sink.restart();
    else if (!startsAt(response, sink.size)) throw damaged(expected, 'came in the wrong order');
    for await (const chunk of bodyOf(transport, response)) {
      watchdog.touch();
      await sink.write(chunk);
      if (expected !== undefined && sink.size > expected.size_bytes)
        throw damaged(expected, 'is longer than it should be');
      options.onProgress?.({ receivedBytes: sink.size, totalBytes: expected?.size_bytes });
    }
  } finally {
    watchdog.stop();
  }
}

/** The rest, but only of the very same file. */
function rangeAfter(size: number, sha256: string | undefined): Record<string, string> {
  if (size === 0 || sha256 === undefined) return {};
  return { Range: `bytes=${size}-`, 'If-Range': `"${sha256}"` };
}

function startsAt({ headers }: Response, size: number): boolean {
  return headers.get('content-range')?.startsWith(`bytes ${size}-`) === true;
}

function check(sink: Sink, expected: NonNullable<Source['expected']>): void {
  if (sink.size !== expected.size_bytes)
    throw damaged(expected, `has ${sink.size} bytes where it should have ${expected.size_bytes}`);
  if (sink.sha256() !== expected.sha256.toLowerCase())
    throw damaged(expected, 'has another SHA-256 than it should have');
}

function damaged(expected: Source['expected'], how: string): MillrunError {
  const name = expected?.filename ?? 'The download';
  return clientError('download_damaged', `${name} was damaged on the way and not saved: it ${how}.`);
}

async function giveName(temporary: string, path: string, onExists: OnExists): Promise<string> {
  if (onExists === 'overwrite') {
    await rename(temporary, path).catch((error: unknown) => {
      throw unwritable(path, error);
    });
    return path;
  }
  for (let number = 0; number < (onExists === 'rename' ? mostNames : 1); number++) {
    const candidate = numbered(path, number);
    if (await placeAt(temporary, candidate)) return candidate;
  }
  throw clientError('file_exists', `There is a file ${path} already.`);
}

/** False when there is something of this name. The name is taken first: whoever comes at the same time gets another. */
async function placeAt(temporary: string, path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx')).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(path, error);
  }
  try {
    await rename(temporary, path);
    return true;
  } catch (error) {
    await rm(path, { force: true });
    throw unwritable(path, error);
  }
}

/** `photo.jpg`, `photo-1.jpg`, …; `files.tar.gz` keeps both its extensions. */
function numbered(path: string, number: number): string {
  if (number === 0) return path;
  const name = basename(path);
  const extension = /(?<=.)(?:\.tar)?\.[^.]{1,16}$/.exec(name)?.[0] ?? '';
  return join(dirname(path), `${name.slice(0, name.length - extension.length)}-${number}${extension}`);
}

/** Makes the new name last; not every system can. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}

const reasons: Record<string, string> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'its directory does not exist',
  EACCES: 'that is not allowed',
  EPERM: 'that is not allowed',
  EROFS: 'that is not allowed',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EISDIR: 'there is a directory of this name',
  ENAMETOOLONG: 'its name is too long',
};

function unwritable(path: string, error: unknown): MillrunError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return clientError('file_unwritable', `${path} cannot be written: ${reasons[code] ?? message}.`, { cause: error });
}
