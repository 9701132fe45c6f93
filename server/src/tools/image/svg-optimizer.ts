import { writeFile } from 'node:fs/promises';
import { sharpEngine } from '../../engines/sharp.ts';
import { optimizeSvg, readSvgText, svgoEngine } from '../../engines/svg.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, int } from '../settings.ts';

export default defineTool({
  slug: 'svg-optimizer',
  name: 'SVG Optimizer',
  category: 'image',
  description: 'Makes SVG drawings smaller without changing what they show.',
  accepts: ['svg', 'svgz'],
  produces: ['svg'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [svgoEngine, sharpEngine],
  settings: {
    precision: int({
      min: 0,
      max: 8,
      default: 3,
      describe: 'Digits behind the decimal point; more are kept where fewer would change the picture.',
    }),
    multipass: flag({ default: true, describe: 'Repeat until it gets no smaller.' }),
    keep_viewbox: flag({
      default: true,
      describe: 'Keep the viewBox, with which a drawing scales; false removes it where it repeats the size.',
    }),
    pretty: flag({ default: false, describe: 'Write it on lines with indents, which is easier to read and larger.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { precision, multipass, keep_viewbox: keepViewBox, pretty } = context.settings;
      const optimized = await optimizeSvg(input.path, input, { precision, multipass, keepViewBox, pretty });
      const given = await readSvgText(input.path, input);
      const isLarger = !pretty && Buffer.byteLength(optimized) >= Buffer.byteLength(given);
      await writeFile(context.output(`${input.stem}.svg`), isLarger ? given : optimized);
    }),
});
