import { stat } from 'node:fs/promises';
import { Transform, type Readable } from 'node:stream';
import { toError } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import {
  createGate,
  damagedArchive,
  type ArchiveFile,
  type Member,
  type OnMember,
  type ReadingOptions,
} from './member.ts';
import { readByBsdtar } from './bsdtar.ts';
import { readCompressed } from './compressed.ts';
import { readSevenZip } from './seven-zip.ts';
import { readTar } from './tar.ts';
import { listZip, readZip } from './zip.ts';

export { bsdtar } from './bsdtar.ts';
export { yauzl } from './zip.ts';
export type { ArchiveFile, Member, ReadingLimits } from './member.ts';

/** Archives that can be read; a ZIP by any other name is one as well. */
export const archiveTypes = [
  'zip',
  '7z',
  'rar',
  'tar',
  'gz',
  'bz2',
  'xz',
  'zst',
  'iso',
  'cab',
] as const satisfies readonly FileTypeId[];

export type Reader = (archive: ArchiveFile, options: ReadingOptions, onMember: OnMember) => Promise<void>;

const readers: Partial<Record<FileTypeId, Reader>> = {
  '7z': readSevenZip,
  cb7: readSevenZip,
  rar: readByBsdtar,
  cbr: readByBsdtar,
  iso: readByBsdtar,
  cab: readByBsdtar,
  tar: readTar,
  gz: readCompressed,
  bz2: readCompressed,
  xz: readCompressed,
  zst: readCompressed,
};

/** Below this many bytes no ratio is too high: a page of blanks packs to nothing. */
const harmlessBytes = 10_000_000;

/**
 * Reads an archive from its first member to its last, in flat memory: each is handed over with its content while it is
 * unpacked. A compressed file that holds no TAR is an archive of one file. Nothing is written where a member wants to be.
 *
 * @throws Failure `password_required`; `invalid_input` for a damaged archive, or one whose members want to be outside of it;
 * `resource_limit` for too many files, bytes, or too high a ratio.
 */
export async function readArchive(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  const read = readers[archive.type] ?? readZip;
  const admit = createGate(archive, options.limits);
  const count = createCounter(archive, options, (await stat(archive.path)).size);
  try {
    await read(archive, options, async (member, content) => {
      options.signal.throwIfAborted();
      const admitted = admit(member);
      if (admitted.path === '' || admitted.path === '.') return drain(content);
      const counted = count(content);
      await onMember(admitted, counted);
      await drain(counted);
    });
  } catch (error) {
    options.signal.throwIfAborted();
    throw error instanceof Failure ? error : damagedArchive(archive.filename, toError(error).message);
  }
}

async function drain(content: Readable): Promise<void> {
  if (content.readableEnded || content.destroyed) return;
  for await (const chunk of content) void chunk;
}

/** What is counted is what comes out: the sizes an archive states are only claims. */
function createCounter(
  { filename }: ArchiveFile,
  { limits }: ReadingOptions,
  packedBytes: number,
): (content: Readable) => Readable {
  let unpacked = 0;
  const refuse = (message: string) => new Failure('resource_limit', message, { file: filename });
  const problem = () => {
    if (unpacked > limits.maxBytes) return refuse(`"${filename}" unpacks to more than ${limits.maxBytes / 1e9} GB.`);
    if (unpacked < harmlessBytes || unpacked <= packedBytes * limits.maxRatio) return undefined;
    return refuse(`"${filename}" unpacks to more than ${limits.maxRatio} times its size.`);
  };
  return (content) => {
    const counter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        unpacked += chunk.length;
        const failure = problem();
        if (failure === undefined) done(null, chunk);
        else done(failure);
      },
    });
    content.once('error', (error) => counter.destroy(error));
    return content.pipe(counter);
  };
}

/** What a report says of a member; names as they are on the wire. */
export interface MemberReport {
  path: string;
  kind: Member['kind'];
  size_bytes?: number;
  packed_bytes?: number;
  modified?: string;
  encrypted: boolean;
}

/**
 * Everything in an archive. Of a ZIP the list at its end is read, which needs no password; every other archive is unpacked
 * into nowhere, so that the sizes are true.
 *
 * @throws Failure as {@link readArchive}.
 */
export async function inspectArchive(archive: ArchiveFile, options: ReadingOptions): Promise<MemberReport[]> {
  const reports: MemberReport[] = [];
  if (archive.type === 'zip') {
    const admit = createGate(archive, options.limits);
    for await (const facts of listZip(archive)) {
      const { sizeBytes, packedBytes, isEncrypted } = facts;
      const sizes = facts.kind === 'file' ? { size_bytes: sizeBytes, packed_bytes: packedBytes } : {};
      reports.push({ ...reportOf(admit(facts)), ...sizes, encrypted: isEncrypted });
    }
    return reports;
  }
  await readArchive(archive, options, async (member, content) => {
    let size = 0;
    for await (const chunk of content) size += (chunk as Buffer).length;
    const sizes = member.kind === 'file' ? { size_bytes: size } : {};
    reports.push({ ...reportOf(member), ...sizes, encrypted: options.password !== undefined });
  });
  return reports;
}

function reportOf({ path, kind, modified }: Member): Omit<MemberReport, 'encrypted'> {
  return { path, kind, ...(modified === undefined ? {} : { modified: modified.toISOString() }) };
}
