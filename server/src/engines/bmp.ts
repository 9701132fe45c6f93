import { brokenImage, assertDecodable, type NamedFile } from './image-failure.ts';
import type { Raster } from './raster.ts';

/**
 * Windows bitmaps, which libvips only reads through ImageMagick (never behind user files). Format: Microsoft's
 * BITMAPINFOHEADER documentation; every variant Windows itself writes is read except embedded JPEG and PNG.
 */

const fileHeaderLength = 14;
const compressions = { none: 0, rle8: 1, rle4: 2, bitfields: 3, alphaBitfields: 6 };

interface BitmapHeader {
  /** Bytes of the header itself, before masks and palette. */
  size: number;
  width: number;
  height: number;
  bottomUp: boolean;
  bits: number;
  compression: number;
  /** Red, green, blue and alpha masks of 16- and 32-bit pixels; alpha 0 when there is none. */
  masks: [number, number, number, number];
  /** Blue, green, red, unused: four bytes a colour. */
  palette: Uint8Array;
  /** Where the pixels start when no file header says so (in an icon). */
  end: number;
}

/** @throws Failure `invalid_input` for a damaged file, `resource_limit` for one that is too large. */
export function decodeBmp(file: Buffer, named: NamedFile): Raster {
  return guarded(named, () => {
    const header = readHeader(file.subarray(fileHeaderLength), named, { icon: false });
    const pixelsAt = Math.max(file.readUInt32LE(10), fileHeaderLength + header.size);
    return decodePixels(file.subarray(pixelsAt), header, named);
  });
}

/** The bitmap of an icon: no file header, twice the height, and a mask of one bit a pixel after the colours. */
export function decodeIconBitmap(bitmap: Buffer, named: NamedFile): Raster {
  return guarded(named, () => {
    const header = readHeader(bitmap, named, { icon: true });
    const raster = decodePixels(bitmap.subarray(header.end), header, named);
    const transparent = raster.hasAlpha && raster.data.some((value, index) => index % 4 === 3 && value !== 0);
    return transparent ? raster : withIconMask(raster, bitmap.subarray(header.end + colorBytes(header)));
  });
}

function guarded<T>(named: NamedFile, read: () => T): T {
  try {
    return read();
  } catch (error) {
    // Reading past the end of the buffer: the file is cut short.
    throw error instanceof RangeError ? brokenImage(named, error.message) : error;
  }
}

function readHeader(dib: Buffer, named: NamedFile, { icon }: { icon: boolean }): BitmapHeader {
  const size = dib.readUInt32LE(0);
  const isCore = size === 12; // OS/2 1.x
  if (!isCore && (size < 40 || size > 1024)) throw brokenImage(named, `header of ${size} bytes`);
  const storedHeight = isCore ? dib.readUInt16LE(6) : dib.readInt32LE(8);
  const width = isCore ? dib.readUInt16LE(4) : dib.readInt32LE(4);
  const height = Math.abs(icon ? Math.trunc(storedHeight / 2) : storedHeight);
  assertDecodable(named, { width, height });
  const bits = dib.readUInt16LE(isCore ? 10 : 14);
  const compression = isCore ? compressions.none : dib.readUInt32LE(16);
  const hasMasks = compression === compressions.bitfields || compression === compressions.alphaBitfields;
  const masksAfterHeader = hasMasks && size === 40 ? (compression === compressions.alphaBitfields ? 16 : 12) : 0;
  const paletteAt = size + masksAfterHeader;
  const colors = bits <= 8 ? Math.min((isCore ? 0 : dib.readUInt32LE(32)) || 2 ** bits, 256) : 0;
  const end = paletteAt + colors * (isCore ? 3 : 4);
  return {
    size,
    width,
    height,
    bottomUp: storedHeight > 0,
    bits,
    compression,
    masks: hasMasks ? readMasks(dib, size, compression) : defaultMasks(bits, icon),
    palette: isCore ? widenPalette(dib.subarray(paletteAt, end)) : dib.subarray(paletteAt, end),
    end,
  };
}

