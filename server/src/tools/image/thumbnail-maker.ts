import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { imagePrograms, withSteps, writeImage } from '../../engines/images.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { isVideo, openPreview } from '../../engines/thumbnail.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int } from '../settings.ts';
import { readsRasters } from './kept-format.ts';

export default defineTool({
  ...readsRasters,
  slug: 'thumbnail-maker',
  name: 'Thumbnail Maker',
  category: 'image',
  description: 'Makes small previews of images, PDFs and videos.',
  accepts: [...readsRasters.accepts, 'svg', 'pdf', ...videoTypes],
  produces: ['webp', 'jpeg', 'png'],
  files: { min: 1, max: 50 },
  engines: [...readsRasters.engines, pdfium],
  optionalEngines: [cameraRawDecoder, ffmpeg],
  enginesFor: (_settings, inputs) => [
    ...imagePrograms(inputs, 'png'),
    ...(inputs.some(({ type }) => isVideo(type)) ? [ffmpeg] : []),
  ],
  settings: {
    width: int({ min: 1, max: 4096, default: 300, describe: 'Width in pixels.' }),
    height: int({ min: 1, max: 4096, default: 200, describe: 'Height in pixels.' }),
    fit: choice({
      of: ['cover', 'contain'],
      default: 'cover',
      describe: 'Fill width and height and cut off the rest, or show the whole picture within them (contain).',
    }),
    format: choice({ of: ['webp', 'jpeg', 'png'], default: 'webp', describe: 'The format to return.' }),
    quality: int({ min: 1, max: 100, default: 80, describe: 'Quality of WebP and JPEG.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { width, height, fit, format, quality } = context.settings;
      const image = await openPreview(input, context, Math.max(width, height));
      const small = withSteps(image, (pipeline) =>
        fit === 'cover'
          ? pipeline.resize(width, height, { fit: 'cover', position: input.type === 'pdf' ? 'top' : 'centre' })
          : pipeline.resize(width, height, { fit: 'inside', withoutEnlargement: true }),
      );
      const path = context.output(`${input.stem}.${extensionOf(format)}`);
      await writeImage(small, path, format, { quality, keepMetadata: false });
    }),
});
