import { crc32 } from 'node:zlib';
import type { FileTypeId } from '../lib/media-types.ts';
import { pngChunk } from './png.ts';

/**
 * Takes out of an image file what says where, when and by whom it was made, without touching the pixels: the colour
 * profile and the orientation stay, because a viewer needs them to show the same picture. Never grows.
 *
 * @returns the shorter file; the same bytes for a format it does not know or a file it cannot follow.
 */
export function stripMetadata(file: Buffer, type: FileTypeId, facts: ImageMetadata = {}): Buffer {
  const stripped = stripper(type)(file, facts);
  return stripped.length <= file.length ? stripped : file;
}

/** The header facts of an image that is stripped. */
export interface ImageMetadata {
  orientation?: number | undefined;
  exif?: Buffer | undefined;
  xmp?: Buffer | undefined;
  /** Also take out the colour profile; only of WebP. */
  dropsProfile?: boolean;
}

type Stripper = (file: Buffer, facts: ImageMetadata) => Buffer;

function stripper(type: FileTypeId): Stripper {
  if (type === 'jpeg') return stripJpeg;
  if (type === 'png') return stripPng;
  if (type === 'webp') return stripWebp;
  if (type === 'avif' || type === 'heic') return blankMetadata;
  return (file) => file;
}

const jpegMarker = { startOfScan: 0xda, comment: 0xfe, app0: 0xe0, app1: 0xe1, app2: 0xe2, app14: 0xee, app15: 0xef };

/** Keeps JFIF, the colour profile, Adobe's colour transform, and a new EXIF block with nothing but the orientation. */
function stripJpeg(file: Buffer, { orientation = 1 }: ImageMetadata): Buffer {
  const kept: Buffer[] = [file.subarray(0, 2)];
  if (orientation > 1) kept.push(orientationSegment(orientation));
  for (let at = 2; at + 4 <= file.length;) {
    if (file[at] !== 0xff) return file;
    const marker = file.readUInt8(at + 1);
    if (marker === 0xff) {
      at++; // Padding before a marker.
      continue;
    }
    if (marker === jpegMarker.startOfScan) return Buffer.concat([...kept, file.subarray(at)]);
    const end = at + 2 + file.readUInt16BE(at + 2);
    if (keepsSegment(marker, file.subarray(at + 4, end))) kept.push(file.subarray(at, end));
    at = end;
  }
  return file;
}

function keepsSegment(marker: number, content: Buffer): boolean {
  if (marker === jpegMarker.comment) return false;
  if (marker < jpegMarker.app0 || marker > jpegMarker.app15) return true;
  if (marker === jpegMarker.app2) return content.toString('latin1', 0, 11) === 'ICC_PROFILE';
  return marker === jpegMarker.app0 || marker === jpegMarker.app14;
}

function orientationSegment(orientation: number): Buffer {
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), orientationExif(orientation)]);
  const head = Buffer.from([0xff, jpegMarker.app1, 0, 0]);
  head.writeUInt16BE(exif.length + 2, 2);
  return Buffer.concat([head, exif]);
}

/** The smallest EXIF block: one directory with one tag, 0x0112. */
function orientationExif(orientation: number): Buffer {
  const exif = Buffer.alloc(26);
  exif.write('MM\0*', 0, 'latin1');
  exif.writeUInt32BE(8, 4);
  exif.writeUInt16BE(1, 8);
  exif.writeUInt16BE(0x0112, 10);
  exif.writeUInt16BE(3, 12);
  exif.writeUInt32BE(1, 14);
  exif.writeUInt16BE(orientation, 18);
  return exif;
}

const pngMetadata = new Set(['tEXt', 'zTXt', 'iTXt', 'tIME', 'eXIf', 'caBX']);

function stripPng(file: Buffer, { orientation = 1 }: ImageMetadata): Buffer {
  const kept: Buffer[] = [file.subarray(0, 8)];
  for (let at = 8; at + 12 <= file.length;) {
    const type = file.toString('latin1', at + 4, at + 8);
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) return file;
    if (!pngMetadata.has(type)) kept.push(file.subarray(at, end));
    if (type === 'IHDR' && orientation > 1) kept.push(pngChunk('eXIf', orientationExif(orientation)));
    if (type === 'IEND') return Buffer.concat(kept);
    at = end;
  }
  return file;
}

const webpFlags = { profile: 0x20, exif: 0x08, xmp: 0x04 };

/** Leaves the picture byte for byte; a turned one gets a new EXIF block with nothing but the orientation. */
function stripWebp(file: Buffer, { orientation = 1, dropsProfile = false }: ImageMetadata): Buffer {
  const dropped = new Set(['EXIF', 'XMP ', ...(dropsProfile ? ['ICCP'] : [])]);
  const chunks: Buffer[] = [];
  for (let at = 12; at + 8 <= file.length;) {
    const length = file.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    if (!dropped.has(file.toString('latin1', at, at + 4))) chunks.push(Buffer.from(file.subarray(at, end)));
    at = end;
  }
  const extended = chunks.find((chunk) => chunk.toString('latin1', 0, 4) === 'VP8X');
  // Without the extended header there was no place for metadata, and so no orientation.
  if (extended !== undefined) {
    if (orientation > 1) chunks.push(webpOrientation(orientation));
    const gone = webpFlags.xmp | (orientation > 1 ? 0 : webpFlags.exif) | (dropsProfile ? webpFlags.profile : 0);
    extended[8] = (extended[8] ?? 0) & ~gone;
  }
  const head = Buffer.from(file.subarray(0, 12));
  const stripped = Buffer.concat([head, ...chunks]);
  stripped.writeUInt32LE(stripped.length - 8, 4);
  return stripped;
}