function readMasks(dib: Buffer, size: number, compression: number): BitmapHeader['masks'] {
  const hasAlpha = size >= 56 || compression === compressions.alphaBitfields;
  return [dib.readUInt32LE(40), dib.readUInt32LE(44), dib.readUInt32LE(48), hasAlpha ? dib.readUInt32LE(52) : 0];
}

/** The fourth byte of a 32-bit pixel is alpha in icons and unused in plain bitmaps. */
function defaultMasks(bits: number, icon: boolean): BitmapHeader['masks'] {
  if (bits === 16) return [0x7c00, 0x03e0, 0x001f, 0];
  return [0x00ff0000, 0x0000ff00, 0x000000ff, icon && bits === 32 ? 0xff000000 : 0];
}

function widenPalette(triples: Uint8Array): Uint8Array {
  const palette = new Uint8Array((triples.length / 3) * 4);
  for (let color = 0; color * 3 < triples.length; color++) {
    palette.set(triples.subarray(color * 3, color * 3 + 3), color * 4);
  }
  return palette;
}

/** Bytes of one row of samples: rows end on a multiple of four bytes. */
function stride(width: number, bits: number): number {
  return Math.ceil((width * bits) / 32) * 4;
}

function colorBytes({ width, height, bits }: BitmapHeader): number {
  return stride(width, bits) * height;
}

function decodePixels(pixels: Buffer, header: BitmapHeader, named: NamedFile): Raster {
  const { compression, bits } = header;
  if (compression === compressions.rle8 || compression === compressions.rle4) {
    const indices = expandRuns(pixels, header, compression === compressions.rle8 ? 8 : 4);
    return decodePixels(indices, { ...header, bits: 8, compression: compressions.none }, named);
  }
  const known = Object.values(compressions).includes(compression) && [1, 2, 4, 8, 16, 24, 32].includes(bits);
  if (!known) throw brokenImage(named, `compression ${compression} with ${bits} bits`);
  if (pixels.length < colorBytes(header)) throw brokenImage(named, `only ${pixels.length} bytes of pixels`);
  return bits <= 8 ? decodeIndexed(pixels, header) : decodeDirect(pixels, header);
}

function decodeIndexed(pixels: Buffer, header: BitmapHeader): Raster {
  const { width, height, bits, palette } = header;
  const data = new Uint8Array(width * height * 3);
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  eachRow(pixels, header, (row, target) => {
    for (let x = 0; x < width; x++) {
      const byte = row[Math.floor(x / perByte)] ?? 0;
      const color = ((byte >> (8 - bits * ((x % perByte) + 1))) & mask) * 4;
      data[target + x * 3] = palette[color + 2] ?? 0;
      data[target + x * 3 + 1] = palette[color + 1] ?? 0;
      data[target + x * 3 + 2] = palette[color] ?? 0;
    }
  });
  return { width, height, color: 'rgb', hasAlpha: false, bits: 8, data };
}

function decodeDirect(pixels: Buffer, header: BitmapHeader): Raster {
  const { width, height, bits } = header;
  const hasAlpha = header.masks[3] !== 0;
  const channels = hasAlpha ? 4 : 3;
  const scales = header.masks.slice(0, channels).map(maskScale);
  const data = new Uint8Array(width * height * channels);
  const bytes = bits / 8;
  eachRow(pixels, header, (row, target) => {
    for (let x = 0; x < width; x++) {
      const pixel = row.readUIntLE(x * bytes, bytes);
      for (const [channel, scale] of scales.entries())
        data[(target / 3) * channels + x * channels + channel] = scale(pixel);
    }
  });
  return { width, height, color: 'rgb', hasAlpha, bits: 8, data };
}

