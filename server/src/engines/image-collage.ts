import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { imageFailure } from './image-failure.ts';
import type { Box, Size } from './image-geometry.ts';
import { type OpenImage, imageFrom } from './images.ts';
import { loadSharp, maxPixels } from './sharp.ts';

export interface Collage {
  columns: number;
  /** Pixels between the pictures and around them. */
  gap: number;
  cellWidth: number;
  /** Pictures are cut to fill cells of this height; undefined: a row is as high as its tallest picture. */
  cellHeight: number | undefined;
  background: string;
}

/** A picture is never drawn higher than this many times the width of its cell. */
const tallest = 4;

/**
 * Lays images out in rows on one canvas. Each is given by a function that opens it, so that only one is decoded at a time.
 *
 * @throws Failure `resource_limit` for a canvas larger than the service decodes.
 */
export async function makeCollage(
  count: number,
  open: (index: number) => Promise<OpenImage>,
  collage: Collage,
  onImage: (done: number) => void,
): Promise<OpenImage> {
  const sharp = await loadSharp();
  const cells: (Size & { path: string })[] = [];
  let first: OpenImage | undefined;
  for (let index = 0; index < count; index++) {
    const image = await open(index);
    first ??= image;
    image.workspace.signal.throwIfAborted();
    const path = join(image.workspace.scratch, `cell-${index}.png`);
    assertFits(layOut([...cells, cellSize(image, collage)], collage).canvas);
    try {
      cells.push({ path, ...(await writeCell(image, collage, path)) });
    } catch (error) {
      throw imageFailure(error, image.file);
    }
    onImage(index + 1);
  }
  if (first === undefined) throw new Error('a collage of nothing');
  const { canvas, boxes } = layOut(cells, collage);
  const overlays = boxes.map(({ left, top }, index) => ({ input: cells[index]?.path ?? '', left, top }));
  const composed = sharp({ create: { ...canvas, channels: 4, background: collage.background } }).composite(overlays);
  const opaque = collage.background.length === 9 ? composed : composed.removeAlpha();
  return { ...(await imageFrom(opaque, first.file, first.workspace)), ...canvas };
}

function assertFits({ width, height }: Size): void {
  if (width * height <= maxPixels) return;
  const size = `${width} x ${height} pixels`;
  throw new Failure('resource_limit', `The collage would be at least ${size}; the limit is 100 million pixels.`);
}

function cellSize(image: Size, { cellWidth, cellHeight }: Collage): Size {
  if (cellHeight !== undefined) return { width: cellWidth, height: cellHeight };
  const scale = Math.min(cellWidth / image.width, (cellWidth * tallest) / image.height);
  return { width: Math.round(image.width * scale), height: Math.round(image.height * scale) };
}

async function writeCell(image: OpenImage, { cellWidth, cellHeight }: Collage, path: string): Promise<Size> {
  const pipeline = image.pipeline.toColourspace('srgb');
  const resized =
    cellHeight === undefined
      ? pipeline.resize(cellWidth, cellWidth * tallest, { fit: 'inside' })
      : pipeline.resize(cellWidth, cellHeight, { fit: 'cover' });
  const { width, height } = await resized.png({ compressionLevel: 1 }).toFile(path);
  return { width, height };
}

/** Where each cell goes: rows from the top, each picture in the middle of its cell. */
function layOut(cells: readonly Size[], { columns, gap, cellWidth }: Collage): { canvas: Size; boxes: Box[] } {
  const across = Math.min(columns, cells.length);
  const boxes: Box[] = [];
  let top = gap;
  for (let start = 0; start < cells.length; start += across) {
    const row = cells.slice(start, start + across);
    const rowHeight = Math.max(...row.map(({ height }) => height));
    for (const [column, { width, height }] of row.entries()) {
      const left = gap + column * (cellWidth + gap) + Math.floor((cellWidth - width) / 2);
      boxes.push({ left, top: top + Math.floor((rowHeight - height) / 2), width, height });
    }
    top += rowHeight + gap;
  }
  return { canvas: { width: gap + across * (cellWidth + gap), height: top }, boxes };
}
