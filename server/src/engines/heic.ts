import { readFile } from 'node:fs/promises';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import { assertDecodable, type NamedFile } from './image-failure.ts';
import { uprightExif } from './image-metadata.ts';
import { type Raster, rasterToPng, rasterToTiff } from './raster.ts';
import { installedVersion, openWithSharp } from './sharp.ts';

/** HEIC is HEVC inside: sharp's binaries leave the codec out for its patents, so both directions have engines of their own. */
export const heicDecoder: Engine = {
  id: 'libheif-js',
  name: 'libheif (reads HEIC)',
  license: 'LGPL-3.0-or-later',
  version: async () => installedVersion('libheif-js'),
};

export const heicEncoder: Engine = {
  id: 'heif-enc',
  name: 'heif-enc (writes HEIC)',
  license: 'LGPL-3.0-or-later AND GPL-2.0-or-later',
  install: 'apt-get install -y libheif-examples',
  async version() {
    try {
      const { stdout, stderrTail } = await runProgram('heif-enc', ['--help'], { okCodes: [0, 1, 5], timeoutMs: 5000 });
      return /libheif version: ([\d.]+)/.exec(stdout + stderrTail)?.[1];
    } catch {
      return undefined;
    }
  },
};

/**
 * The primary picture of a HEIC file, upright (the container's own rotation is applied), as a file that libvips reads:
 * with its colour profile and its EXIF block, which the pixels alone do not carry.
 */
export async function decodeHeic(path: string, named: NamedFile): Promise<Buffer> {
  const { width, height, icc, exif, hasAlpha } = await (await openWithSharp(path)).metadata();
  assertDecodable(named, { width, height });
  const { default: decode } = await import('heic-decode');
  const picture = await decode({ buffer: await readFile(path) });
  assertDecodable(named, picture);
  const rgba = new Uint8Array(picture.data.buffer, picture.data.byteOffset, picture.data.byteLength);
  const shape = { width: picture.width, height: picture.height, color: 'rgb', bits: 8, icc } as const;
  const isOpaque = !hasAlpha || everyAlphaOpaque(rgba);
  const raster: Raster = { ...shape, hasAlpha: !isOpaque, data: isOpaque ? withoutAlpha(rgba) : rgba };
  return exif === undefined ? rasterToTiff(raster) : rasterToPng(raster, uprightExif(exif));
}

/** The header says alpha for every picture that libheif would hand out as RGBA, so the pixels decide. */
function everyAlphaOpaque(rgba: Uint8Array): boolean {
  for (let at = 3; at < rgba.length; at += 4) if (rgba[at] !== 255) return false;
  return true;
}

function withoutAlpha(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4) {
    rgb[to++] = rgba[from] ?? 0;
    rgb[to++] = rgba[from + 1] ?? 0;
    rgb[to++] = rgba[from + 2] ?? 0;
  }
  return rgb;
}

/** Writes a PNG as HEIC; its colour profile goes with it. */
export async function encodeHeic(
  pngPath: string,
  outputPath: string,
  options: { quality: number; lossless: boolean; signal: AbortSignal },
): Promise<void> {
  const fidelity = options.lossless
    ? ['-L', '-p', 'chroma=444', '--matrix_coefficients=0']
    : ['-q', String(options.quality)];
  await runProgram('heif-enc', [...fidelity, '-o', outputPath, pngPath], { signal: options.signal });
}
