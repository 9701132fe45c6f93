import { Failure } from '../lib/failure.ts';
import { assertDecodable, brokenImage, type NamedFile } from './image-failure.ts';
import type { Raster } from './raster.ts';

/**
 * The flattened picture that Photoshop stores at the end of a PSD or PSB. Read here rather than by a package: the ones
 * there are turn it into 8-bit sRGB without its colour profile and refuse CMYK, which is what a printer's PSD is.
 * Format: Adobe Photoshop File Formats Specification.
 */

const colorModes: Record<number, Raster['color'] | 'indexed'> = {
  1: 'grey',
  2: 'indexed',
  3: 'rgb',
  4: 'cmyk',
  8: 'grey',
};
const colorCounts = { grey: 1, rgb: 3, cmyk: 4, indexed: 1 };
const iccResource = 1039;

/** @throws Failure `invalid_input` for a damaged file or a colour mode without a picture; `resource_limit`. */
export function decodePsd(file: Buffer, named: NamedFile): Raster {
  try {
    return readComposite(file, named);
  } catch (error) {
    throw error instanceof RangeError ? brokenImage(named, error.message) : error;
  }
}

function readComposite(file: Buffer, named: NamedFile): Raster {
  const isPsb = file.readUInt16BE(4) === 2;
  const storedChannels = file.readUInt16BE(12);
  const height = file.readUInt32BE(14);
  const width = file.readUInt32BE(18);
  const bits = file.readUInt16BE(22);
  const mode = colorModes[file.readUInt16BE(24)];
  assertDecodable(named, { width, height });
  if (mode === undefined || (bits !== 8 && bits !== 16)) {
    throw new Failure(
      'invalid_input',
      `"${named.filename}" is in a Photoshop colour mode that cannot be read: save it as RGB with 8 or 16 bits.`,
      {
        file: named.filename,
        log: `mode ${file.readUInt16BE(24)}, ${bits} bits`,
      },
    );
  }
  const palette = section(file, 26, 4);
  const resources = section(file, palette.end, 4);
  const layers = section(file, resources.end, isPsb ? 8 : 4);
  const colors = colorCounts[mode];
  const hasAlpha = mode !== 'indexed' && storedChannels > colors && hasTransparency(file, layers.start, isPsb);
  const channels = colors + (hasAlpha ? 1 : 0);
  if (storedChannels < channels) throw brokenImage(named, `${storedChannels} channels`);

  const rowBytes = (width * bits) / 8;
  const planes = readPlanes(file, layers.end, {
    isPsb,
    rows: storedChannels * height,
    wanted: channels * height,
    rowBytes,
  });
  const data = interleave(planes, width * height, channels, bits / 8);
  // Photoshop stores CMYK as light, TIFF as ink.
  if (mode === 'cmyk') invertColors(data, channels * (bits / 8), colors * (bits / 8));
  const shape = { width, height, bits: bits as 8 | 16 };
  if (mode === 'indexed') {
    return { ...shape, color: 'rgb', hasAlpha: false, data: lookUp(data, file.subarray(palette.start, palette.end)) };
  }
  return { ...shape, color: mode, hasAlpha, data, icc: findResource(file, resources, iccResource) };
}

interface Span {
  start: number;
  end: number;
}

function section(file: Buffer, at: number, lengthBytes: 4 | 8): Span {
  const length = lengthBytes === 8 ? Number(file.readBigUInt64BE(at)) : file.readUInt32BE(at);
  return { start: at + lengthBytes, end: at + lengthBytes + length };
}

/** A negative layer count says that the first extra channel is the picture's transparency, not a saved selection. */
function hasTransparency(file: Buffer, layersStart: number, isPsb: boolean): boolean {
  const info = section(file, layersStart, isPsb ? 8 : 4);
  return info.end - info.start >= 2 && file.readInt16BE(info.start) < 0;
}

function findResource(file: Buffer, { start, end }: Span, wanted: number): Uint8Array | undefined {
  for (let at = start; at + 12 <= end;) {
    const id = file.readUInt16BE(at + 4);
    const nameLength = file.readUInt8(at + 6);
    const dataAt = at + 6 + evenUp(1 + nameLength);
    const { start: from, end: to } = section(file, dataAt, 4);
    if (id === wanted) return to <= file.length ? file.subarray(from, to) : undefined;
    at = from + evenUp(to - from);
  }
  return undefined;
}

function evenUp(length: number): number {
  return length + (length % 2);
}

function readPlanes(
  file: Buffer,
  at: number,
  { isPsb, rows, wanted, rowBytes }: { isPsb: boolean; rows: number; wanted: number; rowBytes: number },
): Uint8Array {
  const compression = file.readUInt16BE(at);
  if (compression === 0) {
    const planes = file.subarray(at + 2, at + 2 + wanted * rowBytes);
    if (planes.length < wanted * rowBytes) throw new RangeError('the picture is cut short');
    return planes;
  }
  if (compression !== 1) throw new RangeError(`compression ${compression} of the picture`);
  const planes = new Uint8Array(wanted * rowBytes);
  const countBytes = isPsb ? 4 : 2;
  let rowAt = at + 2 + rows * countBytes;
  for (let row = 0; row < wanted; row++) {
    const length = file.readUIntBE(at + 2 + row * countBytes, countBytes);
    if (rowAt + length > file.length) throw new RangeError('the picture is cut short');
    unpackBits(file.subarray(rowAt, rowAt + length), planes.subarray(row * rowBytes, (row + 1) * rowBytes));
    rowAt += length;
  }
  return planes;
}

function unpackBits(packed: Uint8Array, target: Uint8Array): void {
  let to = 0;
  for (let at = 0; at < packed.length && to < target.length;) {
    const code = packed[at++] ?? 0;
    if (code === 128) continue;
    if (code < 128) {
      const literal = packed.subarray(at, Math.min(at + code + 1, at + target.length - to));
      target.set(literal, to);
      at += code + 1;
      to += code + 1;
    } else {
      target.fill(packed[at++] ?? 0, to, to + 257 - code);
      to += 257 - code;
    }
  }
}

/** One plane after the other to one pixel after the other. */
function interleave(planes: Uint8Array, pixels: number, channels: number, bytes: number): Uint8Array {
  const data = new Uint8Array(pixels * channels * bytes);
  for (let channel = 0; channel < channels; channel++) {
    for (let byte = 0; byte < bytes; byte++) {
      let from = channel * pixels * bytes + byte;
      for (let to = channel * bytes + byte; to < data.length; to += channels * bytes) {
        data[to] = planes[from] ?? 0;
        from += bytes;
      }
    }
  }
  return data;
}

function invertColors(data: Uint8Array, pixelBytes: number, colorBytes: number): void {
  for (let at = 0; at < data.length; at++) {
    if (at % pixelBytes < colorBytes) data[at] = 255 - (data[at] ?? 0);
  }
}

/** Palette of 256 reds, then greens, then blues. */
function lookUp(indices: Uint8Array, palette: Uint8Array): Uint8Array {
  const data = new Uint8Array(indices.length * 3);
  for (const [pixel, index] of indices.entries()) {
    for (let color = 0; color < 3; color++) data[pixel * 3 + color] = palette[color * 256 + index] ?? 0;
  }
  return data;
}
