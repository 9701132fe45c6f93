import { Failure } from '../lib/failure.ts';
import { assertDecodable } from './image-failure.ts';
import type { Size } from './image-geometry.ts';
import { type OpenImage, type Pixels, readPixels } from './images.ts';
import { loadSharp, maxPixels } from './sharp.ts';

/** An animation is never wider than this unless it is asked for. */
const usualWidth = 1280;

/** The size of an animation of so many pictures: as asked for, or that of the first, within what can be decoded. */
export function animationSize(first: Size, frames: number, width: number | undefined): Size {
  const fitting = Math.floor(Math.sqrt((maxPixels / frames) * (first.width / first.height)));
  const chosen = width ?? Math.max(1, Math.min(first.width, usualWidth, fitting));
  return { width: chosen, height: Math.max(1, Math.round((chosen * first.height) / first.width)) };
}

/** A picture as one frame of this size: whole, in the middle, with the background around and behind it. */
export async function frameOf(image: OpenImage, { width, height }: Size, background: string): Promise<Pixels> {
  const color = background === 'transparent' ? '#00000000' : background;
  return readPixels(image, (pipeline) => {
    const fitted = pipeline.resize(width, height, { fit: 'contain', background: color });
    return background === 'transparent' ? fitted : fitted.flatten({ background: color });
  });
}

/**
 * One animation of frames of one size.
 *
 * @throws Failure `resource_limit`
 */
export async function joinFrames(
  frames: readonly Pixels[],
  timing: { delay: number[]; loop: number },
  { file, workspace }: Pick<OpenImage, 'file' | 'workspace'>,
): Promise<OpenImage> {
  const [first] = frames;
  if (first === undefined) throw new Failure('invalid_input', 'There is no frame to show.');
  const { width, height } = first;
  assertDecodable(file, { width, height, frames: frames.length });
  const sharp = await loadSharp();
  const raw = { width, height: height * frames.length, channels: 4, pageHeight: height } as const;
  return {
    file,
    workspace,
    pipeline: sharp(Buffer.concat(frames.map(({ data }) => data)), { raw, limitInputPixels: maxPixels }),
    width,
    height,
    frames: frames.length,
    timing,
    hasAlpha: true,
    isGrey: false,
    is16Bit: false,
    hasProfile: false,
    hasThumbnail: false,
  };
}

/** The frames of an animation, each for itself. */
export async function splitFrames(image: OpenImage): Promise<Pixels[]> {
  const { data, width } = await readPixels(image);
  const { height, frames } = image;
  const length = width * height * 4;
  return Array.from({ length: frames }, (_, index) => ({
    data: data.subarray(index * length, (index + 1) * length),
    width,
    height,
  }));
}

/** Which frames stay when so many are dropped after each, and how long each then shows: together as long as before. */
export function keptFrames(delays: readonly number[], dropped: number): { index: number; delay: number }[] {
  const kept: { index: number; delay: number }[] = [];
  for (let index = 0; index < delays.length; index += dropped + 1) {
    const delay = delays.slice(index, index + dropped + 1).reduce((sum, part) => sum + part, 0);
    kept.push({ index, delay });
  }
  return kept;
}
