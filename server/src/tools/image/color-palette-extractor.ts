import { writeFile } from 'node:fs/promises';
import { colorNotations, colorPalette, drawPalette, writeColor } from '../../engines/color-palette.ts';
import { openImage } from '../../engines/images.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int } from '../settings.ts';
import { readsRasters } from './kept-format.ts';

export default defineTool({
  ...readsRasters,
  slug: 'color-palette-extractor',
  name: 'Color Palette Extractor',
  category: 'image',
  description: 'Finds the main colours of images and how much of the image each covers.',
  produces: ['json', 'png'],
  files: { min: 1, max: 50 },
  settings: {
    count: int({ min: 1, max: 32, default: 6, describe: 'The most colours to return; an image may have fewer.' }),
    format: choice({ of: colorNotations, default: 'hex', describe: 'How to write the colours.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { count, format } = context.settings;
      const image = await openImage(input, context, { animated: false });
      const palette = await colorPalette(image, count);
      const colors = palette.map(({ rgb, share }) => ({
        color: writeColor(rgb, format),
        share: Number(share.toFixed(4)),
      }));
      const report = { file: input.filename, width: image.width, height: image.height, colors };
      await writeFile(context.output(`${input.stem}-palette.json`), `${JSON.stringify(report, null, 2)}\n`);
      await drawPalette(palette, context.output(`${input.stem}-palette.png`));
    }),
});
