import { Failure } from '../lib/failure.ts';
import type { Box, Size } from './image-geometry.ts';
import { type OpenImage, withSteps } from './images.ts';
import { imageFailure } from './image-failure.ts';
import { openWithSharp } from './sharp.ts';

/** Most tiles of one image. */
export const maxTiles = 2500;

/** How an image is cut: into as many parts as asked for, or into parts of a size, where the last ones may be smaller. */
export interface TileGrid {
  rows: number;
  columns: number;
  tileWidth?: number | undefined;
  tileHeight?: number | undefined;
}

/**
 * The tiles of an image, row by row: every pixel is in exactly one.
 *
 * @throws Failure `invalid_input` for more rows or columns than pixels, `resource_limit` for more than 2,500 tiles.
 */
export function tileRows(image: Size, grid: TileGrid, filename: string): Box[][] {
  const across = parts(image.width, grid.columns, grid.tileWidth);
  const down = parts(image.height, grid.rows, grid.tileHeight);
  if (across === undefined || down === undefined) {
    const size = `${image.width} x ${image.height} pixels`;
    const message = `"${filename}" is ${size}: it cannot be cut into ${grid.columns} columns and ${grid.rows} rows.`;
    throw new Failure('invalid_input', message, { file: filename });
  }
  if (across.length * down.length > maxTiles) {
    const message = `"${filename}" would become ${across.length * down.length} tiles; the limit is ${maxTiles}.`;
    throw new Failure('resource_limit', message, { file: filename });
  }
  return down.map(({ start: top, length: height }) =>
    across.map(({ start: left, length: width }) => ({ left, top, width, height })),
  );
}

function parts(whole: number, count: number, length: number | undefined) {
  if (length === undefined && count > whole) return undefined;
  const edges =
    length === undefined
      ? Array.from({ length: count }, (_, index) => Math.round((index * whole) / count))
      : Array.from({ length: Math.ceil(whole / length) }, (_, index) => index * length);
  return edges.map((start, index) => ({ start, length: (edges[index + 1] ?? whole) - start }));
}

/**
 * Cuts an image into tiles and hands them out one after the other. Each row is cut out first: decoding a large photo again
 * for each of a thousand tiles would take an hour.
 */
export async function cutTiles(
  image: OpenImage,
  rows: readonly Box[][],
  use: (tile: OpenImage, row: number, column: number) => Promise<unknown>,
): Promise<void> {
  for (const [row, tiles] of rows.entries()) {
    const strip = await cutRow(image, tiles);
    for (const [column, tile] of tiles.entries()) {
      image.workspace.signal.throwIfAborted();
      const box = { ...tile, top: strip.isCut ? 0 : tile.top };
      const { width, height } = tile;
      const cut = withSteps(strip.image, (pipeline) => pipeline.clone().extract(box), { width, height });
      await use(cut, row, column);
    }
  }
}

async function cutRow(image: OpenImage, tiles: readonly Box[]): Promise<{ image: OpenImage; isCut: boolean }> {
  const [first] = tiles;
  if (first === undefined || tiles.length < 3 || image.frames > 1) return { image, isCut: false };
  const { top, height } = first;
  try {
    const color = image.isGrey ? (image.is16Bit ? 'grey16' : 'b-w') : image.is16Bit ? 'rgb16' : 'srgb';
    const png = await image.pipeline
      .clone()
      .extract({ left: 0, top, width: image.width, height })
      .toColourspace(color)
      .keepMetadata()
      .png({ compressionLevel: 1 })
      .toBuffer();
    return { image: { ...image, height, pipeline: await openWithSharp(png) }, isCut: true };
  } catch (error) {
    throw imageFailure(error, image.file);
  }
}
