import { loadSharp } from '../sharp.ts';
import type { FrameFormat } from './frames.ts';
import type { PictureSize } from './picture.ts';

/** Pixels between the frames. */
const gap = 8;
/** No side of a JPEG or WebP may be longer than 16,383 pixels. */
const longestSide = 16_000;

/** Columns of a sheet of so many frames, so that it comes out about as wide as high. */
function columnsFor(count: number, { width, height }: PictureSize): number {
  return Math.max(1, Math.round(Math.sqrt((count * height) / width)));
}

/** Lays frames of one size out in rows on a dark sheet, smaller where the sheet would be too large. */
export async function writeContactSheet(
  frames: readonly string[],
  frame: PictureSize,
  path: string,
  format: FrameFormat,
): Promise<void> {
  const sharp = await loadSharp();
  const columns = columnsFor(frames.length, frame);
  const rows = Math.ceil(frames.length / columns);
  const scale = Math.min(1, (longestSide / columns - gap) / frame.width, (longestSide / rows - gap) / frame.height);
  const cell = {
    width: Math.max(1, Math.floor(frame.width * scale)),
    height: Math.max(1, Math.floor(frame.height * scale)),
  };
  const layers = await Promise.all(
    frames.map(async (input, index) => ({
      input: scale === 1 ? input : await sharp(input).resize(cell.width, cell.height).png().toBuffer(),
      left: gap + (index % columns) * (cell.width + gap),
      top: gap + Math.floor(index / columns) * (cell.height + gap),
    })),
  );
  await sharp({
    create: {
      width: gap + columns * (cell.width + gap),
      height: gap + rows * (cell.height + gap),
      channels: 3,
      background: '#181818',
    },
  })
    .composite(layers)
    .toFormat(format, format === 'png' ? {} : { quality: 88 })
    .toFile(path);
}
