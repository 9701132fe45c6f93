import type { Sharp } from 'sharp';
import { canMove, openImage, photoPrograms, withSteps, writeImage } from '../../engines/images.ts';
import { defineTool } from '../define.ts';
import { choice, color, flag, int, num, type Values } from '../settings.ts';
import { eachPicture } from './each-picture.ts';
import { keepsFormat } from './kept-format.ts';

const settings = {
  width: int({ min: 1, max: 16384, describe: 'Width in pixels; without a height the height follows.' }),
  height: int({ min: 1, max: 16384, describe: 'Height in pixels; without a width the width follows.' }),
  percent: num({ min: 1, max: 1000, describe: 'Size in per cent of the original, instead of width and height.' }),
  fit: choice({
    of: ['inside', 'cover', 'contain', 'fill', 'outside'],
    default: 'inside',
    describe:
      'With width and height: fit inside them, fill them and cut off the rest (cover), fill them with a border (contain), stretch (fill), or reach both (outside).',
  }),
  enlarge: flag({
    default: false,
    describe: 'Also make images larger than they are. percent above 100 always does.',
  }),
  background: color({ default: '#ffffff', describe: 'Colour of the border with contain.' }),
  quality: int({ min: 1, max: 100, default: 85, describe: 'Quality of JPEG, WebP, AVIF, HEIC and JPEG XL.' }),
  format: choice({
    of: ['keep', 'jpeg', 'png', 'webp', 'avif'],
    default: 'keep',
    describe: 'The format to return; keep returns each image in its own.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  ...keepsFormat,
  slug: 'image-resizer',
  name: 'Image Resizer',
  category: 'image',
  description: 'Changes the size of images in pixels or per cent.',
  enginesFor: ({ format }, inputs) => photoPrograms(inputs, format),
  settings,
  check({ width, height, percent }) {
    const hasSize = width !== undefined || height !== undefined;
    if (hasSize && percent !== undefined) return { percent: ['cannot be combined with width or height'] };
    if (!hasSize && percent === undefined) return { width: ['is required when neither height nor percent is given'] };
    return {};
  },
  run: (context) =>
    eachPicture(context, context.settings.format, async (picture, path, format) => {
      const image = await openImage(picture, context, { animated: canMove(format, picture.type) });
      const resized = withSteps(image, (pipeline) => resizeSteps(pipeline, image, context.settings));
      await writeImage(resized, path, format, { quality: context.settings.quality });
    }),
});

function resizeSteps(pipeline: Sharp, image: { width: number; height: number }, settings: Settings): Sharp {
  if (settings.percent !== undefined) {
    const scale = settings.percent / 100;
    const side = (length: number) => Math.max(1, Math.round(length * scale));
    return pipeline.resize(side(image.width), side(image.height), { fit: 'fill' });
  }
  const { width = null, height = null, fit, background, enlarge } = settings;
  return pipeline.resize(width, height, { fit, background, withoutEnlargement: !enlarge });
}
