import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import type { Sharp, SharpOptions } from 'sharp';
import type { Engine } from './engine.ts';

/**
 * Most pixels an image may have, all frames of an animation together. imgproxy allows 50 million and thumbor 75; phones
 * take photos of 50, so 100 leaves room and keeps a decoded image below 400 MB.
 */
export const maxPixels = 100_000_000;

/** The formats users may send; everything else libvips can read (Matlab, FITS, OpenEXR, …) is attack surface. */
const loaders = [
  'VipsForeignLoadJpeg',
  'VipsForeignLoadPng',
  'VipsForeignLoadWebp',
  'VipsForeignLoadHeif',
  'VipsForeignLoadNsgif',
  'VipsForeignLoadTiff',
  'VipsForeignLoadSvg',
];

export const sharpEngine: Engine = {
  id: 'sharp',
  name: 'sharp (libvips)',
  license: 'Apache-2.0 AND LGPL-3.0-or-later',
  version: async () => installedVersion('sharp'),
};

/** The version of an npm package, read without loading it: listing engines must stay cheap. */
export function installedVersion(packageName: string): string | undefined {
  try {
    const file = findPackageJSON(packageName, import.meta.url);
    return file === undefined ? undefined : (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

let configured: Promise<typeof import('sharp').default> | undefined;

/** sharp, loaded on first use and set up for hostile files. */
export function loadSharp(): Promise<typeof import('sharp').default> {
  configured ??= import('sharp').then(({ default: sharp }) => {
    sharp.concurrency(1); // Runs side by side fill the cores; threads within one image only add memory.
    sharp.cache(false); // A cached operation would outlive its run.
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: loaders });
    return sharp;
  });
  return configured;
}

/**
 * What libjpeg says of compressed pixels that contradict themselves: the rest of the picture is then grey, or shifted. What
 * else it warns of (stray bytes between segments) changes no pixel.
 */
export const jpegDamage = /Corrupt JPEG data: (bad Huffman code|premature end of data segment|found marker)/;

let damageSeen = false;

/** Whether any JPEG decoded in this process was damaged; libvips' warnings do not belong to one picture. */
export function wasJpegDamageSeen(): boolean {
  return damageSeen;
}

/**
 * Opens an image without decoding it. `failOn: 'error'` refuses what is cut short or damaged, but not the harmless
 * irregularities (a stray byte between JPEG markers, an odd colour profile) that every viewer passes over.
 */
export async function openWithSharp(input: string | Buffer, options: SharpOptions = {}): Promise<Sharp> {
  const sharp = await loadSharp();
  const image = sharp(input, { limitInputPixels: maxPixels, failOn: 'error', ...options });
  return image.on('warning', (warning: string) => {
    damageSeen ||= jpegDamage.test(warning);
  });
}