function webpOrientation(orientation: number): Buffer {
  const exif = orientationExif(orientation);
  const head = Buffer.from('EXIF\0\0\0\0', 'latin1');
  head.writeUInt32LE(exif.length, 4);
  return Buffer.concat([head, exif]);
}

/** In an ISO container other boxes point behind the metadata by position, so it is overwritten where it stands. */
function blankMetadata(file: Buffer, { exif, xmp }: ImageMetadata): Buffer {
  const blanked = Buffer.from(file);
  for (const content of [withoutExifMarker(exif), xmp]) {
    const at = content === undefined || content.length === 0 ? -1 : blanked.indexOf(content);
    if (content === undefined || at === -1) continue;
    blanked.fill(content === xmp ? ' ' : '\0', at, at + content.length);
    if (content !== xmp) blanked.write('MM\0*\0\0\0\b', at, 'latin1'); // An EXIF block without a single tag.
  }
  return blanked;
}

/** libvips puts the marker of a JPEG segment before every EXIF block. */
function withoutExifMarker(exif: Buffer | undefined): Buffer | undefined {
  return exif?.toString('latin1', 0, 4) === 'Exif' ? exif.subarray(6) : exif;
}

/**
 * An EXIF block for pixels that were turned upright: without a marker before it, and with the orientation, where it says
 * one, set to "as stored".
 */
export function uprightExif(exif: Buffer): Buffer {
  const block = Buffer.from(withoutExifMarker(exif) ?? exif);
  const isLittle = block.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (isLittle ? block.readUInt16LE(at) : block.readUInt16BE(at));
  try {
    const first = isLittle ? block.readUInt32LE(4) : block.readUInt32BE(4);
    for (let entry = 0; entry < short(first); entry++) {
      const at = first + 2 + entry * 12;
      if (short(at) !== 0x0112) continue;
      if (isLittle) block.writeUInt16LE(1, at + 8);
      else block.writeUInt16BE(1, at + 8);
    }
  } catch {
    // A directory beyond the end: no reader finds an orientation there either.
  }
  return block;
}

/** What stands before an EXIF block: in JPEG, AVIF, HEIC and some WebP; in PNG; in other WebP. */
const exifMarkers = [
  { text: 'Exif\0\0MM', skip: 6 },
  { text: 'Exif\0\0II', skip: 6 },
  { text: 'eXIf', skip: 4 },
  { text: 'EXIF', skip: 8 },
];

/**
 * The small copy of the picture that cameras put into EXIF still shows what was cropped away or watermarked. Overwrites it
 * in an encoded file, wherever the format keeps its EXIF block; everything else EXIF says stays.
 */
export function eraseThumbnail(file: Buffer): void {
  const found = exifMarkers
    .map(({ text, skip }) => ({ text, at: file.indexOf(text, 0, 'latin1'), skip }))
    .find(({ at }) => at !== -1);
  if (found === undefined) return;
  const start = found.at + found.skip;
  const directory = thumbnailDirectory(file.subarray(start));
  if (directory === undefined) return;
  const { exif, pointerAt, thumbnail } = directory;
  exif.fill(0, thumbnail.start, thumbnail.end);
  exif.writeUInt32BE(0, pointerAt);
  if (found.text === 'eXIf') {
    const end = start + file.readUInt32BE(found.at - 4);
    file.writeUInt32BE(crc32(file.subarray(found.at, end)), end);
  }
}

/** Whether an EXIF block, with or without its JPEG marker, holds a small copy of the picture. */
export function hasThumbnail(exif: Buffer | undefined): boolean {
  const block = withoutExifMarker(exif);
  return block !== undefined && thumbnailDirectory(block) !== undefined;
}

const thumbnailTags = { offset: 0x0201, length: 0x0202 };

/** The second directory of a TIFF structure is the thumbnail's; the first ends with the pointer to it. */
function thumbnailDirectory(
  exif: Buffer,
): { exif: Buffer; pointerAt: number; thumbnail: { start: number; end: number } } | undefined {
  try {
    const isLittle = exif.toString('latin1', 0, 2) === 'II';
    const short = (at: number) => (isLittle ? exif.readUInt16LE(at) : exif.readUInt16BE(at));
    const long = (at: number) => (isLittle ? exif.readUInt32LE(at) : exif.readUInt32BE(at));
    const first = long(4);
    const pointerAt = first + 2 + short(first) * 12;
    const second = long(pointerAt);
    if (second === 0) return undefined;
    const entries = Array.from({ length: short(second) }, (_, index) => second + 2 + index * 12);
    const valueOf = (tag: number) => entries.filter((at) => short(at) === tag).map((at) => long(at + 8))[0];
    const start = valueOf(thumbnailTags.offset);
    if (start === undefined) return undefined;
    return {
      exif,
      pointerAt,
      thumbnail: { start, end: Math.min(exif.length, start + (valueOf(thumbnailTags.length) ?? 0)) },
    };
  } catch {
    return undefined; // Pointers beyond the end: no reader finds a thumbnail there either.
  }
}
