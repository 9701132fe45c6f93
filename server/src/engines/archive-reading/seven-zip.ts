import { createReadStream } from 'node:fs';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { Failure } from '../../lib/failure.ts';
import { runProgram } from '../../sandbox/program.ts';
import { readByBsdtar } from './bsdtar.ts';
import { damagedArchive, passwordFailure, type ArchiveFile, type OnMember, type ReadingOptions } from './member.ts';

/** libarchive streams most 7z archives; encrypted ones, and some filters, only 7-Zip itself can open, and it writes files. */
export async function readSevenZip(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  if (options.password !== undefined) return readBySevenZip(archive, options, onMember);
  const { isEncrypted, methods } = await examine(archive, options.signal);
  if (isEncrypted) throw passwordFailure(archive.filename, undefined);
  const isUsual = [...methods].every((method) => streamedMethods.has(method));
  return (isUsual ? readByBsdtar : readBySevenZip)(archive, options, onMember);
}

/** Compression and filters of 7z that libarchive knows whatever they are combined with, as 7-Zip calls them. */
const streamedMethods = new Set('Copy LZMA LZMA2 PPMD BZip2 Deflate Delta BCJ BCJ2'.split(' '));

/** Reads the list of an archive; of one that 7-Zip cannot open, what another reader will say why. */
async function examine({ path }: ArchiveFile, signal: AbortSignal) {
  const methods = new Set<string>();
  let isEncrypted = false;
  const onLine = (line: string) => {
    // It asks for a password when even the names are encrypted, and gives up without one.
    if (line === 'Encrypted = +' || line.startsWith('Enter password')) isEncrypted = true;
    const [, chain] = /^Method = (.+)/.exec(line) ?? [];
    for (const method of chain?.split(' ') ?? []) methods.add(method.replace(/:.*/, ''));
  };
  await runProgram('7zz', ['l', '-slt', '-ba', '--', path], {
    signal,
    onLine,
    okCodes: [0, 1, 2, 255],
    stdin: '',
  });
  return { isEncrypted, methods };
}

/** Unpacks into a directory by 7-Zip, which is measured while it grows, and hands over what lies there. */
export async function readBySevenZip(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  const directory = join(options.scratch, 'unpacked');
  await mkdir(directory, { mode: 0o700 });
  try {
    await unpackInto(directory, archive, options);
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const { mtime } = await lstat(path);
      const kind = entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'file';
      const content = kind === 'file' ? createReadStream(path) : Readable.from([]);
      await onMember({ path: relative(directory, path), kind, modified: mtime }, content);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** How often the growing directory is measured, in milliseconds. */
const measureEveryMs = 250;

async function unpackInto(
  directory: string,
  { path, filename }: ArchiveFile,
  { password, limits, signal }: ReadingOptions,
): Promise<void> {
  const stop = new AbortController();
  const unlocking = password === undefined ? [] : [`-p${password}`];
  const running = runProgram('7zz', ['x', ...unlocking, `-o${directory}`, '-bd', '-y', '--', path], {
    signal: AbortSignal.any([signal, stop.signal]),
    okCodes: [0, 2],
    stdin: '',
  });
  const watching = watch(directory, limits.maxBytes, stop.signal).then((isFull) => {
    if (isFull) stop.abort(new Failure('resource_limit', `"${filename}" unpacks to too much.`, { file: filename }));
  });
  const { code, stdout, stderrTail } = await running.finally(() => stop.abort());
  await watching;
  if (code === 0) return;
  const log = stdout.slice(-2000) + stderrTail;
  if (/unsupported method/i.test(log)) {
    const message = `"${filename}" is compressed or encrypted in a way that cannot be opened here.`;
    throw new Failure('invalid_input', message, { file: filename, log });
  }
  throw /wrong password|encrypted/i.test(log) ? passwordFailure(filename, password) : damagedArchive(filename, log);
}

/** True as soon as a directory holds more than `maxBytes`; false when it is told to stop. */
async function watch(directory: string, maxBytes: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if ((await sizeOf(directory)) > maxBytes) return true;
    await sleep(measureEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries.map((entry) =>
      lstat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
