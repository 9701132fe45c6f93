import { writeFile } from 'node:fs/promises';
import { openImage } from '../../engines/images.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { traceImage, vectorizerEngine } from '../../engines/vectorizer.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int } from '../settings.ts';

export default defineTool({
  slug: 'image-vectorizer',
  name: 'Image Vectorizer',
  category: 'image',
  description: 'Traces images into SVG drawings that stay sharp at any size.',
  accepts: ['png', 'jpeg', 'webp'],
  produces: ['svg'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [sharpEngine, vectorizerEngine],
  settings: {
    color_mode: choice({
      of: ['color', 'bw'],
      default: 'color',
      describe: 'Trace the colours, or black on white (bw).',
    }),
    speckle: int({
      min: 0,
      max: 128,
      default: 4,
      describe: 'Leaves out patches smaller than this many pixels along their edge.',
    }),
    color_precision: int({
      min: 1,
      max: 8,
      default: 6,
      describe: 'Bits of the palette: 6 is 64 colours; fewer make fewer, larger shapes.',
    }),
    curve: choice({ of: ['spline', 'polygon'], default: 'spline', describe: 'Smooth curves, or straight lines.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { color_mode: colorMode, speckle, color_precision: colorPrecision, curve } = context.settings;
      const image = await openImage(input, context, { animated: false });
      const drawing = await traceImage(image, { colorMode, speckle, colorPrecision, curve });
      await writeFile(context.output(`${input.stem}.svg`), drawing);
    }),
});
