import { cutTiles, tileRows } from '../../engines/image-tiles.ts';
import { canMove, keptFormat, openImage, writeImage } from '../../engines/images.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { int, type Values } from '../settings.ts';
import { type Picture, picturesOf } from './each-picture.ts';
import { keepsFormat } from './kept-format.ts';

const settings = {
  rows: int({ min: 1, max: 50, default: 2, describe: 'Into how many rows to cut each image.' }),
  columns: int({ min: 1, max: 50, default: 2, describe: 'Into how many columns to cut each image.' }),
  tile_width: int({
    min: 1,
    max: 16384,
    describe: 'Width of the tiles in pixels, instead of columns; the last one may be narrower.',
  }),
  tile_height: int({
    min: 1,
    max: 16384,
    describe: 'Height of the tiles in pixels, instead of rows; the last one may be lower.',
  }),
};

export default defineTool({
  ...keepsFormat,
  slug: 'image-splitter',
  name: 'Image Splitter',
  category: 'image',
  description: 'Cuts images into tiles: a grid of rows and columns, or tiles of a size.',
  settings,
  run: (context) =>
    eachInput(context, async (input) => {
      for (const picture of await picturesOf(input)) await split(picture, context);
    }),
});

async function split(input: Picture, context: ToolContext<Values<typeof settings>>): Promise<void> {
  const { rows, columns, tile_width: tileWidth, tile_height: tileHeight } = context.settings;
  const format = keptFormat(input.type);
  const image = await openImage(input, context, { animated: canMove(format, input.type) });
  const grid = tileRows(image, { rows, columns, tileWidth, tileHeight }, input.filename);
  const digits = (count = 0) => String(count).length;
  const number = (index: number, count: number | undefined) => String(index + 1).padStart(digits(count), '0');
  await cutTiles(image, grid, (tile, row, column) => {
    const name = `${input.stem}-${number(row, grid.length)}-${number(column, grid[0]?.length)}.${extensionOf(format)}`;
    return writeImage(tile, context.output(name), format, { quality: 90 });
  });
}
