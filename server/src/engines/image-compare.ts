import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import type { Box, Size } from './image-geometry.ts';
import { type OpenImage, type Pixels, readPixels } from './images.ts';
import { installedVersion, loadSharp } from './sharp.ts';

export const pixelmatchEngine: Engine = {
  id: 'pixelmatch',
  name: 'pixelmatch',
  license: 'ISC',
  version: async () => installedVersion('pixelmatch'),
};

/** Both pictures and their difference are held at once, four bytes a pixel. */
const maxComparedPixels = 40_000_000;

export interface Comparison {
  /** Large enough for both pictures, which lie at its top left. */
  canvas: Size;
  first: Pixels;
  second: Pixels;
  /** Transparent, with a red pixel wherever the pictures differ. */
  mask: Pixels;
  differentPixels: number;
  /** The smallest box around all differences. */
  differences: Box | undefined;
}

/**
 * Compares two pictures pixel by pixel as people see them: small differences of colour below `threshold` (0 to 1) and
 * those of smoothed edges do not count. Where only one of them has a pixel, they differ.
 *
 * @throws Failure `resource_limit` for pictures above 40 million pixels.
 */
export async function compareImages(one: OpenImage, other: OpenImage, threshold: number): Promise<Comparison> {
  const canvas = { width: Math.max(one.width, other.width), height: Math.max(one.height, other.height) };
  if (canvas.width * canvas.height > maxComparedPixels) {
    const size = `${canvas.width} x ${canvas.height} pixels`;
    throw new Failure('resource_limit', `The images are compared on ${size}; the limit is 40 million pixels.`);
  }
  const first = await onCanvas(one, canvas);
  const second = await onCanvas(other, canvas);
  const { default: pixelmatch } = await import('pixelmatch');
  const mask = { ...canvas, data: Buffer.alloc(canvas.width * canvas.height * 4) };
  const counted = pixelmatch(first.data, second.data, mask.data, canvas.width, canvas.height, {
    threshold,
    diffMask: true,
  });
  const missing = markMissing(mask, one, other);
  return { canvas, first, second, mask, differentPixels: counted + missing, differences: boundsOf(mask) };
}

async function onCanvas(image: OpenImage, canvas: Size): Promise<Pixels> {
  return readPixels(image, (pipeline) =>
    pipeline.extend({
      right: canvas.width - image.width,
      bottom: canvas.height - image.height,
      background: '#00000000',
    }),
  );
}

/** Pixels that one picture alone has differ even where they are transparent or look like the canvas. */
function markMissing({ data, width, height }: Pixels, one: Size, other: Size): number {
  if (one.width === other.width && one.height === other.height) return 0;
  const has = (size: Size, x: number, y: number) => x < size.width && y < size.height;
  let added = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      if (has(one, x, y) === has(other, x, y) || isMarked(data, at)) continue;
      data.set([255, 0, 0, 255], at);
      added++;
    }
  }
  return added;
}

/** Differences are drawn red, edges that are only smoothed another way yellow. */
function isMarked(data: Buffer, at: number): boolean {
  return (data[at + 3] ?? 0) > 0 && data[at + 1] === 0;
}

function boundsOf({ data, width, height }: Pixels): Box | undefined {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      if (!isMarked(data, at)) {
        data[at + 3] = 0;
        continue;
      }
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

export const comparisonViews = ['diff', 'overlay', 'side_by_side'] as const;
export type ComparisonView = (typeof comparisonViews)[number];

/**
 * Writes a PNG that shows a comparison: the differences in red over a pale first picture (`diff`) or over the second one
 * (`overlay`), or the first, the second and the differences in a row.
 */
export async function drawComparison(comparison: Comparison, view: ComparisonView, path: string): Promise<void> {
  const { canvas, first, second, mask } = comparison;
  const sharp = await loadSharp();
  const raw = { ...canvas, channels: 4 } as const;
  const pale = () => sharp(first.data, { raw }).flatten({ background: '#ffffff' }).grayscale().linear(0.25, 191);
  const marked = (base: import('sharp').Sharp) =>
    base
      .toColourspace('srgb')
      .composite([{ input: mask.data, raw }])
      .png({ compressionLevel: 6 });
  if (view === 'overlay') {
    await marked(sharp(second.data, { raw })).toFile(path);
    return;
  }
  const paleInColor = await pale().toColourspace('srgb').png({ compressionLevel: 1 }).toBuffer();
  const diff = marked(sharp(paleInColor));
  if (view === 'diff') {
    await diff.toFile(path);
    return;
  }
  const gap = Math.max(2, Math.round(canvas.width / 100));
  const step = canvas.width + gap;
  await sharp({
    create: { width: 3 * canvas.width + 2 * gap, height: canvas.height, channels: 4, background: '#00000000' },
  })
    .composite([
      { input: first.data, raw, left: 0, top: 0 },
      { input: second.data, raw, left: step, top: 0 },
      { input: await diff.toBuffer(), left: 2 * step, top: 0 },
    ])
    .png()
    .toFile(path);
}
