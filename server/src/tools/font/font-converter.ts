import { writeFile } from 'node:fs/promises';
import { convertFont, fontverter, openFont } from '../../engines/fonts/font-file.ts';
import { fontforge } from '../../engines/fonts/fontforge.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice } from '../settings.ts';

export default defineTool({
  slug: 'font-converter',
  name: 'Font Converter',
  category: 'font',
  description: 'Converts fonts for the web (WOFF2, WOFF) and for the desktop (TTF, OTF).',
  accepts: ['ttf', 'otf', 'woff', 'woff2', 'eot', 'svg'],
  produces: ['ttf', 'otf', 'woff', 'woff2'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [fontverter],
  optionalEngines: [fontforge],
  enginesFor: ({ format }, inputs) =>
    format === 'ttf' || format === 'otf' || inputs.some(({ type }) => type === 'svg') ? [fontforge] : [],
  settings: {
    format: choice({
      of: ['woff2', 'woff', 'ttf', 'otf'],
      default: 'woff2',
      describe: 'WOFF2 and WOFF keep everything; TTF and OTF draw the outlines anew where they are of the other kind.',
    }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { format } = context.settings;
      const font = await convertFont(await openFont(input, context), format, context);
      await writeFile(context.output(`${input.stem}.${format}`), font);
    }),
});
