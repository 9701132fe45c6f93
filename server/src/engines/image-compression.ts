import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { stripMetadata } from './image-metadata.ts';
import { openWithSharp } from './sharp.ts';
import { pagesOf, writeImages } from './image-pages.ts';
import { type EncodeOptions, type ImageFile, type ImageFormat, type OpenImage, withSteps } from './images.ts';

/** Below this quality a smaller picture looks better than a coarser one. */
const lowestQuality = 10;
/** The quality at which a picture is made smaller, step by step. */
const shrinkingQuality = 40;
/** A picture is never made smaller than this, in pixels on its shorter side. */
const smallestSide = 16;

/**
 * Writes images as one file, of the best quality at or below `options.quality` that makes at most `targetBytes`; where even
 * the lowest is too large, the pictures themselves become smaller.
 *
 * @throws Failure `invalid_input` with the smallest size reached, when the target cannot be met.
 */
export async function writeWithinSize(
  images: readonly OpenImage[],
  path: string,
  format: ImageFormat,
  asked: EncodeOptions & { quality: number },
  targetBytes: number,
): Promise<void> {
  // Many tries: a PNG palette takes five times as long at the usual effort.
  const options = asked.effort === 'best' ? asked : { ...asked, effort: 'draft' as const };
  const attempt = (quality: number, scale = 1) =>
    writeImages(
      images.map((image) => scaled(image, scale)),
      path,
      format,
      { ...options, quality },
    );
  const first = await attempt(options.quality);
  if (first <= targetBytes) return;
  if ((await bestQuality(images, path, format, options, targetBytes)) !== undefined) return;

  let smallest = first;
  let scale = 1;
  const quality = Math.min(shrinkingQuality, options.quality);
  const floor = Math.min(...images.map(smallestScale));
  while (scale > floor) {
    const size = await attempt(quality, scale);
    if (size <= targetBytes) return;
    smallest = Math.min(smallest, size);
    // Size goes with the area; a little further than the estimate, or the last kilobytes take many rounds.
    scale = Math.max(floor, scale * Math.min(0.85, Math.sqrt(targetBytes / size) * 0.95));
  }
  const last = await attempt(Math.min(lowestQuality, quality), floor);
  if (last <= targetBytes) return;
  throw targetMissed(images[0]!.file.filename, Math.min(smallest, last), targetBytes);
}

export function targetMissed(filename: string, reachedBytes: number, targetBytes: number): Failure {
  const reached = Math.ceil(reachedBytes / 1000);
  const message = `"${filename}" cannot be brought to ${targetBytes / 1000} kB; the smallest size reached is ${reached} kB.`;
  return new Failure('invalid_input', message, { file: filename });
}

function smallestScale({ width, height }: OpenImage): number {
  return smallestSide / Math.min(width, height);
}

function scaled(image: OpenImage, wanted: number): OpenImage {
  const scale = Math.max(wanted, smallestScale(image));
  if (scale >= 1) return image;
  const width = Math.max(1, Math.round(image.width * scale));
  const height = Math.max(1, Math.round(image.height * scale));
  return withSteps(image, (pipeline) => pipeline.clone().resize(width, height, { fit: 'fill' }), { width, height });
}

/** Halves the range of qualities; the winning file is at `path`. Undefined when none fits. */
async function bestQuality(
  images: readonly OpenImage[],
  path: string,
  format: ImageFormat,
  options: EncodeOptions & { quality: number },
  targetBytes: number,
): Promise<number | undefined> {
  const candidate = join(images[0]!.workspace.scratch, 'candidate');
  let best: number | undefined;
  let low = Math.min(lowestQuality, options.quality);
  let high = options.quality - 1;
  while (low <= high) {
    const quality = best === undefined && low === lowestQuality ? low : Math.ceil((low + high) / 2);
    if ((await writeImages(images, candidate, format, { ...options, quality })) > targetBytes) {
      high = quality - 1;
      continue;
    }
    await copyFile(candidate, path);
    best = quality;
    low = quality + 1;
  }
  return best;
}

/**
 * Puts the input's own bytes in the place of a result that came out no smaller; with `exact`, also of one that shows
 * another picture.
 */
export async function keepSmaller(
  image: OpenImage,
  path: string,
  options: { strip: boolean; exact?: boolean },
): Promise<void> {
  const { file } = image;
  const [written, given] = await Promise.all([stat(path), stat(file.path)]);
  if (written.size < given.size && (options.exact !== true || (await samePixels({ ...file, path }, file)))) return;
  await copyOriginal(image, path, options);
}

/** The input's own pixels, byte for byte; `strip` takes out the metadata that can go without touching them. */
export async function copyOriginal(image: OpenImage, path: string, { strip }: { strip: boolean }): Promise<void> {
  if (!strip) return copyFile(image.file.path, path);
  const file = await readFile(image.file.path);
  await writeFile(path, stripMetadata(file, image.file.type, await image.pipeline.metadata()));
}

async function samePixels(written: ImageFile, given: ImageFile): Promise<boolean> {
  const [ours, theirs] = await Promise.all([pagesOf(written), pagesOf(given)]);
  if (ours.length !== theirs.length) return false;
  for (const [index, page] of ours.entries()) {
    const [one, other] = await Promise.all([page, theirs[index]!].map(storedPixels));
    if (one === undefined || other === undefined || !one.equals(other)) return false;
  }
  return true;
}

/** Every frame, one below the other. */
async function storedPixels({ path, page }: ImageFile): Promise<Buffer> {
  const image = await openWithSharp(path, page === undefined ? { pages: -1 } : { page: page.number });
  return image.autoOrient().ensureAlpha().raw().toBuffer();
}
