import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GridPosition, placeInGrid } from '../image-geometry.ts';
import { type ImageFile, openImage } from '../images.ts';
import { loadSharp } from '../sharp.ts';
import { type Mark, imageMark, textMark } from '../watermark.ts';
import type { FfmpegInput } from '../ffmpeg.ts';
import type { PictureSize } from './picture.ts';

export interface VideoMark {
  /** A text, or an image file. */
  source: { text: string; color: string } | ImageFile;
  position: GridPosition;
  /** 0 (invisible) to 1. */
  opacity: number;
  /** Width of the mark as a part of the width of the picture. */
  scale: number;
  /** Seconds of the video at which it appears and goes. */
  start: number | undefined;
  end: number | undefined;
}

/** A drawing is rasterised larger than it says: it is scaled to the picture afterwards. */
const drawingDpi = 384;
/** Text is drawn this high, in pixels, and scaled to the picture afterwards. */
const fontSize = 160;
const widestText = 16_000;
/** Of the picture's height. */
const leastTextHeight = 0.04;

/**
 * Draws a mark for a picture of this size: the image to give to FFmpeg, and the filters that lay it over the picture.
 *
 * @throws Failure `invalid_input` for a broken image, or a text that shows nothing.
 */
export async function drawVideoMark(
  { source, position, opacity, scale, start, end }: VideoMark,
  size: PictureSize,
  workspace: { scratch: string; signal: AbortSignal },
): Promise<{ inputs: FfmpegInput[]; overlays: string[] }> {
  const asked = Math.max(2, Math.round(size.width * scale));
  const drawn = await draw(source, asked, workspace);
  // Many words in a narrow mark could not be read.
  const readable = 'text' in source ? ((size.height * leastTextHeight) / drawn.height) * drawn.width : 0;
  const width = Math.min(size.width, Math.max(asked, Math.round(readable)));
  const sharp = await loadSharp();
  const { data, info } = await sharp(drawn.png)
    .resize({ width, height: size.height, fit: 'inside' })
    .ensureAlpha()
    .linear([1, 1, 1, opacity], [0, 0, 0, 0])
    .png({ compressionLevel: 1 })
    .toBuffer({ resolveWithObject: true });
  const path = join(workspace.scratch, 'mark.png');
  await writeFile(path, data);
  const room = Math.min(size.width - info.width, size.height - info.height);
  const margin = Math.max(0, Math.min(Math.round(Math.min(size.width, size.height) * 0.025), Math.floor(room / 2)));
  const { left, top } = placeInGrid(position, size, info, margin);
  const shown = start === undefined && end === undefined ? '' : `:enable='between(t,${start ?? 0},${end ?? 1e9})'`;
  return {
    inputs: [{ source: { path, type: 'png', filename: 'watermark' } }],
    overlays: [`null[picture0];[picture0][1:v]overlay=${left}:${top}:format=auto${shown}`],
  };
}

async function draw(
  source: VideoMark['source'],
  width: number,
  workspace: { scratch: string; signal: AbortSignal },
): Promise<Mark> {
  if ('text' in source) return textMark({ ...source, fontSize, maxWidth: widestText });
  return imageMark(await openImage(source, workspace, { animated: false, dpi: drawingDpi }), width);
}
