import { createReadStream } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Headers } from 'tar-stream';
import { toError } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { unpackAsTar } from './bsdtar-stream.ts';
import { createGate, type ArchiveFile, type Member, type OnMember, type ReadingOptions } from './member.ts';

export function readTar(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  return readWithHardLinks(archive, options, onMember, (onEach) =>
    readTarStream(createReadStream(archive.path), archive, options, onEach),
  );
}

/** How often a TAR is read again at most; one file has rarely more names than two. */
const mostPasses = 20;

/**
 * Reads a TAR by a function that starts at its beginning each time. A hard link is one more name of a file that came
 * before: it gets that file's content, from reading the archive again. What tar-stream does not know libarchive reads.
 *
 * @throws Failure `resource_limit` for too many members, a hard link counted as the file it is; `invalid_input` for one that
 * wants to be outside.
 */
export async function readWithHardLinks(
  archive: ArchiveFile,
  options: ReadingOptions,
  onMember: OnMember,
  readOnce: (onEach: OnMember) => Promise<void>,
): Promise<void> {
  const links = new Map<string, Member[]>();
  // Links wait here until the whole archive is read: too late to find that they are too many.
  const admit = createGate(archive, options.limits);
  const read = (onEach: OnMember) => readOrAskLibarchive(archive, options, onEach, readOnce);
  await read(async (member, content) => {
    if (member.hardLinkTo === undefined) {
      admit(member);
      return onMember(member, content);
    }
    admit({ ...member, kind: 'file' });
    const waiting = links.get(member.hardLinkTo);
    if (waiting === undefined) links.set(member.hardLinkTo, [member]);
    else waiting.push(member);
  });
  let hasFound = true;
  for (let pass = 0; hasFound && links.size > 0 && pass < mostPasses; pass++) {
    hasFound = false;
    await read(async ({ path, kind }, content) => {
      const waiting = kind === 'file' ? links.get(path) : undefined;
      const link = waiting?.shift();
      if (link === undefined) return;
      hasFound = true;
      if (waiting?.length === 0) links.delete(path);
      await onMember({ ...link, kind: 'file' }, content);
    });
  }
  for (const link of [...links.values()].flat()) await onMember(link, Readable.from([]));
}

/** A member of a kind, or with a header, that tar-stream does not know; `before` members were handed over until then. */
class UnknownMember extends Error {
  readonly before: number;

  constructor(before: number) {
    super('a member that tar-stream does not know');
    this.before = before;
  }
}

async function readOrAskLibarchive(
  archive: ArchiveFile,
  options: ReadingOptions,
  onMember: OnMember,
  readOnce: (onEach: OnMember) => Promise<void>,
): Promise<void> {
  try {
    await readOnce(onMember);
  } catch (error) {
    if (!(error instanceof UnknownMember)) throw error;
    let toSkip = error.before;
    // In this format libarchive writes out the holes of sparse files.
    const { tar, done } = unpackAsTar(archive, 'gnutar', options);
    await readTarStream(tar, archive, options, async (member, content) => {
      if (toSkip-- <= 0) await onMember(member, content);
    });
    await done;
  }
}

/**
 * Reads a TAR from a stream that is under way.
 *
 * @throws Error for a stream that is no TAR or ends too early; what the stream failed with.
 */
export async function readTarStream(
  stream: Readable,
  archive: ArchiveFile,
  { signal }: ReadingOptions,
  onMember: OnMember,
): Promise<void> {
  const { extract } = await import('tar-stream');
  const tar = extract({ allowUnknownFormat: true }); // The oldest of all says nothing of its format.
  const feeding = pipeline(stream, new PassThrough(), intoTar(tar), { signal });
  feeding.catch((error: Error) => tar.destroy(error));
  let before = 0;
  try {
    for await (const entry of tar) {
      if (!isKnown(entry.header)) throw new UnknownMember(before);
      before++;
      const content = Readable.from(entry as AsyncIterable<Buffer>, { objectMode: false });
      await onMember(memberOf(entry.header, archive), content);
      entry.resume();
    }
    await feeding;
  } catch (error) {
    stream.destroy();
    const cause = await feeding.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    // When the source has failed, what the TAR missed is only the consequence.
    if (cause instanceof Failure && !(error instanceof Failure)) throw cause;
    throw toError(error).message.startsWith('Invalid tar header') ? new UnknownMember(before) : error;
  }
}

/** tar-stream's streams are streamx ones, which `pipeline` does not fully know: fed by hand, with backpressure. */
function intoTar(tar: import('tar-stream').Extract): (source: AsyncIterable<Buffer>) => Promise<void> {
  return async (source) => {
    for await (const chunk of source) {
      if ((tar as unknown as { destroying: boolean }).destroying) return;
      if (!tar.write(chunk)) {
        await new Promise<void>((resolve) => {
          const goOn = () => {
            tar.off('drain', goOn);
            tar.off('close', goOn);
            resolve();
          };
          tar.once('drain', goOn);
          tar.once('close', goOn);
        });
      }
    }
    tar.end();
  };
}

/** tar-stream takes sparse files for whole ones, and a hard link that states the size of its file for one with content. */
function isKnown({ type, size, pax }: Headers & { pax?: Record<string, string> | null }): boolean {
  if (type === null || (type === 'link' && (size ?? 0) > 0)) return false;
  return !Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.') || key === 'SCHILY.realsize');
}

function memberOf({ name, type, linkname, mtime, mode }: Headers, { filename }: ArchiveFile): Member {
  const common = { path: name, modified: mtime, ...(mode === undefined ? {} : { mode }) };
  if (type === 'directory') return { ...common, kind: 'directory' };
  if (type === 'file' || type === 'contiguous-file' || type === null || type === undefined)
    return { ...common, kind: 'file' };
  const link = { ...common, kind: 'link', target: linkname ?? '' } as const;
  if (type === 'link') return { ...link, hardLinkTo: link.target };
  if (type === 'symlink') return link;
  throw new Failure('invalid_input', `"${filename}" holds a ${type.replaceAll('-', ' ')}, which is no file.`, {
    file: filename,
  });
}
