import type { FileTypeId } from '../lib/media-types.ts';
import { bytesAt, type ContentSample, latin1 } from './content-sample.ts';

const tiffTags = { photometric: 0x0106, subDirectories: 0x014a, cfaPattern: 0x828e, dngVersion: 0xc612 };
/** Photometric interpretations that only sensor data has: colour filter array, linear raw. */
const sensorPhotometrics = new Set([32803, 34892]);

interface TiffEntry {
  tag: number;
  type: number;
  count: number;
  /** The four bytes that hold the value, or its offset when it is longer. */
  value: Buffer;
}

/**
 * A TIFF, or a camera raw that is built as one: those have sensor data in their first directory or in one below it, or a
 * mark of their own. A picture exported by a camera maker's software has neither and stays a TIFF.
 */
export function tiffOrRaw(sample: ContentSample): FileTypeId | undefined {
  const mark = latin1(sample.head, 0, 4);
  if (['IIRO', 'IIRS', 'MMOR', 'IIU\0'].includes(mark)) return 'raw';
  if (mark === 'II+\0' || mark === 'MM\0+') return 'tiff';
  if (sample.head.length < 8 || (mark !== 'II*\0' && mark !== 'MM\0*')) return undefined;
  if (latin1(sample.head, 8, 11) === 'CR\x02') return 'raw';
  return holdsSensorData(sample, mark === 'II*\0') ? 'raw' : 'tiff';
}

function holdsSensorData(sample: ContentSample, littleEndian: boolean): boolean {
  const first = tiffDirectory(sample, readUInt(sample.head, 4, 4, littleEndian), littleEndian);
  if (first.some((entry) => describesSensor(entry, littleEndian))) return true;
  const below = first.find((entry) => entry.tag === tiffTags.subDirectories);
  if (below === undefined) return false;
  return subDirectoryOffsets(sample, below, littleEndian).some((offset) =>
    tiffDirectory(sample, offset, littleEndian).some((entry) => describesSensor(entry, littleEndian)),
  );
}

function describesSensor({ tag, value }: TiffEntry, littleEndian: boolean): boolean {
  if (tag === tiffTags.dngVersion || tag === tiffTags.cfaPattern) return true;
  return tag === tiffTags.photometric && sensorPhotometrics.has(readUInt(value, 0, 2, littleEndian));
}

function subDirectoryOffsets(sample: ContentSample, entry: TiffEntry, littleEndian: boolean): number[] {
  const count = Math.min(entry.count, 16); // Raw files have up to five; a hostile count must not cost time.
  const list = count <= 1 ? entry.value : bytesAt(sample, readUInt(entry.value, 0, 4, littleEndian), count * 4);
  if (list === undefined) return [];
  return Array.from({ length: count }, (_, index) => readUInt(list, index * 4, 4, littleEndian));
}

/** The entries of a directory; none where the sample does not reach. */
function tiffDirectory(sample: ContentSample, offset: number, littleEndian: boolean): TiffEntry[] {
  const counted = bytesAt(sample, offset, 2);
  if (counted === undefined) return [];
  const count = Math.min(readUInt(counted, 0, 2, littleEndian), 512);
  const bytes = bytesAt(sample, offset + 2, count * 12);
  if (bytes === undefined) return [];
  return Array.from({ length: count }, (_, index) => ({
    tag: readUInt(bytes, index * 12, 2, littleEndian),
    type: readUInt(bytes, index * 12 + 2, 2, littleEndian),
    count: readUInt(bytes, index * 12 + 4, 4, littleEndian),
    value: bytes.subarray(index * 12 + 8, index * 12 + 12),
  }));
}

function readUInt(bytes: Buffer, offset: number, length: number, littleEndian: boolean): number {
  return littleEndian ? bytes.readUIntLE(offset, length) : bytes.readUIntBE(offset, length);
}

const avifBrands = new Set(['avif', 'avis']);
const heicBrands = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs']);
/** Brands that say "a still picture" and leave the codec to the compatible brands. */
const neutralBrands = new Set(['mif1', 'msf1', 'mif2', 'miaf', 'heif']);

/** The pictures among the ISO base media files (which MP4 is too), told by their brands. */
export function baseMediaPicture(head: Buffer): FileTypeId | undefined {
  if (head.length < 16 || latin1(head, 4, 8) !== 'ftyp') return undefined;
  const major = latin1(head, 8, 12);
  if (major === 'crx ') return 'raw';
  if (major === 'jxl ') return 'jxl';
  if (avifBrands.has(major)) return 'avif';
  if (heicBrands.has(major)) return 'heic';
  if (!neutralBrands.has(major)) return undefined;
  return compatibleBrands(head).some((brand) => avifBrands.has(brand)) ? 'avif' : 'heic';
}

function compatibleBrands(head: Buffer): string[] {
  const end = Math.min(head.readUInt32BE(0), head.length, 256);
  const brands = [];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(latin1(head, at, at + 4));
  return brands;
}

const tarBlock = 512;

/** A TAR by the checksum of its first header, which the oldest ones without the `ustar` mark have as well. */
export function tar(head: Buffer): FileTypeId | undefined {
  if (head.length < tarBlock || head[0] === 0) return undefined;
  const stored = Number.parseInt(
    latin1(head, 148, 156)
      .replace(/[\0 ]+/g, ' ')
      .trim(),
    8,
  );
  if (!(stored > 0)) return undefined;
  let sum = 8 * 0x20; // The checksum counts its own field as spaces.
  for (let at = 0; at < tarBlock; at++) sum += at >= 148 && at < 156 ? 0 : (head[at] ?? 0);
  return sum === stored ? 'tar' : undefined;
}

/** A Windows icon: its mark is four common bytes, so its first directory entry has to make sense too. */
export function icon({ head, size }: ContentSample): FileTypeId | undefined {
  if (head.length < 22 || head.readUInt32LE(0) !== 0x00010000) return undefined;
  const count = head.readUInt16LE(4);
  const bytes = head.readUInt32LE(14);
  const offset = head.readUInt32LE(18);
  const fits = count > 0 && head[9] === 0 && bytes > 0 && offset >= 6 + count * 16 && offset + bytes <= size;
  return fits ? 'ico' : undefined;
}

const bitmapHeaderLengths = new Set([12, 16, 40, 52, 56, 64, 108, 124]);

/** `BM` also begins many a sentence: the length of the header behind it decides. */
export function windowsBitmap(head: Buffer): FileTypeId | undefined {
  if (head.length < 26 || latin1(head, 0, 2) !== 'BM') return undefined;
  return bitmapHeaderLengths.has(head.readUInt32LE(14)) ? 'bmp' : undefined;
}
