import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Engine } from './engine.ts';
import { assertDecodable, brokenImage, type NamedFile } from './image-failure.ts';
import type { Raster } from './raster.ts';
import { installedVersion } from './sharp.ts';

export const jxlEngine: Engine = {
  id: 'jxl',
  name: 'libjxl (JPEG XL)',
  license: 'Apache-2.0 AND BSD-3-Clause',
  version: async () => installedVersion('@jsquash/jxl'),
};

/** The package is made for browsers: in Node the compiled WebAssembly is handed to it, or it would try to fetch it. */
async function compile(file: string): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve(`@jsquash/jxl/codec/${file}`);
  return WebAssembly.compile(await readFile(path));
}

/** What the decoder constructs for its result, which only browsers have. */
function provideImageData(): void {
  const scope = globalThis as { ImageData?: unknown };
  scope.ImageData ??= function ImageData(data: Uint8ClampedArray, width: number, height: number) {
    return { data, width, height };
  };
}

let decoder: Promise<typeof import('@jsquash/jxl/decode.js').default> | undefined;
let encoder: Promise<typeof import('@jsquash/jxl/encode.js').default> | undefined;

async function loadDecoder() {
  provideImageData();
  const { default: decode, init } = await import('@jsquash/jxl/decode.js');
  await init(await compile('dec/jxl_dec.wasm'));
  return decode;
}

async function loadEncoder() {
  const { default: encode, init } = await import('@jsquash/jxl/encode.js');
  await init(await compile('enc/jxl_enc.wasm'));
  return encode;
}

/** A JPEG XL image as sRGB with alpha (the decoder converts from the file's own profile); the first frame of an animation. */
export async function decodeJxl(file: Buffer, named: NamedFile): Promise<Raster> {
  const size = jxlSize(file);
  if (size === undefined) throw brokenImage(named, 'no size in the header');
  assertDecodable(named, size);
  decoder ??= loadDecoder();
  const decode = await decoder;
  try {
    const { data, width, height } = await decode(arrayBufferOf(file));
    return { width, height, color: 'rgb', hasAlpha: true, bits: 8, data: new Uint8Array(data.buffer) };
  } catch (error) {
    decoder = undefined; // WebAssembly that has trapped stays broken: the next image gets a fresh one.
    throw brokenImage(named, String(error));
  }
}

/** `rgba`: eight bits, rows from the top. Effort 4 of 9: the default of 7 takes four times as long for a few per cent. */
export async function encodeJxl(
  rgba: Buffer,
  width: number,
  height: number,
  options: { quality: number; lossless: boolean; best: boolean },
): Promise<Buffer> {
  encoder ??= loadEncoder();
  const encode = await encoder;
  const pixels = { data: new Uint8ClampedArray(rgba), width, height } as never;
  const fidelity = options.lossless ? { lossless: true } : { quality: options.quality };
  return Buffer.from(await encode(pixels, { effort: options.best ? 7 : 4, ...fidelity }));
}

function arrayBufferOf(bytes: Buffer): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

/**
 * Width and height from the codestream's SizeHeader (ISO/IEC 18181-1, D.2), so that a file that claims to be huge is
 * refused before the decoder allocates for it. Undefined when the bytes are no JPEG XL.
 */
function jxlSize(file: Buffer): { width: number; height: number } | undefined {
  const codestream = findCodestream(file);
  if (codestream === undefined || codestream.readUInt16BE(0) !== 0xff0a) return undefined;
  const read = bitReader(codestream.subarray(2, 2 + 16));
  const isSmall = read(1) === 1;
  const dimension = () => (isSmall ? (read(5) + 1) * 8 : read([9, 13, 18, 30][read(2)] ?? 30) + 1);
  const height = dimension();
  const ratio = [undefined, 1, 12 / 10, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2][read(3)];
  return { height, width: ratio === undefined ? dimension() : Math.floor(height * ratio) };
}

/** The bare codestream, or the start of it inside the ISO container's `jxlc` or first `jxlp` box. */
function findCodestream(file: Buffer): Buffer | undefined {
  if (file.length >= 12 && file.readUInt16BE(0) === 0xff0a) return file;
  for (let at = 0; at + 16 <= file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    if (type === 'jxlc') return file.subarray(at + 8);
    if (type === 'jxlp') return file.subarray(at + 12);
    if (length < 8) return undefined;
    at += length;
  }
  return undefined;
}

/** Reads little-endian bit fields, least significant bit first. */
function bitReader(bytes: Uint8Array): (count: number) => number {
  let position = 0;
  return (count) => {
    let value = 0;
    for (let bit = 0; bit < count; bit++, position++) {
      value += (((bytes[position >> 3] ?? 0) >> (position & 7)) & 1) * 2 ** bit;
    }
    return value;
  };
}
