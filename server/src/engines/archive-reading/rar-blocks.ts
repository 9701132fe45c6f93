import type { FileHandle } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';

/** What RAR archives begin with: versions 1.5 to 4, and 5. */
export const rar4Signature = Buffer.from('Rar!\x1a\x07\x00', 'latin1');
export const rar5Signature = Buffer.from('Rar!\x1a\x07\x01\x00', 'latin1');

/** More than the header of any member takes up to its checksum, and usually all of it. */
const headerBytes = 16 * 1024;
const windowBytes = 64 * 1024;
/** Each member has one block, and seldom one or two more that say something of it. */
const maxBlocks = 500_000;

export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/**
 * Hands over what lies at a position, 16 KiB or up to the end of the file, in order: small blocks beside each other are read
 * together.
 *
 * @throws Failure `resource_limit` after too many.
 */
export function createHeaderReader(file: FileHandle, filename: string): (at: number) => Promise<Buffer> {
  let window: Buffer = Buffer.alloc(0);
  let windowAt = 0;
  let blocks = 0;
  return async (at) => {
    if (++blocks > maxBlocks) {
      const message = `"${filename}" holds more than ${maxBlocks} blocks.`;
      throw new Failure('resource_limit', message, { file: filename });
    }
    if (at + headerBytes > windowAt + window.length) {
      window = await readAt(file, at, windowBytes);
      windowAt = at;
    }
    return window.subarray(at - windowAt, at - windowAt + headerBytes);
  };
}

/** What every header of RAR 5 says of its block, by the technical note on RAR 5.0. */
export interface Rar5Block {
  /** Where in the file what the block holds begins, and how much it is. */
  contentAt: number;
  sizeBytes: number;
  /** Where in the file the next block begins. */
  end: number;
  isMember: boolean;
  /** Whether it is a member that begins or goes on in another file. */
  isSplit: boolean;
  isEncrypted: boolean;
  /** Stands behind the common part of the header. */
  rest: Reader;
}

/** The block at `at` of the file, whose header `bytes` begin with; undefined when it is none, or what follows is encrypted. */
export function readRar5Block(bytes: Buffer, at: number): Rar5Block | undefined {
  const rest = createReader(bytes);
  rest.skip(4); // The header's own checksum.
  const headerSize = rest.number();
  const headerEnd = rest.position() + headerSize;
  const [type, flags] = [rest.number(), rest.number()];
  const extraBytes = flags & 1 ? rest.number() : 0;
  const sizeBytes = flags & 2 ? rest.number() : 0;
  const end = at + headerEnd + sizeBytes;
  const isArchiveEncryption = type === 4;
  if (isArchiveEncryption || !(headerSize > 0) || !Number.isSafeInteger(end)) return undefined;
  const isMember = type === 2;
  return {
    contentAt: at + headerEnd,
    sizeBytes,
    end,
    isMember,
    isSplit: isMember && (flags & 0x18) !== 0,
    isEncrypted: isMember && saysEncrypted(bytes.subarray(headerEnd - extraBytes, headerEnd)),
    rest,
  };
}

/** Whether a record of the extra area says how the member is encrypted. */
function saysEncrypted(extra: Buffer): boolean {
  const read = createReader(extra);
  while (read.position() < extra.length) {
    const size = read.number();
    const next = read.position() + size;
    if (read.number() === 1) return true;
    if (!(size > 0)) return false;
    read.skip(next - read.position());
  }
  return false;
}

interface Reader {
  position(): number;
  skip(count: number): void;
  /** An integer of seven bits a byte, the lowest first; NaN behind the end. */
  number(): number;
}

function createReader(bytes: Buffer): Reader {
  let at = 0;
  return {
    position: () => at,
    skip(count) {
      at += count;
    },
    number() {
      for (let value = 0, power = 1; at < bytes.length; power *= 128) {
        const byte = bytes[at++] ?? 0;
        value += (byte & 127) * power;
        if (byte < 128) return value;
      }
      return Number.NaN;
    },
  };
}
