import { heicDecoder } from '../../engines/heic.ts';
import {
  canMove,
  imageFormats,
  openImage,
  photoEngines,
  photoPrograms,
  rasterTypes,
  writeImage,
} from '../../engines/images.ts';
import { jxlEngine } from '../../engines/jxl.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool } from '../define.ts';
import { choice, color, flag, int } from '../settings.ts';
import { eachPicture } from './each-picture.ts';

const losslessFormats = ['png', 'webp', 'avif', 'gif', 'tiff', 'bmp', 'ico', 'heic', 'jxl'];

export default defineTool({
  slug: 'image-converter',
  name: 'Image Converter',
  category: 'image',
  description: 'Converts images from one format to another.',
  accepts: [...rasterTypes, 'svg'],
  produces: imageFormats,
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [sharpEngine, heicDecoder, jxlEngine],
  optionalEngines: photoEngines,
  enginesFor: ({ format }, inputs) => photoPrograms(inputs, format),
  settings: {
    format: choice({
      of: imageFormats,
      required: true,
      describe: 'The format to return. Of a TIFF with several pages, only TIFF holds all in one file.',
    }),
    quality: int({ min: 1, max: 100, default: 85, describe: 'Quality of JPEG, WebP, AVIF, HEIC and JPEG XL.' }),
    lossless: flag({ default: false, describe: 'Keep every pixel: WebP, AVIF, HEIC and JPEG XL can.' }),
    background: color({
      default: '#ffffff',
      describe: 'Shows through transparent places in formats without transparency (JPEG, BMP).',
    }),
    dpi: int({
      min: 36,
      max: 1200,
      describe: 'Resolution to store; a drawing (SVG) is also drawn that much finer than its own 96.',
    }),
  },
  check({ format, lossless }) {
    if (lossless && !losslessFormats.includes(format)) return { lossless: [`is not possible with ${format}`] };
    return {};
  },
  run: (context) =>
    eachPicture(context, context.settings.format, async (picture, path, format) => {
      const { quality, lossless, background, dpi } = context.settings;
      const image = await openImage(picture, context, { animated: canMove(format, picture.type), dpi });
      await writeImage(image, path, format, { quality, lossless, background, dpi });
    }),
});
