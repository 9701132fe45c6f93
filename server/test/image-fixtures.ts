import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

/** Files that need programs to make are kept: `photo.heic` (heif-enc), `layers.psd`, `cmyk.psd`, `rgb16.psd` (ImageMagick), `photo.dng` (make-dng.ts). */
export const keptFixture = (name: string): string => join(import.meta.dirname, 'fixtures', name);

/** The colours of `quarters`, clockwise from the top left. */
export const quarterColors = {
  topLeft: [220, 40, 40],
  topRight: [40, 180, 60],
  bottomRight: [240, 200, 40],
  bottomLeft: [40, 80, 220],
} as const;

function solid(width: number, height: number, [r, g, b]: readonly [number, number, number]) {
  return { create: { width, height, channels: 3 as const, background: { r, g, b } } };
}

/** An image whose four quarters differ, so that every turn, flip and crop shows. */
export function quarters(width = 240, height = 160): Sharp {
  const [w, h] = [Math.floor(width / 2), Math.floor(height / 2)];
  return sharp(solid(width, height, quarterColors.bottomRight)).composite([
    { input: solid(w, h, quarterColors.topLeft), left: 0, top: 0 },
    { input: solid(width - w, h, quarterColors.topRight), left: w, top: 0 },
    { input: solid(w, height - h, quarterColors.bottomLeft), left: 0, top: h },
  ]);
}

/** A photo-like image: smooth shapes and grain, so that compression has work to do. */
export async function grain(width: number, height: number, seed = 1): Promise<Sharp> {
  const pixels = Buffer.alloc(width * height * 3);
  let state = seed;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      const noise = (state % 4096) / 1024;
      pixels[at] = 120 + 100 * Math.sin(x / 37) + noise;
      pixels[at + 1] = 120 + 100 * Math.sin((x + y) / 53) + noise;
      pixels[at + 2] = 120 + 100 * Math.cos(y / 41) + noise;
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

const frameColors = [
  [220, 40, 40],
  [40, 180, 60],
  [40, 80, 220],
] as const;
export const animationDelays = [100, 200, 300];

/** Three frames of 60 x 40, each with a white bar along its left edge. */
export async function animation(format: 'gif' | 'webp'): Promise<Buffer> {
  const frames = await Promise.all(
    frameColors.map((color) =>
      sharp(solid(60, 40, color))
        .composite([{ input: solid(10, 40, [255, 255, 255]), left: 0, top: 0 }])
        .png()
        .toBuffer(),
    ),
  );
  return sharp(frames, { join: { animated: true } })
    .toFormat(format, { delay: animationDelays, loop: 2, lossless: true })
    .toBuffer();
}

/** A PNG of 150 bytes that claims 50,000 x 50,000 pixels. */
export async function hugePngHeader(): Promise<Buffer> {
  const png = await sharp(solid(8, 8, [1, 2, 3]))
    .png()
    .toBuffer();
  png.writeUInt32BE(50_000, 16);
  png.writeUInt32BE(50_000, 20);
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29);
  return png;
}

/** Writes named files into a directory and returns their paths under the same keys. */
export async function writeImages<K extends string>(
  directory: string,
  images: Record<K, Buffer | string | Promise<Buffer>>,
): Promise<Record<K, string>> {
  const paths: Partial<Record<K, string>> = {};
  for (const [name, content] of Object.entries(images) as [K, Buffer | string | Promise<Buffer>][]) {
    paths[name] = join(directory, name);
    await writeFile(paths[name], await content);
  }
  return paths as Record<K, string>;
}

export type Color = [number, number, number];

/** The colour of one pixel, as shown (sRGB); alpha is left out. */
export async function pixel(input: string | Buffer, x: number, y: number): Promise<Color> {
  const { data, info } = await sharp(input)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (y * info.width + x) * info.channels;
  return [data[at] ?? -1, data[at + 1] ?? -1, data[at + 2] ?? -1];
}

/** Largest difference of two colours in one channel. */
export function difference(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((value, index) => Math.abs(value - (other[index] ?? Infinity))));
}

/** Mean difference of two images of one size, 0 to 255. */
export async function meanDifference(one: string | Buffer, other: string | Buffer): Promise<number> {
  const [a, b] = await Promise.all(
    [one, other].map((input) => sharp(input).autoOrient().removeAlpha().toColourspace('srgb').raw().toBuffer()),
  );
  if (a === undefined || b === undefined || a.length !== b.length) return Infinity;
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += Math.abs((a[at] ?? 0) - (b[at] ?? 0));
  return sum / a.length;
}
