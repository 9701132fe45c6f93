import type { FileHandle } from 'node:fs/promises';

/** What the directory of one TIFF page says of its samples; numbers are those of TIFF 6.0. */
export interface TiffPage {
  /** Its place among the directories of the file, from 0. */
  number: number;
  /** A small copy of another page, or a mask for one. */
  isAddition: boolean;
  /** Bits of the first sample. */
  bitsPerSample: number;
  compression: number;
  photometric: number;
  /** Where in the file the photometric interpretation stands, as a short. */
  photometricAt: number;
  isLittleEndian: boolean;
  sampleFormat: number;
  /** Whether colour differences have a sample for every pixel. */
  isFullColor: boolean;
}

/** More directories than the pages anything here takes. */
const maxDirectories = 10_000;
/** The most values of a tag that are looked at: a page of more samples is no picture. */
const maxValues = 8;

const tags = {
  subfileType: 254,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  sampleFormat: 339,
  subsampling: 530,
};
/** Bytes of one value, by the types of TIFF that are read here: shorts and longs. */
const valueBytes = new Map([
  [3, 2],
  [4, 4],
]);

/** Bits of the subfile type. */
const additions = { smallCopy: 1, mask: 4 };

const wantedTags = new Set(Object.values(tags));

/**
 * The directories of a TIFF or BigTIFF, at most `limit`: those before the first that cannot be followed. `isWhole` is false
 * when there is such a one.
 */
export async function readTiffPages(
  file: FileHandle,
  limit = maxDirectories,
): Promise<{ pages: TiffPage[]; isWhole: boolean }> {
  const head = await read(file, 0, 16);
  if (head.length < 16) return { pages: [], isWhole: false };
  const order = head.toString('latin1', 0, 2);
  const version = order === 'II' ? head.readUInt16LE(2) : head.readUInt16BE(2);
  if ((order !== 'II' && order !== 'MM') || (version !== 42 && version !== 43)) return { pages: [], isWhole: false };
  const layout = { isLittleEndian: order === 'II', isBig: version === 43 };
  const { long } = numbersOf(head, layout);
  const pages: TiffPage[] = [];
  const seen = new Set<number>();
  for (let at = layout.isBig ? long(8) : long(4); at !== 0 && pages.length < limit;) {
    const directory = seen.has(at) ? undefined : await readDirectory(file, at, layout);
    if (directory === undefined) return { pages, isWhole: false };
    seen.add(at);
    pages.push({ ...directory.page, number: pages.length });
    at = directory.next;
  }
  return { pages, isWhole: true };
}

interface Layout {
  isLittleEndian: boolean;
  /** BigTIFF: counts and offsets of eight bytes. */
  isBig: boolean;
}

async function readDirectory(file: FileHandle, at: number, layout: Layout) {
  const { isBig } = layout;
  const [countBytes, entryBytes, offsetBytes] = isBig ? [8, 20, 8] : [2, 12, 4];
  const counted = await read(file, at, countBytes);
  if (counted.length < countBytes) return undefined;
  const count = isBig ? numbersOf(counted, layout).long(0) : numbersOf(counted, layout).short(0);
  if (count === 0 || count > 0xffff) return undefined;
  const entries = await read(file, at + countBytes, count * entryBytes + offsetBytes);
  if (entries.length < count * entryBytes + offsetBytes) return undefined;
  const { short, long } = numbersOf(entries, layout);
  const values = new Map<number, TagValue>();
  for (let entry = 0; entry < count * entryBytes; entry += entryBytes) {
    const [tag, type, length] = [short(entry), short(entry + 2), long(entry + 4)];
    const width = valueBytes.get(type);
    if (!wantedTags.has(tag) || values.has(tag) || width === undefined || length === 0) continue;
    const inline = entry + entryBytes - offsetBytes;
    const isInline = length * width <= offsetBytes;
    const start = isInline ? at + countBytes + inline : long(inline);
    const size = Math.min(length, maxValues) * width;
    const bytes = isInline ? entries.subarray(inline, inline + size) : await read(file, start, size);
    const { short: two, four } = numbersOf(bytes, layout);
    const numbers = Array.from({ length: Math.floor(bytes.length / width) }, (_, index) =>
      width === 2 ? two(index * 2) : four(index * 4),
    );
    values.set(tag, { at: start, numbers });
  }
  return { page: pageOf(values, layout), next: long(count * entryBytes) };
}

interface TagValue {
  /** Where in the file it stands. */
  at: number;
  numbers: number[];
}

function pageOf(values: Map<number, TagValue>, { isLittleEndian }: Layout): Omit<TiffPage, 'number'> {
  const first = (tag: number, otherwise: number) => values.get(tag)?.numbers[0] ?? otherwise;
  return {
    isAddition: (first(tags.subfileType, 0) & (additions.smallCopy | additions.mask)) !== 0,
    bitsPerSample: first(tags.bitsPerSample, 1),
    compression: first(tags.compression, 1),
    photometric: first(tags.photometric, -1),
    photometricAt: values.get(tags.photometric)?.at ?? 0,
    isLittleEndian,
    sampleFormat: first(tags.sampleFormat, 1),
    isFullColor: values.get(tags.subsampling)?.numbers.every((step) => step === 1) ?? false,
  };
}

function numbersOf(bytes: Buffer, { isLittleEndian, isBig }: Layout) {
  const short = (at: number) => (isLittleEndian ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const four = (at: number) => (isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const eight = (at: number) => Number(isLittleEndian ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  return { short, four, long: isBig ? eight : four };
}

/** Fewer bytes where the file ends before; none at a place no file has. */
async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (!Number.isSafeInteger(position)) return Buffer.alloc(0);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
