import { open } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import { passwordFailure, type ArchiveFile, type ReadingOptions } from './member.ts';
import { createHeaderReader, rar4Signature, rar5Signature, readAt, readRar5Block } from './rar-blocks.ts';

/** What the headers of a RAR archive say of one block. */
interface Block {
  end: number;
  /** Whether it is a member that begins or goes on in another file. */
  isSplit: boolean;
  isEncrypted: boolean;
  /** Whether it is of a kind that libarchive does not know. */
  isUnknown?: boolean;
}

/**
 * Refuses what libarchive hands over in part, or calls damaged, without a word on the reason: parts of a split archive,
 * encrypted members, and old and solid archives.
 *
 * @throws Failure `invalid_input` for one part of several, or a kind or encryption that cannot be opened; `password_required`;
 * `resource_limit` for too many blocks.
 */
export async function checkRarMembers(archive: ArchiveFile, { password, signal }: ReadingOptions): Promise<void> {
  const { path, filename } = archive;
  await using file = await open(path);
  const { size } = await file.stat();
  const head = await readAt(file, 0, rar5Signature.length);
  const blockOf: ((bytes: Buffer, at: number) => Block | undefined) | undefined = head.equals(rar5Signature)
    ? readRar5Block
    : head.indexOf(rar4Signature) === 0
      ? readRar4Block
      : undefined;
  if (blockOf === undefined) return;
  const headerAt = createHeaderReader(file, filename);
  for (let at = blockOf === readRar5Block ? rar5Signature.length : rar4Signature.length; at < size;) {
    signal.throwIfAborted();
    const block = blockOf(await headerAt(at), at);
    if (block === undefined) return;
    if (block.isSplit)
      throw refuse(filename, 'is one part of an archive in several parts, which cannot be opened here');
    if (block.isEncrypted && password === undefined) throw passwordFailure(filename, password);
    if (block.isEncrypted) throw refuse(filename, 'is encrypted in a way that cannot be opened here');
    if (block.isUnknown === true)
      throw refuse(filename, 'is a RAR archive of an old or solid kind, which cannot be opened here');
    at = block.end;
  }
}

function refuse(filename: string, reason: string): Failure {
  return new Failure('invalid_input', `"${filename}" ${reason}.`, { file: filename });
}

/** A header of RAR 1.5 to 4; undefined when it is none, or what follows is encrypted. */
function readRar4Block(bytes: Buffer, at: number): Block | undefined {
  if (bytes.length < 11) return undefined;
  const [type, flags, headerSize] = [bytes.readUInt8(2), bytes.readUInt16LE(3), bytes.readUInt16LE(5)];
  const isMember = type === 0x74;
  const isEncryptedArchive = type === 0x73 && (flags & 0x80) !== 0;
  if (type < 0x72 || type > 0x7b || headerSize < 7 || isEncryptedArchive) return undefined;
  const isLarge = isMember && (flags & 0x100) !== 0 && bytes.length >= 36;
  const low = isMember || flags & 0x80_00 ? bytes.readUInt32LE(7) : 0;
  const end = at + headerSize + low + (isLarge ? bytes.readUInt32LE(32) * 2 ** 32 : 0);
  const isUnknown = isMember ? isUnknownMember(bytes, flags) : isUnknownBlock(type, flags);
  return { end, isSplit: isMember && (flags & 3) !== 0, isEncrypted: isMember && (flags & 4) !== 0, isUnknown };
}

const rar4Flags = { comment: 8, solid: 16 };
/** The version of RAR whose compression libarchive reads; what is stored it reads of any. */
const knownCompression = 29;
const stored = 0x30;

function isUnknownMember(header: Buffer, flags: number): boolean {
  if ((flags & (rar4Flags.comment | rar4Flags.solid)) !== 0) return true;
  return header.length > 25 && header.readUInt8(24) < knownCompression && header.readUInt8(25) !== stored;
}

/** Comments, owners and the like: blocks of their own until RAR 2, and solid ones after it. */
function isUnknownBlock(type: number, flags: number): boolean {
  return (type >= 0x75 && type <= 0x77) || (type === 0x7a && (flags & rar4Flags.solid) !== 0);
}
