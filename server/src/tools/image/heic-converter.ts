import { heicDecoder } from '../../engines/heic.ts';
import { openImage, writeImage } from '../../engines/images.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, int } from '../settings.ts';

export default defineTool({
  slug: 'heic-converter',
  name: 'HEIC to JPG Converter',
  category: 'image',
  description: 'Turns photos of phones (HEIC, HEIF) into JPEG, PNG or WebP.',
  accepts: ['heic'],
  produces: ['jpeg', 'png', 'webp'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [sharpEngine, heicDecoder],
  settings: {
    format: choice({ of: ['jpeg', 'png', 'webp'], default: 'jpeg', describe: 'The format to return.' }),
    quality: int({ min: 1, max: 100, default: 90, describe: 'Quality of JPEG and WebP.' }),
    strip_metadata: flag({
      default: false,
      describe: 'Remove where, when and with what a photo was taken, and convert its colours to sRGB.',
    }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { format, quality, strip_metadata } = context.settings;
      const image = await openImage(input, context);
      const path = context.output(`${input.stem}.${extensionOf(format)}`);
      await writeImage(image, path, format, { quality, keepMetadata: !strip_metadata });
    }),
});