/** Takes the bits of a mask out of a pixel and widens them to 0..255. */
function maskScale(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 0;
  const shift = Math.clz32(mask & -mask) ^ 31;
  const highest = mask >>> shift;
  return (pixel) => Math.round((((pixel & mask) >>> shift) * 255) / highest);
}

/** Calls back for each row with where it goes in a buffer of three bytes a pixel, rows from the top. */
function eachRow(pixels: Buffer, header: BitmapHeader, visit: (row: Buffer, target: number) => void): void {
  const length = stride(header.width, header.bits);
  for (let stored = 0; stored < header.height; stored++) {
    const y = header.bottomUp ? header.height - 1 - stored : stored;
    visit(pixels.subarray(stored * length, (stored + 1) * length), y * header.width * 3);
  }
}

/** Run-length encoding to one byte an index, padded rows, still in stored order. */
function expandRuns(packed: Buffer, { width, height }: BitmapHeader, bits: 4 | 8): Buffer {
  const length = stride(width, 8);
  const indices = Buffer.alloc(length * height);
  const put = (x: number, y: number, value: number) => {
    if (x < width && y < height) indices[y * length + x] = value;
  };
  const nibble = (byte: number, index: number) => (index % 2 === 0 ? byte >> 4 : byte & 15);
  let x = 0;
  let y = 0;
  for (let at = 0; at + 1 < packed.length && y < height;) {
    const count = packed.readUInt8(at);
    const value = packed.readUInt8(at + 1);
    at += 2;
    if (count > 0) {
      for (let i = 0; i < count; i++) put(x++, y, bits === 8 ? value : nibble(value, i));
    } else if (value === 0) {
      x = 0;
      y++;
    } else if (value === 1) {
      break;
    } else if (value === 2) {
      x += packed.readUInt8(at);
      y += packed.readUInt8(at + 1);
      at += 2;
    } else {
      for (let i = 0; i < value; i++) {
        put(x++, y, bits === 8 ? packed.readUInt8(at + i) : nibble(packed.readUInt8(at + (i >> 1)), i));
      }
      at += Math.ceil((value * bits) / 16) * 2;
    }
  }
  return indices;
}

function withIconMask(raster: Raster, mask: Buffer): Raster {
  const { width, height } = raster;
  const channels = raster.hasAlpha ? 4 : 3;
  const length = stride(width, 1);
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    const row = mask.subarray((height - 1 - y) * length);
    for (let x = 0; x < width; x++) {
      const pixel = y * width + x;
      data.set(raster.data.subarray(pixel * channels, pixel * channels + 3), pixel * 4);
      const masked = ((row[x >> 3] ?? 0) >> (7 - (x & 7))) & 1;
      data[pixel * 4 + 3] = masked === 1 ? 0 : 255;
    }
  }
  return { ...raster, hasAlpha: true, data };
}

/**
 * A 24-bit bitmap of RGB pixels, rows from the top. Alpha is left out: hardly any reader of BMP knows it.
 * `dpi` is stored as pixels a metre.
 */
export function encodeBmp(rgb: Uint8Array, width: number, height: number, dpi = 96): Buffer {
  const length = stride(width, 24);
  const file = Buffer.alloc(fileHeaderLength + 40 + length * height);
  file.write('BM', 0, 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(fileHeaderLength + 40, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  file.writeUInt32LE(length * height, 34);
  const pixelsPerMetre = Math.round(dpi / 0.0254);
  file.writeInt32LE(pixelsPerMetre, 38);
  file.writeInt32LE(pixelsPerMetre, 42);
  for (let y = 0; y < height; y++) {
    let target = fileHeaderLength + 40 + (height - 1 - y) * length;
    for (let source = y * width * 3; source < (y + 1) * width * 3; source += 3) {
      file[target++] = rgb[source + 2] ?? 0;
      file[target++] = rgb[source + 1] ?? 0;
      file[target++] = rgb[source] ?? 0;
    }
  }
  return file;
}
