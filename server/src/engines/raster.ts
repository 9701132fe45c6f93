import { deflateSync } from 'node:zlib';
import { pngChunk, pngSignature, storedRows } from './png.ts';

/** Decoded pixels of a codec that libvips does not have, interleaved, rows from the top. */
export interface Raster {
  width: number;
  height: number;
  color: 'grey' | 'rgb' | 'cmyk';
  hasAlpha: boolean;
  /** Bits a sample; 16-bit samples are big-endian. */
  bits: 8 | 16;
  data: Uint8Array;
  /** The colour profile the samples are in; sRGB without one. */
  icc?: Uint8Array | undefined;
  dpi?: number | undefined;
}

export const colorChannels = { grey: 1, rgb: 3, cmyk: 4 };
const photometric = { grey: 1, rgb: 2, cmyk: 5 };

function channelsOf({ color, hasAlpha }: Pick<Raster, 'color' | 'hasAlpha'>): number {
  return colorChannels[color] + (hasAlpha ? 1 : 0);
}

type TiffTag = [tag: number, type: 3 | 4 | 5 | 7, count: number, value: Buffer];

/**
 * The pixels as an uncompressed TIFF (6.0, big-endian). libvips takes raw pixels as sRGB only; a TIFF around them also
 * says which colour profile, CMYK or 16 bits they are, and costs nothing to read.
 */
export function rasterToTiff(raster: Raster): Buffer {
  const channels = channelsOf(raster);
  const bitsPerSample = shorts(Array.from({ length: channels }, () => raster.bits));
  const tags: TiffTag[] = [
    [256, 4, 1, long(raster.width)],
    [257, 4, 1, long(raster.height)],
    [258, 3, channels, bitsPerSample],
    [259, 3, 1, shorts([1])],
    [262, 3, 1, shorts([photometric[raster.color]])],
    [273, 4, 1, long(0)], // Where the pixels start: set below, when the length of everything before them is known.
    [277, 3, 1, shorts([channels])],
    [278, 4, 1, long(raster.height)],
    [279, 4, 1, long(raster.data.length)],
    [284, 3, 1, shorts([1])],
  ];
  if (raster.dpi !== undefined) tags.push(...resolutionTags(raster.dpi));
  if (raster.color === 'cmyk') tags.push([332, 3, 1, shorts([1])]);
  if (raster.hasAlpha) tags.push([338, 3, 1, shorts([2])]);
  if (raster.icc !== undefined) tags.push([34675, 7, raster.icc.length, Buffer.from(raster.icc)]);

  tags.sort(([one], [other]) => one - other);

  const headLength = 8 + 2 + tags.length * 12 + 4;
  const tailLength = tags.reduce((sum, [, , , value]) => sum + (value.length > 4 ? value.length : 0), 0);
  const head = Buffer.alloc(headLength + tailLength);
  head.write('MM\0*', 0, 'latin1');
  head.writeUInt32BE(8, 4);
  head.writeUInt16BE(tags.length, 8);
  let tail = headLength;
  for (const [index, [tag, type, count, value]] of tags.entries()) {
    const entry = 10 + index * 12;
    head.writeUInt16BE(tag, entry);
    head.writeUInt16BE(type, entry + 2);
    head.writeUInt32BE(count, entry + 4);
    if (tag === 273) head.writeUInt32BE(head.length, entry + 8);
    else if (value.length <= 4) value.copy(head, entry + 8);
    else {
      head.writeUInt32BE(tail, entry + 8);
      value.copy(head, tail);
      tail += value.length;
    }
  }
  return Buffer.concat([head, raster.data]);
}

function resolutionTags(dpi: number): TiffTag[] {
  const ratio = Buffer.concat([long(Math.round(dpi * 100)), long(100)]);
  return [
    [282, 5, 1, ratio],
    [283, 5, 1, ratio],
    [296, 3, 1, shorts([2])],
  ];
}

/**
 * The pixels, 8 bits each and not CMYK, as an uncompressed PNG: unlike TIFF, libvips reads an EXIF block from it. `exif`
 * starts with its byte order.
 */
export function rasterToPng(raster: Raster, exif: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(raster.width, 0);
  header.writeUInt32BE(raster.height, 4);
  header[8] = raster.bits;
  header[9] = (raster.color === 'grey' ? 0 : 2) + (raster.hasAlpha ? 4 : 0);
  return Buffer.concat([
    pngSignature,
    pngChunk('IHDR', header),
    ...(raster.icc === undefined
      ? []
      : [pngChunk('iCCP', Buffer.concat([Buffer.from('icc\0\0', 'latin1'), deflateSync(raster.icc)]))]),
    pngChunk('eXIf', exif),
    pngChunk('IDAT', storedRows(raster.data, raster.width * channelsOf(raster))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function shorts(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}
