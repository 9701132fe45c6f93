import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import { keptFrames } from './image-animation.ts';
import { brokenImage } from './image-failure.ts';
import type { OpenImage } from './images.ts';
import { openWithSharp } from './sharp.ts';

export const gifsicle: Engine = {
  id: 'gifsicle',
  name: 'Gifsicle',
  license: 'GPL-2.0-only',
  install: 'apt-get install -y --no-install-recommends gifsicle',
  async version() {
    const result = await runProgram('gifsicle', ['--version'], { timeoutMs: 5000 }).catch(() => undefined);
    return /Gifsicle ([\d.]+)/.exec(result?.stdout ?? '')?.[1];
  },
};

export interface GifOptimization {
  /** How much noise compression may add, 0 (none) to 200. */
  lossy: number;
  /** 2 to 256. */
  colors: number;
  /** Pixels; never made wider. */
  width: number | undefined;
  /** Frames left out after each that stays; those show longer. */
  dropFrames: number;
}

/**
 * Writes a smaller GIF; one that came out no smaller, without a frame or a pixel less to show, is the input itself.
 *
 * @throws Failure `invalid_input` for a GIF that Gifsicle cannot read.
 */
export async function optimizeGif(image: OpenImage, path: string, wanted: GifOptimization): Promise<void> {
  const delays = image.timing?.delay ?? [0];
  const frames = keptFrames(delays, wanted.dropFrames);
  const isNarrower = wanted.width !== undefined && wanted.width < image.width;
  const selected =
    frames.length === delays.length
      ? []
      : frames.flatMap(({ index, delay }) => [`-d${Math.round(delay / 10)}`, `#${index}`]);
  const source = selected.length === 0 ? image.file.path : await wholeFrames(image);
  await run(image, [
    '-O3',
    ...(wanted.lossy > 0 ? [`--lossy=${wanted.lossy}`] : []),
    ...(wanted.colors < 256 ? [`--colors=${wanted.colors}`] : []),
    ...(isNarrower ? [`--resize-width=${wanted.width}`] : []),
    source,
    ...selected,
    `--output=${path}`,
  ]);
  await assertWhole(image, path, frames);
  const [written, given] = await Promise.all([stat(path), stat(image.file.path)]);
  if (written.size >= given.size && selected.length === 0 && !isNarrower) await copyFile(image.file.path, path);
}

/** Frames can only be left out of a GIF in which each stands for itself; one with too many colours for that gets fewer. */
async function wholeFrames(image: OpenImage): Promise<string> {
  const path = join(image.workspace.scratch, 'whole.gif');
  const { stderrTail } = await run(image, ['--unoptimize', image.file.path, `--output=${path}`]);
  if (!/too complex to unoptimize/.test(stderrTail)) return path;
  const reduced = join(image.workspace.scratch, 'reduced.gif');
  await run(image, ['--colors=255', image.file.path, `--output=${reduced}`]);
  await run(image, ['--unoptimize', reduced, `--output=${path}`]);
  return path;
}

async function run(image: OpenImage, args: string[]) {
  try {
    return await runProgram('gifsicle', args, { signal: image.workspace.signal });
  } catch (error) {
    throw error instanceof Failure && error.code === 'engine_failed' ? brokenImage(image.file, error.log ?? '') : error;
  }
}

/** It ends with code 0 for a file it only half understood, too. Frames that became alike are one that shows longer. */
async function assertWhole(image: OpenImage, path: string, frames: readonly { delay: number }[]): Promise<void> {
  const opened = await openWithSharp(path, { pages: -1 });
  const { pages = 1, delay = [] } = await opened.metadata().catch(() => ({ pages: 0, delay: [] }));
  const sum = (parts: readonly number[]) => parts.reduce((total, part) => total + part, 0);
  const [asked, written] = [sum(frames.map((frame) => frame.delay)), sum(delay)];
  const isAsLong = frames.length === 1 || Math.abs(asked - written) <= asked / 100 + 10;
  if (pages > 0 && pages <= frames.length && isAsLong) return;
  throw brokenImage(image.file, `gifsicle wrote ${pages} of ${frames.length} frames, ${written} of ${asked} ms`);
}
