import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  opendir,
  rename,
  rm,
  stat,
  statfs,
  unlink,
} from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { AppError, errorCode } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';
import { createSampler } from './content-sample.ts';
import {
  type ByteSource,
  FileNotFound,
  type FileStore,
  parseArea,
  parseFileKey,
  parseKey,
  type PublishedFile,
  storageError,
} from './store.ts';

const directoryMode = 0o700;
const fileMode = 0o600;

/** Bytes gathered for one write or read: a call costs as much as copying some hundred kB. */
const blockLength = 1024 * 1024;

/**
 * A store in a directory: `<root>/<area>/<last two characters of the id>/<id>/…`. The end of an id is random and its
 * beginning is the time, so the end spreads the entries over 256 directories.
 */
export function createDiskStore({ root }: { root: string }): FileStore {
  const base = resolve(root);

  function pathOf({ area, id, parts }: { area: string; id: string; parts: string[] }): string {
    const path = join(base, area, id.slice(-2).toLowerCase(), id, ...parts);
    const inside = relative(base, path);
    if (inside === '' || inside.startsWith(`..${sep}`) || inside === '..' || isAbsolute(inside)) {
      throw new Error(`a storage key leaves the storage: ${path}`);
    }
    return path;
  }

  return {
    async put(key, source) {
      const path = pathOf(parseFileKey(key));
      // Iterating notices a stream's failure, but only once it has begun, and an error nobody listens to ends the process.
      if (source instanceof Readable) source.on('error', () => undefined);
      try {
        return await writeAtomically(path, key, (file) => writeSource(file, source));
      } catch (error) {
        if (source instanceof Readable) source.destroy();
        throw error;
      }
    },

    async read(key, range) {
      const file = await openStored(pathOf(parseFileKey(key)), key);
      // A stream makes a buffer of this size for every read: a small file must not cost a large one.
      const { size } = await onDisk(file.stat());
      return file.createReadStream({ highWaterMark: Math.max(1, Math.min(blockLength, size)), ...range });
    },

    async size(key) {
      const found = await statIfFile(pathOf(parseFileKey(key)));
      return found?.size;
    },

    async stage(key, path) {
      const stored = pathOf(parseFileKey(key));
      if ((await statIfFile(stored)) === undefined) throw new FileNotFound(key);
      await linkOrCopy(stored, path);
    },

    async publish(path, key) {
      const target = pathOf(parseFileKey(key));
      const produced = await openProduced(path);
      try {
        return await writeAtomically(target, key, (file) => copyHashed(produced, file));
      } finally {
        await produced.close();
      }
    },

    async removeAll(prefix) {
      // A file that is being put just now may appear while its directory is emptied: then it is emptied again.
      await onDisk(rm(pathOf(parseKey(prefix)), { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }));
    },

    list: (area, before) => listOlder(base, parseArea(area), before),

    async freeBytes() {
      await onDisk(mkdir(base, { recursive: true, mode: directoryMode }));
      const { bavail, bsize } = await onDisk(statfs(base));
      return bavail * bsize;
    },

    async check() {
      await onDisk(mkdir(base, { recursive: true, mode: directoryMode }));
      const probe = join(base, temporaryName());
      const file = await onDisk(open(probe, 'wx', fileMode));
      try {
        await onDisk(file.write('x'));
      } finally {
        await file.close();
        await unlink(probe);
      }
    },
  };
}

function temporaryName(): string {
  return `.${randomBytes(9).toString('base64url')}.part`;
}

/** Gives a failed file operation the service's error; errors that are no system call's are bugs and pass unchanged. */
async function onDisk<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw error instanceof Error && 'syscall' in error ? storageError(error) : error;
  }
}

function isNotThere(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  const code = errorCode(cause);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/**
 * Writes a file under a temporary name beside its place and gives it its name when every byte is on the disk. A crash
 * leaves the temporary file in the directory of its run, where removing the run removes it.
 */
async function writeAtomically<T>(path: string, key: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const directory = dirname(path);
  const temporary = join(directory, temporaryName());
  const { file, firstNew } = await createFile(temporary, directory, key);
  try {
    const result = await closing(file, async () => {
      const written = await write(file);
      await onDisk(file.datasync());
      return written;
    });
    await unlessRemoved(key, rename(temporary, path));
    await unlessRemoved(key, syncDirectories(directory, firstNew));
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A step that fails because the run was removed while its file was written. */
async function unlessRemoved<T>(key: string, operation: Promise<T>): Promise<T> {
  try {
    return await onDisk(operation);
  } catch (error) {
    throw isNotThere(error) ? new FileNotFound(key, { cause: error }) : error;
  }
}

async function closing<T>(file: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await file.close();
  }
}

/** Opens a new file, with its directories when they are missing; the first of those is told, for they need a sync too. */
async function createFile(
  path: string,
  directory: string,
  key: string,
): Promise<{ file: FileHandle; firstNew: string | undefined }> {
  try {
    return { file: await open(path, 'wx', fileMode), firstNew: undefined };
  } catch (error) {
    if (!isNotThere(error)) throw storageError(error);
  }
  const firstNew = await onDisk(mkdir(directory, { recursive: true, mode: directoryMode }));
  return { file: await unlessRemoved(key, open(path, 'wx', fileMode)), firstNew };
}

/** Makes a new name durable: its directory, and above it every directory that got a new entry. */
async function syncDirectories(directory: string, firstNew: string | undefined): Promise<void> {
  const last = firstNew === undefined ? directory : dirname(firstNew);
  const directories = [directory];
  for (let at = directory; at !== last; at = dirname(at)) directories.push(dirname(at));
  await Promise.all(directories.map(syncDirectory));
}

async function syncDirectory(directory: string): Promise<void> {
  const opened = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  await closing(opened, () => opened.sync());
}

/** Writes what a source gives in large blocks, fetching the next while one is written. */
async function writeSource(file: FileHandle, source: ByteSource): Promise<{ sizeBytes: number }> {
  let sizeBytes = 0;
  let block: Uint8Array[] = [];
  let blockBytes = 0;
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of source) {
      block.push(chunk);
      blockBytes += chunk.length;
      sizeBytes += chunk.length;
      if (blockBytes < blockLength) continue;
      await writing;
      writing = writeBlock(file, block);
      writing.catch(() => undefined); // It is awaited before the next write; until then a failure must not end the process.
      block = [];
      blockBytes = 0;
    }
  } finally {
    await writing;
  }
  await writeBlock(file, block);
  return { sizeBytes };
}

