import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { damagedArchive, type ArchiveFile } from './member.ts';
import { createHeaderReader, rar5Signature, readAt, readRar5Block, type Rar5Block } from './rar-blocks.ts';

/** A member that lies in the archive as it is, and the checksum it should have. */
interface StoredMember {
  at: number;
  sizeBytes: number;
  crc: number;
}

/**
 * Compares the members that a RAR 5 archive holds without compression with their checksums: libarchive does so only for
 * compressed ones. Other archives, and members without a checksum, pass; what is wrong with a header libarchive says.
 *
 * @throws Failure `invalid_input` when one differs; `resource_limit` for too many blocks.
 */
export async function checkStoredMembers({ path, filename }: ArchiveFile, signal: AbortSignal): Promise<void> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (!(await readAt(file, 0, rar5Signature.length)).equals(rar5Signature)) return;
  const headerAt = createHeaderReader(file, filename);
  for (let at = rar5Signature.length; at < size;) {
    signal.throwIfAborted();
    const header = await headerAt(at);
    const block = readRar5Block(header, at);
    if (block === undefined) return;
    const stored = storedMember(header, block);
    if (stored !== undefined && !(await isIntact(file, stored))) {
      throw damagedArchive(filename, `wrong checksum of the member at ${stored.at}`);
    }
    at = block.end;
  }
}

async function isIntact(file: FileHandle, { at, sizeBytes, crc }: StoredMember): Promise<boolean> {
  let actual = 0;
  if (sizeBytes === 0) return actual === crc;
  const content = file.createReadStream({ start: at, end: at + sizeBytes - 1, autoClose: false });
  for await (const chunk of content as AsyncIterable<Buffer>) actual = crc32(chunk, actual);
  return actual === crc;
}

/** The member of a block, when it lies there as it is, whole, and with a checksum. */
function storedMember(header: Buffer, block: Rar5Block): StoredMember | undefined {
  if (!block.isMember || block.isSplit || block.isEncrypted) return undefined;
  const { contentAt: at, sizeBytes, rest } = block;
  const flags = rest.number();
  rest.number(); // Size when unpacked.
  rest.number(); // Attributes.
  if (flags & 2) rest.skip(4); // Time.
  if ((flags & 4) === 0 || rest.position() + 4 > header.length) return undefined;
  const crc = header.readUInt32LE(rest.position());
  rest.skip(4);
  const method = (rest.number() >> 7) & 7;
  return method === 0 ? { at, sizeBytes, crc } : undefined;
}
