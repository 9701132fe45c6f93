import { createReadStream, createWriteStream } from 'node:fs';
import { PassThrough, Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { Pack } from 'tar-stream';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';
import { compressXz } from './seven-zip.ts';

export const yazl: Engine = {
  id: 'yazl',
  name: 'yazl',
  license: 'MIT',
  version: () => packageVersion('yazl'),
};

export const zipJs: Engine = {
  id: 'zip.js',
  name: 'zip.js',
  license: 'BSD-3-Clause',
  version: () => packageVersion('@zip.js/zip.js'),
};

export const tarStream: Engine = {
  id: 'tar-stream',
  name: 'tar-stream',
  license: 'MIT',
  version: () => packageVersion('tar-stream'),
};

export interface ArchiveEntry {
  /** One path segment, unique in the archive. */
  name: string;
  path: string;
  sizeBytes: number;
}

export interface ArchiveOptions {
  /** 0 (store) to 9 (smallest). */
  level: number;
  password?: string | undefined;
  signal: AbortSignal;
}

type StreamOptions = ArchiveOptions & { onBytes(count: number): void };

/**
 * The time every entry carries: the first one ZIP can hold, at an hour that is the same year in every time zone. An upload
 * has no time of its own, and this way the same files make the same archive.
 */
const entryTime = new Date('1980-01-01T12:00:00Z');

/** Names for entries: one segment each, a clash (also by case, for disks that do not tell it apart) gets `-1`, `-2`, … */
export function entryNames(filenames: readonly string[]): string[] {
  const taken = new Set<string>();
  return filenames.map((filename) => {
    const plain = filename.replaceAll(/[/\\]/g, '_');
    const segment = /^\.*$/.test(plain) ? 'file' : plain;
    const [, stem = segment, extension = ''] = /^(.+?)((?:\.tar)?\.[^.]*)?$/su.exec(segment) ?? [];
    let name = segment;
    for (let n = 1; taken.has(name.toLowerCase()); n++) name = `${stem}-${n}${extension}`;
    taken.add(name.toLowerCase());
    return name;
  });
}

/** Writes a ZIP, in ZIP64 where sizes or counts ask for it. One input file is open at a time. */
export async function writeZip(
  target: string,
  entries: readonly ArchiveEntry[],
  options: StreamOptions,
): Promise<void> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  for (const { name, path, sizeBytes } of entries) {
    const details = { size: sizeBytes, compressionLevel: options.level, mtime: entryTime, mode: 0o100644 };
    zip.addReadStreamLazy(name, details, (give) => {
      const input = readCounted(path, options.onBytes);
      input.once('error', (error) => (zip.outputStream as PassThrough).destroy(error));
      give(null, input);
    });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(target), { signal: options.signal });
}

/** Writes a ZIP whose files are encrypted with AES-256 (WinZip's AE-2). Names stay readable: ZIP cannot hide them. */
export async function writeEncryptedZip(
  target: string,
  entries: readonly ArchiveEntry[],
  { level, password, signal, onBytes }: StreamOptions & { password: string },
): Promise<void> {
  const { configure, ZipWriter } = await import('@zip.js/zip.js');
  configure({ useWebWorkers: false });
  const zip = new ZipWriter(Writable.toWeb(createWriteStream(target)) as WritableStream, {
    level,
    password,
    encryptionStrength: 3,
    lastModDate: entryTime,
    keepOrder: true,
    signal,
  });
  for (const { name, path } of entries) {
    signal.throwIfAborted();
    await zip.add(name, Readable.toWeb(readCounted(path, onBytes)) as ReadableStream);
  }
  await zip.close();
}

export type TarCompression = 'none' | 'gz' | 'xz' | 'zst';

/** Writes a TAR (POSIX, with PAX headers where a name or a size asks for them), compressed or not. */
export async function writeTar(
  target: string,
  entries: readonly ArchiveEntry[],
  compression: TarCompression,
  options: StreamOptions,
): Promise<void> {
  const { pack } = await import('tar-stream');
  const tar = pack();
  const output = createWriteStream(target);
  const { level, signal } = options;
  const filled = fillTar(tar, entries, options).catch((error: Error) => tar.destroy(error));
  // Node's own stream on both sides: tar-stream's is a streamx one, which pipeline() does not fully know.
  const packed = Readable.from(tar);
  if (compression === 'xz') await compressXz(packed, output, level, signal);
  else await pipeline(packed, compressor(compression, level), output, { signal });
  await filled;
}

async function fillTar(tar: Pack, entries: readonly ArchiveEntry[], { onBytes, signal }: StreamOptions): Promise<void> {
  for (const { name, path, sizeBytes } of entries) {
    signal.throwIfAborted();
    const entry = tar.entry({ name, size: sizeBytes, mtime: entryTime, mode: 0o644 });
    await pipeline(readCounted(path, onBytes), entry);
  }
  tar.finalize();
}

/** Zstandard levels for 0 to 9: its own scale goes to 19 at speeds of one core. */
const zstdLevels = [1, 1, 2, 3, 5, 7, 9, 12, 15, 19];

function compressor(compression: 'none' | 'gz' | 'zst', level: number): Transform {
  if (compression === 'gz') return createGzip({ level });
  if (compression === 'none') return new PassThrough();
  return createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: zstdLevels[level] ?? 9 } });
}

function readCounted(path: string, onBytes: (count: number) => void): Readable {
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  const file = createReadStream(path);
  file.once('error', (error) => counter.destroy(error));
  return file.pipe(counter);
}
