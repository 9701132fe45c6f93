import type { Readable } from 'node:stream';
import { AppError, errorCode, unavailable } from '../lib/errors.ts';
import type { ContentSample } from './content-sample.ts';

/** Bytes as they come: of an upload, of another store, of a file. Chunks are kept until written: not to be reused. */
export type ByteSource = AsyncIterable<Uint8Array>;

/** First and last byte of a part, both included, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Where bytes live. A key is `<area>/<id>/<part>…`, made by us (`runs/<uuid>/in/0`); a prefix is the beginning of one by
 * whole segments. Every method rejects any other key with a plain Error, since only a mistake of ours can make one.
 *
 * When the storage fails: AppError 507 `storage_full` or 503 `storage_unavailable`. `store.contract.ts` is the suite that
 * every driver passes.
 */
export interface FileStore {
  /**
   * Streams to a key. A reader sees the whole file or none, and it survives a power cut once this resolves. When the
   * source fails, its error is thrown and nothing stays; when the storage fails, a source that is a stream is destroyed.
   * @throws FileNotFound when the prefix was removed meanwhile
   */
  put(key: string, source: ByteSource): Promise<{ sizeBytes: number }>;

  /**
   * The bytes of a file, or of a part of it. The stream is to be read or destroyed.
   * @throws FileNotFound
   */
  read(key: string, range?: ByteRange): Promise<Readable>;

  /** In bytes; undefined when there is no such file. */
  size(key: string): Promise<number | undefined>;

  /**
   * Makes a file readable at a local path that does not exist yet. It may be the very file of the store, linked: whoever
   * gets it must not be able to write to it.
   * @throws FileNotFound
   */
  stage(key: string, path: string): Promise<void>;

  /**
   * Copies a finished local file, written by somebody we do not trust, into the store; one pass gives its hash and its
   * sample of exactly the bytes that were stored. The last segment of `path` may be hostile, the directory must be ours.
   * @throws Failure `engine_failed` for anything but a regular file with a single name
   */
  publish(path: string, key: string): Promise<PublishedFile>;

  /**
   * Removes everything below a prefix of at least an area and an id. Resolves when it is gone, also when nothing was there.
   * It does not hold off a `put` that begins later: whoever removes a run has ended its writers first.
   */
  removeAll(prefix: string): Promise<void>;

  /** The prefixes `<area>/<id>` of an area that were last added to before a time: for the janitor. */
  list(area: string, before: Date): AsyncIterable<string>;

  /** Bytes that can still be stored; undefined when the storage knows no limit. */
  freeBytes(): Promise<number | undefined>;

  /** @throws AppError when nothing can be written */
  check(): Promise<void>;
}

export interface PublishedFile {
  sizeBytes: number;
  /** In lower case hexadecimal. */
  sha256: string;
  sample: ContentSample;
}

/** There is no file under a key, or no longer. */
export class FileNotFound extends Error {
  override readonly name = 'FileNotFound';
  readonly key: string;

  constructor(key: string, options?: ErrorOptions) {
    super(`no file ${key}`, options);
    this.key = key;
  }
}

const areaPattern = /^[a-z]{1,20}$/;
const segmentPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The segments of a key or a prefix. No segment can be empty, `..` or hidden. */
export function parseKey(key: string): { area: string; id: string; parts: string[] } {
  const [area = '', id = '', ...parts] = key.split('/');
  const valid = areaPattern.test(area) && segmentPattern.test(id) && parts.every((part) => segmentPattern.test(part));
  if (!valid || parts.length > 6) throw new Error(`not a storage key: ${JSON.stringify(key)}`);
  return { area, id, parts };
}

/** As `parseKey`, for a key that names a file: something has to follow the id. */
export function parseFileKey(key: string): { area: string; id: string; parts: string[] } {
  const parsed = parseKey(key);
  if (parsed.parts.length === 0) throw new Error(`not the key of a file: ${JSON.stringify(key)}`);
  return parsed;
}

/** The name of an area, or an Error. */
export function parseArea(area: string): string {
  if (!areaPattern.test(area)) throw new Error(`not a storage area: ${JSON.stringify(area)}`);
  return area;
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** A storage's own error as the service tells it: no room, or not working. */
export function storageError(cause: unknown): AppError {
  if (fullCodes.has(errorCode(cause) ?? '')) {
    return new AppError(507, 'storage_full', 'The storage of this server is full. Try again later.', { cause });
  }
  return unavailable(
    'storage_unavailable',
    'The storage of this server is not available. Try again shortly.',
    30,
    cause,
  );
}
