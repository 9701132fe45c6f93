import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import type { Entry } from 'yauzl';
import { toError } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { readByBsdtar } from './bsdtar.ts';
import { readBySevenZip } from './seven-zip.ts';
import { entryName, guessedName } from './zip-names.ts';
import {
  createGate,
  damagedArchive,
  outsideFailure,
  passwordFailure,
  type ArchiveFile,
  type Member,
  type OnMember,
  type ReadingOptions,
} from './member.ts';

export const yauzl: Engine = {
  id: 'yauzl',
  name: 'yauzl',
  license: 'MIT',
  version: () => packageVersion('yauzl'),
};

/** What a ZIP says of an entry before it is opened. */
export interface ZipEntryFacts extends Member {
  sizeBytes: number;
  packedBytes: number;
  isEncrypted: boolean;
}

/** The list at the end of a ZIP. @throws Failure `invalid_input` for a damaged one. */
export async function* listZip({
  path,
  filename,
}: Pick<ArchiveFile, 'path' | 'filename'>): AsyncGenerator<ZipEntryFacts> {
  const { openZip } = await import('./zip-file.ts');
  try {
    const zip = await openZip(path);
    try {
      for await (const entry of zip.eachEntry()) yield factsOf(entry);
    } finally {
      zip.close();
    }
  } catch (error) {
    throw zipFailure(filename, toError(error));
  }
}

/** What a ZIP was refused with: yauzl says by its words alone when it is not damage. */
function zipFailure(filename: string, error: Error): Failure {
  if (error instanceof Failure) return error;
  const [, outside] = /^(?:absolute|invalid relative) path: ([^]*)$/.exec(error.message) ?? [];
  if (outside !== undefined) return outsideFailure(filename, outside);
  const refuse = (reason: string) =>
    new Failure('invalid_input', `"${filename}" ${reason}, which cannot be opened here.`, {
      file: filename,
      log: error.message,
    });
  if (error.message.startsWith('strong encryption')) return refuse('is encrypted in a way of PKWARE');
  if (error.message.startsWith('multi-disk')) return refuse('is one part of an archive in several parts');
  return damagedArchive(filename, error.message);
}

const methods = { stored: 0, deflated: 8, deflated64: 9, bzip2: 12, lzma: 14, zstd: 93, xz: 95, ppmd: 98 };
/** What each reader unpacks; the rest is for 7-Zip, which writes files. */
const readable = {
  yauzl: [methods.stored, methods.deflated],
  zipJs: [methods.stored, methods.deflated, methods.deflated64],
  libarchive: [methods.stored, methods.deflated, methods.bzip2, methods.lzma, methods.zstd, methods.xz, methods.ppmd],
};

export async function readZip(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  try {
    await readByMethods(archive, options, onMember);
  } catch (error) {
    throw zipFailure(archive.filename, toError(error));
  }
}

async function readByMethods(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  const { openZip } = await import('./zip-file.ts');
  const zip = await openZip(archive.path);
  const used = new Set<number>();
  let isEncrypted = false;
  const admit = createGate(archive, options.limits);
  try {
    for await (const entry of zip.eachEntry()) {
      admit(factsOf(entry));
      used.add(methodOf(entry));
      isEncrypted ||= entry.isEncrypted();
    }
  } finally {
    zip.close();
  }
  const canAllBe = (known: readonly number[]) => [...used].every((method) => known.includes(method));
  if (isEncrypted && options.password === undefined) throw passwordFailure(archive.filename, undefined);
  if (isEncrypted && canAllBe(readable.zipJs)) return readEncryptedZip(archive, options, onMember);
  if (!isEncrypted && canAllBe(readable.yauzl)) return readPlainZip(archive, onMember);
  if (!isEncrypted && canAllBe(readable.libarchive)) return readByBsdtar(archive, options, onMember);
  return readBySevenZip(archive, options, onMember);
}

const aes = { method: 99, extraField: 0x9901 };

/** How an entry is compressed; of one encrypted with AES an extra field says it. */
function methodOf({ compressionMethod, extraFields }: Entry): number {
  if (compressionMethod !== aes.method) return compressionMethod;
  const details = extraFields.find(({ id }) => id === aes.extraField)?.data;
  return details === undefined || details.length < 7 ? compressionMethod : details.readUInt16LE(5);
}

async function readPlainZip({ path }: ArchiveFile, onMember: OnMember): Promise<void> {
  const { openZip } = await import('./zip-file.ts');
  const zip = await openZip(path);
  try {
    for await (const entry of zip.eachEntry()) {
      const facts = factsOf(entry);
      const content = facts.kind === 'file' ? await zip.openReadStreamPromise(entry) : Readable.from([]);
      await onMember(facts, content);
    }
  } finally {
    zip.close();
  }
}

/** zip.js opens both ways of encryption, the old one of PKWARE and AES. */
async function readEncryptedZip(archive: ArchiveFile, { password }: ReadingOptions, onMember: OnMember): Promise<void> {
  const { BlobReader, configure, ZipReader } = await import('@zip.js/zip.js');
  configure({ useWebWorkers: false });
  const zip = new ZipReader(new BlobReader(await openAsBlob(archive.path)), {
    checkSignature: true,
    ...(password === undefined ? {} : { password }),
  });
  for await (const entry of zip.getEntriesGenerator()) {
    const member: Member = {
      path: entry.filenameUTF8 ? entry.filename : guessedName(Buffer.from(entry.rawFilename), entry.filename),
      kind: entry.directory ? 'directory' : 'file',
      modified: entry.lastModDate,
    };
    if (entry.directory) {
      await onMember(member, Readable.from([]));
      continue;
    }
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const unpacked = entry.getData(writable).catch(async (error: unknown) => {
      const isPassword = /password|signature/i.test(toError(error).message);
      const reason = isPassword ? passwordFailure(archive.filename, password) : toError(error);
      // What fails before the first byte leaves the stream open, and whoever reads from it waiting.
      await writable.abort(reason).catch(() => undefined);
      throw reason;
    });
    unpacked.catch(() => undefined);
    try {
      await onMember(member, Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0]));
    } finally {
      await unpacked;
    }
  }
  await zip.close();
}

const unixHost = 3;
const fileTypeMask = 0o170000;
const symbolicLink = 0o120000;

function factsOf(entry: Entry): ZipEntryFacts {
  const mode = entry.versionMadeBy >> 8 === unixHost ? entry.externalFileAttributes >>> 16 : 0;
  const isLink = (mode & fileTypeMask) === symbolicLink;
  const path = entryName(entry);
  return {
    path,
    kind: isLink ? 'link' : path.endsWith('/') ? 'directory' : 'file',
    modified: entry.getLastModDate(),
    ...(mode === 0 ? {} : { mode: mode & 0o777 }),
    sizeBytes: entry.uncompressedSize,
    packedBytes: entry.compressedSize,
    isEncrypted: entry.isEncrypted(),
  };
}
