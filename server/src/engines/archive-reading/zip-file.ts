import { close, createReadStream, open as openFile, read } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { fromRandomAccessReaderPromise, openPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { readAt } from './rar-blocks.ts';

/**
 * Opens a ZIP, also one with bytes before it (a program that unpacks itself) or after it: positions count from where the
 * ZIP begins. A comment is left out: yauzl would take the first signature in it for the last record.
 *
 * @throws Error for what is no ZIP
 */
export async function openZip(path: string): Promise<ZipFile> {
  const bounds = await boundsOf(path);
  if (bounds === undefined) return openPromise(path, { autoClose: false });
  const size = bounds.end - bounds.start;
  const part = new PartOfFile(await promisify(openFile)(path, 'r'), bounds.start, size);
  try {
    return await fromRandomAccessReaderPromise(part, size, { autoClose: false });
  } catch (error) {
    part.close(() => undefined);
    throw error;
  }
}

const commentLengthBytes = 2;

/** A ZIP whose comment is cut off: the length that its last record states is read as 0. Closes the file when it is closed. */
class PartOfFile extends RandomAccessReader {
  readonly #fd: number;
  readonly #start: number;
  readonly #commentLengthAt: number;

  constructor(fd: number, start: number, size: number) {
    super();
    this.#fd = fd;
    this.#start = start;
    this.#commentLengthAt = size - commentLengthBytes;
  }

  override _readStreamForRange(start: number, end: number) {
    const range = { start: this.#start + start, end: this.#start + end - 1 };
    // A stream that is destroyed closes its file, whatever `autoClose` says; this one is not its own.
    const fs = { read, close: (_fd: number, done: (error?: Error | null) => void) => done(null) };
    return createReadStream('', { fd: this.#fd, autoClose: false, fs, ...range });
  }

  override read(...[buffer, offset, length, position, done]: Parameters<RandomAccessReader['read']>): void {
    read(this.#fd, buffer, offset, length, this.#start + position, (error, bytesRead) => {
      if (error !== null) return done(error);
      if (bytesRead < length) return done(new Error('the file ends too early'));
      const hidden = Math.max(0, this.#commentLengthAt - position);
      if (hidden < length) buffer.fill(0, offset + hidden, offset + length);
      done(null);
    });
  }

  override close(done: (error: Error | null) => void): void {
    close(this.#fd, done);
  }
}

const signatures = { entry: 'PK\x01\x02', end: 'PK\x05\x06', end64: 'PK\x06\x06', locator64: 'PK\x06\x07' };
const [endBytes, end64Bytes, locator64Bytes] = [22, 56, 20];
/** How far from the end of a file the last record of a ZIP is looked for: a comment takes up to 64 KiB. */
const searched = 128 * 1024;

/** Where a ZIP lies in a file, without its comment; undefined when it cannot be found. */
async function boundsOf(path: string): Promise<{ start: number; end: number } | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  const tailAt = Math.max(0, size - searched);
  const tail = await readAt(file, tailAt, size - tailAt);
  for (let at = tail.length; at > 0;) {
    at = tail.lastIndexOf(signatures.end, at - 1, 'latin1');
    if (at < 0 || at + endBytes > tail.length) continue;
    const end = tailAt + at + endBytes;
    if (end + tail.readUInt16LE(at + 20) > size) continue;
    const directory = (await directory64(file, tailAt + at)) ?? {
      end: tailAt + at,
      size: tail.readUInt32LE(at + 12),
      stated: tail.readUInt32LE(at + 16),
    };
    const directoryAt = directory.end - directory.size;
    const start = directoryAt - directory.stated;
    if (start >= 0 && (await startsDirectory(file, directoryAt))) return { start, end };
  }
  return undefined;
}

/** The list of a ZIP64, whose last record stands before the usual one at `endAt`. */
async function directory64(file: FileHandle, endAt: number) {
  const at = endAt - locator64Bytes - end64Bytes;
  if (at < 0) return undefined;
  const record = await readAt(file, at, end64Bytes + locator64Bytes);
  if (record.toString('latin1', 0, 4) !== signatures.end64) return undefined;
  if (record.toString('latin1', end64Bytes, end64Bytes + 4) !== signatures.locator64) return undefined;
  return { end: at, size: Number(record.readBigUInt64LE(40)), stated: Number(record.readBigUInt64LE(48)) };
}

async function startsDirectory(file: FileHandle, at: number): Promise<boolean> {
  const start = (await readAt(file, at, 4)).toString('latin1');
  return start === signatures.entry;
}