async function writeBlock(file: FileHandle, block: Uint8Array[]): Promise<void> {
  const length = block.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length === 0) return;
  const { bytesWritten } = await onDisk(file.writev(block));
  // A nearly full disk takes a part; asking again for the rest brings the reason.
  if (bytesWritten < length) await writeBlock(file, [Buffer.concat(block).subarray(bytesWritten)]);
}

/** Blocks of memory that copies take and give back: new ones for every copy would keep the garbage collector busy. */
const spareBlocks: Buffer[] = [];
const copyBlockLength = 256 * 1024;
const mostSpareBlocks = 16;

const takeBlock = (): Buffer => spareBlocks.pop() ?? Buffer.allocUnsafeSlow(copyBlockLength);

/** Copies a file and looks at every byte on the way. */
async function copyHashed(from: FileHandle, to: FileHandle): Promise<PublishedFile> {
  const blocks: [Buffer, Buffer] = [takeBlock(), takeBlock()];
  try {
    return await copyThrough(from, to, blocks);
  } finally {
    if (spareBlocks.length < mostSpareBlocks) spareBlocks.push(...blocks);
  }
}

/** The next block is read while one is hashed and written; nothing is under way any more when it ends. */
async function copyThrough(from: FileHandle, to: FileHandle, blocks: [Buffer, Buffer]): Promise<PublishedFile> {
  const hash = createHash('sha256');
  const sampler = createSampler();
  let [current, next] = blocks;
  let sizeBytes = 0;
  let reading = onDisk(from.read(current, 0, copyBlockLength, 0));
  for (;;) {
    const { bytesRead } = await reading;
    if (bytesRead === 0) break;
    const bytes = current.subarray(0, bytesRead);
    sizeBytes += bytesRead;
    reading = onDisk(from.read(next, 0, copyBlockLength, sizeBytes));
    const writing = writeBlock(to, [bytes]);
    hash.update(bytes);
    sampler.push(bytes);
    const [written] = await Promise.allSettled([writing, reading]);
    if (written.status === 'rejected') throw written.reason;
    [current, next] = [next, current];
  }
  return { sizeBytes, sha256: hash.digest('hex'), sample: sampler.sample() };
}

/** Opens what an engine wrote. A link could name any file of the host, and opening a pipe would wait for ever. */
async function openProduced(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    const missing = isNotThere(error);
    throw missing || ['ELOOP', 'ENXIO', 'EACCES'].includes(errorCode(error) ?? '')
      ? unusable(missing ? 'was not written' : 'cannot be opened as a file', path, error)
      : storageError(error);
  });
  const found = await file.stat();
  if (found.isFile() && found.nlink === 1) return file;
  await file.close();
  throw unusable(found.isFile() ? 'has a second name' : 'is not a regular file', path);
}

function unusable(why: string, path: string, cause?: unknown): Failure {
  return new Failure('engine_failed', 'The tool did not produce a usable file.', { log: `${path} ${why}`, cause });
}

async function openStored(path: string, key: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw isNotThere(error) ? new FileNotFound(key, { cause: error }) : storageError(error);
  }
}

async function statIfFile(path: string) {
  try {
    const found = await stat(path);
    return found.isFile() ? found : undefined;
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw storageError(error);
  }
}

const linkRefusals = new Set(['EXDEV', 'EPERM', 'EMLINK', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EACCES']);

async function linkOrCopy(stored: string, path: string): Promise<void> {
  try {
    await link(stored, path);
  } catch (error) {
    if (!linkRefusals.has(errorCode(error) ?? '')) throw storageError(error);
    await onDisk(copyFile(stored, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE));
  }
}

async function* listOlder(base: string, area: string, before: Date): AsyncGenerator<string> {
  for await (const fan of entriesOf(join(base, area))) {
    for await (const id of entriesOf(join(base, area, fan))) {
      const found = await stat(join(base, area, fan, id)).catch(() => undefined); // Removed since it was listed.
      if (found !== undefined && found.mtime < before) yield `${area}/${id}`;
    }
  }
}

async function* entriesOf(directory: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(directory)) if (entry.isDirectory()) yield entry.name;
  } catch (error) {
    if (!isNotThere(error)) throw storageError(error);
  }
}
