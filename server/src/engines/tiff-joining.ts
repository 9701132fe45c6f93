import { open } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import { imageFailure, type NamedFile } from './image-failure.ts';

const headerBytes = 8;
const entryBytes = 12;
/** Offsets have 32 bits. */
const maxBytes = 2 ** 32 - 1;

/** Bytes of one value, by the types of TIFF 6.0. */
const valueBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];
const longType = 4;
const stripOffsets = 273;

/**
 * A new TIFF that takes pages one after the other. They are what libvips writes: files of one page, little-endian, in
 * strips. Unlike the pages libvips itself puts into one file, they may differ in size, colours and resolution.
 */
export async function createTiff(path: string, named: NamedFile) {
  const { filename } = named;
  const joined = await open(path, 'w');
  await joined.writeFile(Buffer.from('II*\0\0\0\0\0', 'latin1'));
  let end = headerBytes;
  let nextAt = 4;
  return {
    /** @throws Failure `resource_limit` when the whole would be larger than a TIFF can be. */
    async add(page: Buffer): Promise<void> {
      if (end + page.length > maxBytes) {
        const message = `The pages of "${filename}" are together larger than the 4 GB that fit in a TIFF.`;
        throw new Failure('resource_limit', message, { file: filename });
      }
      const by = end - headerBytes;
      const directory = movePage(page, by, named);
      try {
        await joined.writeFile(page.subarray(headerBytes)); // Goes on where the last one ended.
        if (page.length % 2 === 1) await joined.writeFile(Buffer.alloc(1)); // Directories start at even places.
        await joined.write(long(directory.at + by), 0, 4, nextAt);
      } catch (error) {
        throw imageFailure(error, named);
      }
      nextAt = directory.nextAt + by;
      end += page.length - headerBytes + (page.length % 2);
    },
    /** Bytes so far. */
    size: () => end,
    [Symbol.asyncDispose]: () => joined.close(),
  };
}

/** Makes everything in a file of one page point `by` bytes further on. */
function movePage(page: Buffer, by: number, { filename }: NamedFile): { at: number; nextAt: number } {
  const refuse = (log: string) =>
    new Failure('engine_failed', `The result of "${filename}" could not be written.`, { file: filename, log });
  if (page.toString('latin1', 0, 4) !== 'II*\0') throw refuse('not a TIFF as libvips writes it');
  const at = page.readUInt32LE(4);
  const nextAt = at + 2 + page.readUInt16LE(at) * entryBytes;
  const move = (offsetAt: number) => page.writeUInt32LE(page.readUInt32LE(offsetAt) + by, offsetAt);
  for (let entry = at + 2; entry < nextAt; entry += entryBytes) {
    const [tag, type, count] = [page.readUInt16LE(entry), page.readUInt16LE(entry + 2), page.readUInt32LE(entry + 4)];
    const isInline = (valueBytes[type] ?? 0) * count <= 4;
    if (tag === stripOffsets) {
      if (type !== longType) throw refuse(`strip offsets of type ${type}`);
      const start = isInline ? entry + 8 : page.readUInt32LE(entry + 8);
      for (let index = 0; index < count; index++) move(start + index * 4);
    }
    if (!isInline) move(entry + 8);
  }
  return { at, nextAt };
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
