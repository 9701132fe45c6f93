import { writeFile } from 'node:fs/promises';
import type { Box, ContentImage } from './pdfium-content.ts';
import type { RenderedPage } from './pdfium.ts';
import { loadSharp } from './sharp.ts';

/** A picture of a page as a file of its own. */
export interface PictureFile {
  format: 'jpeg' | 'png';
  data: Buffer;
}

/**
 * A picture as it is stored: JPEG data untouched, everything else as PNG with masks as transparency. A JPEG that looks
 * different on its own (another colour space, inverted, with a mask) is a PNG too.
 */
export async function storedPicture(image: ContentImage): Promise<PictureFile> {
  if (image.jpeg !== undefined && (await looksAlike(image.jpeg, image))) return { format: 'jpeg', data: image.jpeg };
  return { format: 'png', data: await encodePng(image, { quarterTurns: 0, mirrored: false }) };
}

/** A picture as the page shows it: turned and mirrored where it is placed so. */
export async function shownPicture(image: ContentImage): Promise<PictureFile> {
  const placement = placementOf(image);
  if (placement.quarterTurns === 0 && !placement.mirrored) return storedPicture(image);
  return { format: 'png', data: await encodePng(image, placement) };
}

/**
 * A part of a painted page, transparent where nothing is.
 *
 * @param box points from the page's top left corner
 * @returns undefined when nothing is painted there
 */
export async function cutPicture(page: RenderedPage, box: Box, dpi: number): Promise<PictureFile | undefined> {
  const { width, height, channels, pixels } = page;
  const [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom].map((at) =>
    Math.round((at * dpi) / 72),
  );
  if (left === undefined || top === undefined || right === undefined || bottom === undefined) return undefined;
  const size = { width: Math.min(width, right) - left, height: Math.min(height, bottom) - top };
  if (size.width < 1 || size.height < 1) return undefined;
  const sharp = await loadSharp();
  const cut = sharp(pixels, { raw: { width, height, channels } }).extract({ left, top, ...size });
  const { channels: bands } = await cut.clone().stats();
  if (bands.at(-1)?.max === 0) return undefined;
  return { format: 'png', data: await cut.png().toBuffer() };
}

export async function writePicture(picture: PictureFile, path: string): Promise<void> {
  await writeFile(path, picture.data);
}

interface Placement {
  /** Clockwise. */
  quarterTurns: number;
  /** Left and right exchanged, before turning. */
  mirrored: boolean;
}

/** Upright pictures have a matrix of `[width, 0, 0, -height]`: their rows go down, the page's y does too. */
function placementOf({ matrix: [a, b, c, d] }: ContentImage): Placement {
  const mirrored = a * d - b * c > 0;
  const angle = mirrored ? Math.atan2(-b, -a) : Math.atan2(b, a);
  return { quarterTurns: (Math.round(angle / (Math.PI / 2)) + 4) % 4, mirrored };
}

async function encodePng(image: ContentImage, { quarterTurns, mirrored }: Placement): Promise<Buffer> {
  const sharp = await loadSharp();
  const { width, height, pixels } = image;
  let picture = sharp(pixels, { raw: { width, height, channels: 4 } });
  const looks = looksOf(pixels);
  if (looks.isOpaque) picture = picture.removeAlpha();
  if (looks.isGrey) picture = picture.toColourspace('b-w');
  if (mirrored) picture = picture.flop();
  if (quarterTurns !== 0)
    picture = sharp(await picture.png({ compressionLevel: 1 }).toBuffer()).rotate(quarterTurns * 90);
  return picture.png().toBuffer();
}

function looksOf(pixels: Buffer): { isOpaque: boolean; isGrey: boolean } {
  let [isOpaque, isGrey] = [true, true];
  for (let at = 0; at < pixels.length && (isOpaque || isGrey); at += 4) {
    if (pixels[at + 3] !== 255) isOpaque = false;
    if (pixels[at] !== pixels[at + 1] || pixels[at] !== pixels[at + 2]) isGrey = false;
  }
  return { isOpaque, isGrey };
}

/** How far two pictures of the same thing may be apart on average, of 255. */
const sameLooks = 12;

/** Whether a JPEG decoded by itself shows what the PDF shows, judged on a small copy. */
async function looksAlike(jpeg: Buffer, image: ContentImage): Promise<boolean> {
  const sharp = await loadSharp();
  const { width, height, pixels } = image;
  if (!looksOf(pixels).isOpaque) return false;
  const small = { width: 32, height: 32, fit: 'fill' } as const;
  try {
    const [alone, shown] = await Promise.all([
      sharp(jpeg).toColourspace('srgb').resize(small).removeAlpha().raw().toBuffer(),
      sharp(pixels, { raw: { width, height, channels: 4 } })
        .removeAlpha()
        .resize(small)
        .raw()
        .toBuffer(),
    ]);
    if (alone.length !== shown.length) return false;
    const apart = alone.reduce((sum, value, index) => sum + Math.abs(value - (shown[index] ?? 0)), 0);
    return apart / alone.length < sameLooks;
  } catch {
    return false;
  }
}
