import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fontverter, openFont } from '../../engines/fonts/font-file.ts';
import { fontforge } from '../../engines/fonts/fontforge.ts';
import { describeFont, drawSample, fontkit } from '../../engines/fonts/inspect.ts';
import { openImage, writeImage } from '../../engines/images.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { text } from '../settings.ts';

export default defineTool({
  slug: 'font-inspector',
  name: 'Font Inspector',
  category: 'font',
  description: 'Shows what a font is called, what it holds and how it looks.',
  accepts: ['ttf', 'otf', 'woff', 'woff2', 'eot', 'svg'],
  produces: ['json', 'png'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [fontkit, fontverter, sharpEngine],
  optionalEngines: [fontforge],
  enginesFor: (_settings, inputs) => (inputs.some(({ type }) => type === 'svg') ? [fontforge] : []),
  settings: {
    sample: text({ max: 100, describe: 'A text to show in the font; without it no picture is made.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const font = await openFont(input, context);
      const report = { filename: input.filename, ...(await describeFont(font)) };
      await writeFile(context.output(`${input.stem}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
      if (context.settings.sample === undefined) return;
      const drawing = join(context.scratch, 'sample.svg');
      await writeFile(drawing, await drawSample(font, context.settings.sample));
      const image = await openImage({ path: drawing, filename: input.filename, type: 'svg' }, context);
      await writeImage(image, context.output(`${input.stem}.png`), 'png');
    }),
});
