import { createReadStream, createWriteStream } from 'node:fs';
import { PassThrough, Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import type { Pack } from 'tar-stream';
import type { ArchiveEntry, ArchiveOptions } from './archive-entry.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';
import { compressXz, writeSevenZip } from './seven-zip.ts';

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

type StreamOptions = ArchiveOptions & { onBytes(count: number): void };

/**
 * The time every entry carries: the first one ZIP can hold, at an hour that is the same year in every time zone. An upload
 * has no time of its own, and this way the same files make the same archive.
 */
const entryTime = new Date('1980-01-01T12:00:00Z');

/** Writes a ZIP, in ZIP64 where sizes or counts ask for it. One input file is open at a time. */
export async function writeZip(
  target: string,
  entries: readonly ArchiveEntry[],
  options: StreamOptions,
): Promise<void> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  for (const { name, path, sizeBytes, isDirectory, modified, mode } of entries) {
    const mtime = zipTime(modified);
    if (isDirectory === true) {
      zip.addEmptyDirectory(name, { mtime });
      continue;
    }
    const details = { size: sizeBytes, compressionLevel: options.level, mtime, mode: 0o100000 | (mode ?? 0o644) };
    zip.addReadStreamLazy(name, details, (give) => {
      const input = readCounted(path, options.onBytes);
      input.once('error', (error) => (zip.outputStream as PassThrough).destroy(error));
      give(null, input);
    });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(target), { signal: options.signal });
}

const zipYears = { first: 1980, last: 2107 };

/** A ZIP has no room for other years. */
function zipTime(modified = entryTime): Date {
  const year = modified.getUTCFullYear();
  return year > zipYears.first && year < zipYears.last ? modified : entryTime;
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
    keepOrder: true,
    signal,
  });
  for (const { name, path, isDirectory, modified } of entries) {
    signal.throwIfAborted();
    const lastModDate = zipTime(modified);
    if (isDirectory === true) await zip.add(`${name}/`, undefined, { directory: true, lastModDate });
    else await zip.add(name, Readable.toWeb(readCounted(path, onBytes)) as ReadableStream, { lastModDate });
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
  for (const { name, path, sizeBytes, isDirectory, modified: mtime = entryTime, mode } of entries) {
    signal.throwIfAborted();
    if (isDirectory === true) {
      tar.entry({ name: `${name}/`, type: 'directory', mtime, mode: mode ?? 0o755 });
      continue;
    }
    const entry = tar.entry({ name, size: sizeBytes, mtime, mode: mode ?? 0o644 });
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

/** Formats an archive can be written in, by their extensions. */
export const archiveFormats = ['zip', 'tar', 'tar.gz', 'tar.xz', 'tar.zst', '7z'] as const;
export type ArchiveFormat = (typeof archiveFormats)[number];

const tarCompressions = { tar: 'none', 'tar.gz': 'gz', 'tar.xz': 'xz', 'tar.zst': 'zst' } as const satisfies Partial<
  Record<ArchiveFormat, TarCompression>
>;

/** Writes an archive of any format; only ZIP and 7z have a place for a password. */
export async function writeArchive(
  format: ArchiveFormat,
  target: string,
  entries: readonly ArchiveEntry[],
  options: StreamOptions & { scratch: string; onPercent(percent: number): void },
): Promise<void> {
  if (format === '7z') return writeSevenZip(target, entries, options);
  if (format !== 'zip') return writeTar(target, entries, tarCompressions[format], options);
  const { password } = options;
  if (password === undefined) return writeZip(target, entries, options);
  return writeEncryptedZip(target, entries, { ...options, password });
}

/** Compresses one file. `level` is the format's own: to 9 for gz and xz, 11 for br, 19 for zst. */
export async function compressFile(
  input: string,
  output: string,
  format: 'gz' | 'zst' | 'xz' | 'br',
  { level, signal, onBytes }: Pick<StreamOptions, 'level' | 'signal' | 'onBytes'>,
): Promise<void> {
  const [source, target] = [readCounted(input, onBytes), createWriteStream(output)];
  if (format === 'xz') return compressXz(source, target, level, signal);
  const compress = {
    gz: () => createGzip({ level }),
    br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: level } }),
    zst: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level } }),
  }[format];
  await pipeline(source, compress(), target, { signal });
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
