import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { filterProgram } from '../../sandbox/program.ts';
import { damagedArchive, type ArchiveFile, type OnMember, type ReadingOptions } from './member.ts';
import { readTarStream, readWithHardLinks } from './tar.ts';

/** Reads what one compression method has packed: a TAR, or a single file. */
export function readCompressed(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  return readWithHardLinks(archive, options, onMember, (onEach) => readOnce(archive, options, onEach));
}

async function readOnce(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  const unpacked = new PassThrough();
  const unpacking = unpack(archive, unpacked, options.signal);
  unpacking.catch((error: Error) => unpacked.destroy(error));
  const { head, rest } = await peek(unpacked, tarHeaderBytes);
  if (isTarHeader(head)) await readTarStream(rest, archive, options, onMember);
  else await onMember({ path: nameInside(archive), kind: 'file', modified: undefined }, rest);
  rest.resume();
  await unpacking;
}

async function unpack({ path, type, filename }: ArchiveFile, output: PassThrough, signal: AbortSignal): Promise<void> {
  if (type === 'zst') return unpackZstd(path, output, signal);
  const input = createReadStream(path);
  if (type === 'gz') return pipeline(input, createGunzip(), output, { signal });
  const method = type === 'bz2' ? 'bzip2' : 'xz';
  try {
    await filterProgram('7zz', ['x', `-t${method}`, '-si', '-so', '-an', '-bd'], { input, output, signal });
  } catch (error) {
    throw error instanceof Failure && error.code === 'engine_failed'
      ? damagedArchive(filename, error.log ?? '')
      : error;
  }
}

/** Node's decoder ends with the first frame; parallel compressors and `cat` make files of several. */
async function unpackZstd(path: string, output: PassThrough, signal: AbortSignal): Promise<void> {
  const { size } = await stat(path);
  for (let at = 0; at < size;) {
    const input = createReadStream(path, { start: at });
    const frame = createZstdDecompress();
    input.once('error', (error) => frame.destroy(error));
    try {
      await pipeline(input.pipe(frame), output, { signal, end: false });
    } finally {
      input.destroy();
    }
    if (frame.bytesWritten === 0) throw new Error('a frame of no bytes');
    at += frame.bytesWritten;
  }
  output.end();
}

const tarHeaderBytes = 512;
const checksumField = { start: 148, end: 156 };

/** The sum of all bytes of the header, with its own field read as blanks, is written in that field in octal. */
function isTarHeader(head: Buffer): boolean {
  if (head.length < tarHeaderBytes) return false;
  let sum = 0;
  for (const [at, byte] of head.entries()) sum += at >= checksumField.start && at < checksumField.end ? 0x20 : byte;
  const stated = head.toString('latin1', checksumField.start, checksumField.end).replaceAll(/[\0 ]/g, '');
  return /^[0-7]+$/.test(stated) && Number.parseInt(stated, 8) === sum;
}

/** The beginning of a stream, and a stream that still has all of it. */
async function peek(stream: Readable, bytes: number): Promise<{ head: Buffer; rest: Readable }> {
  const head = await new Promise<Buffer>((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const finish = () => {
      stream.off('readable', read);
      stream.off('end', finish);
      stream.off('error', reject);
      resolve(Buffer.concat(parts));
    };
    const read = () => {
      for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
        parts.push(chunk);
        length += chunk.length;
        if (length >= bytes) return finish();
      }
    };
    stream.on('readable', read).once('end', finish).once('error', reject);
  });
  if (head.length > 0 && !stream.readableEnded) stream.unshift(head);
  const rest = stream.readableEnded ? refilled(head) : stream;
  return { head: head.subarray(0, bytes), rest };
}

function refilled(bytes: Buffer): Readable {
  const stream = new PassThrough();
  stream.end(bytes);
  return stream;
}

const suffixes: Partial<Record<FileTypeId, RegExp>> = {
  gz: /\.gz$/i,
  bz2: /\.bz2$/i,
  xz: /\.xz$/i,
  zst: /\.zst$/i,
};

/** `notes.txt.gz` holds `notes.txt`. */
function nameInside({ filename, type }: ArchiveFile): string {
  const name = filename.replace(suffixes[type] ?? /$^/, '');
  return name === filename || name === '' ? `${filename}.unpacked` : name;
}
