import { makeCollage } from '../../engines/image-collage.ts';
import { openImage, writeImage } from '../../engines/images.ts';
import { maxPixels } from '../../engines/sharp.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, color, int } from '../settings.ts';
import { readsRasters } from './kept-format.ts';

export default defineTool({
  ...readsRasters,
  slug: 'image-collager',
  name: 'Image Collage Maker',
  category: 'image',
  description: 'Lays images out in rows and columns on one picture.',
  produces: ['jpeg', 'png', 'webp'],
  files: { min: 2, max: 100 },
  settings: {
    columns: int({ min: 1, max: 12, default: 2, describe: 'Images in a row.' }),
    gap: int({ min: 0, max: 200, default: 8, describe: 'Pixels between the images and around them.' }),
    cell_width: int({ min: 16, max: 4096, default: 600, describe: 'Width of each image in pixels.' }),
    cell_height: int({
      min: 16,
      max: 4096,
      describe: 'Height of each image in pixels, which is cut to fill it; without it whole images are shown.',
    }),
    background: color({ default: '#ffffff', describe: 'Colour between and behind the images.' }),
    format: choice({ of: ['jpeg', 'png', 'webp'], default: 'jpeg', describe: 'The format to return.' }),
    quality: int({ min: 1, max: 100, default: 90, describe: 'Quality of JPEG and WebP.' }),
  },
  check({ columns, cell_width, cell_height, gap }, { length }) {
    if (cell_height === undefined) return {};
    const across = Math.min(columns, length);
    const [width, height] = [across * (cell_width + gap), Math.ceil(length / across) * (cell_height + gap)];
    if (width * height <= maxPixels) return {};
    return { cell_height: [`makes a collage of ${width} x ${height} pixels; the limit is 100 million`] };
  },
  async run(context) {
    const { inputs, settings } = context;
    const { columns, gap, cell_width: cellWidth, cell_height: cellHeight, background, format, quality } = settings;
    const collage = await makeCollage(
      inputs.length,
      (index) => openImage(inputs[index]!, context, { animated: false }),
      { columns, gap, cellWidth, cellHeight, background },
      (done) => context.progress((done / inputs.length) * 80),
    );
    await writeImage(collage, context.output(`collage.${extensionOf(format)}`), format, { quality });
  },
});
