import { writeFile } from 'node:fs/promises';
import { compareImages, comparisonViews, drawComparison, pixelmatchEngine } from '../../engines/image-compare.ts';
import { openImage } from '../../engines/images.ts';
import { defineTool } from '../define.ts';
import { choice, num } from '../settings.ts';
import { readsRasters } from './kept-format.ts';

export default defineTool({
  ...readsRasters,
  slug: 'image-comparer',
  name: 'Image Comparer',
  category: 'image',
  description: 'Shows where two images differ, as a picture and in numbers.',
  produces: ['png', 'json'],
  files: { min: 2, max: 2 },
  engines: [...readsRasters.engines, pixelmatchEngine],
  settings: {
    threshold: num({
      min: 0,
      max: 1,
      default: 0.1,
      describe: 'How far apart two colours may be and still count as equal: 0 is strict.',
    }),
    output: choice({
      of: comparisonViews,
      default: 'diff',
      describe: 'Differences in red over a pale first image, over the second one (overlay), or beside both.',
    }),
  },
  async run(context) {
    const [one, other] = context.inputs;
    if (one === undefined || other === undefined) throw new Error('two files are required');
    const first = await openImage(one, context, { animated: false });
    const second = await openImage(other, context, { animated: false });
    const comparison = await compareImages(first, second, context.settings.threshold);
    const { canvas, differentPixels, differences } = comparison;
    const sameSize = first.width === second.width && first.height === second.height;
    const total = canvas.width * canvas.height;
    const report = {
      identical: sameSize && differentPixels === 0,
      same_size: sameSize,
      different_pixels: differentPixels,
      total_pixels: total,
      different_percent: Number(((differentPixels / total) * 100).toFixed(4)),
      differences_in:
        differences === undefined
          ? null
          : { x: differences.left, y: differences.top, width: differences.width, height: differences.height },
      first: { file: one.filename, width: first.width, height: first.height },
      second: { file: other.filename, width: second.width, height: second.height },
      compared_on: canvas,
      threshold: context.settings.threshold,
    };
    context.progress(60);
    await drawComparison(
      comparison,
      context.settings.output,
      context.output(`${one.stem}-${context.settings.output}.png`),
    );
    await writeFile(context.output(`${one.stem}-comparison.json`), `${JSON.stringify(report, null, 2)}\n`);
  },
});
