import { writeFile } from 'node:fs/promises';
import { convertFont, fontverter, openFont } from '../../engines/fonts/font-file.ts';
import { harfbuzz, parseUnicodes, rangeNames, subsetFont } from '../../engines/fonts/subset.ts';
import { fontkit } from '../../engines/fonts/inspect.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, text } from '../settings.ts';

export default defineTool({
  slug: 'font-subsetter',
  name: 'Font Subsetter',
  category: 'font',
  description: 'Keeps only the characters a page needs, so that the font loads in a blink.',
  accepts: ['ttf', 'otf', 'woff', 'woff2'],
  produces: ['woff2', 'ttf', 'otf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [harfbuzz, fontverter, fontkit],
  settings: {
    text: text({ max: 10_000, describe: 'Keep the characters of this text, besides those of unicodes.' }),
    unicodes: text({
      default: 'latin',
      max: 2000,
      describe: `Characters to keep, separated by commas: ${rangeNames.join(', ')}, or code points such as U+2190-21FF; none to keep only those of text.`,
    }),
    keep_hinting: flag({ default: true, describe: 'Keep the hints that sharpen small sizes on old screens.' }),
    features: text({
      default: '*',
      max: 500,
      pattern: /^(\*|[A-Za-z0-9]{4}(\s*,\s*[A-Za-z0-9]{4})*)$/,
      patternHint: 'must be * or names of four characters, separated by commas, such as kern,liga',
      describe: 'OpenType features to keep, such as kern,liga,tnum; * for all.',
    }),
    format: choice({
      of: ['woff2', 'same'],
      default: 'woff2',
      describe: 'woff2 for the web, or the TTF or OTF it was.',
    }),
  },
  check({ text: words, unicodes }) {
    if (unicodes === 'none') return words === undefined ? { text: ['is required when unicodes is none'] } : {};
    if (parseUnicodes(unicodes) !== undefined) return {};
    return { unicodes: [`must be ${rangeNames.join(', ')} or code points such as U+2190-21FF, separated by commas`] };
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { text: words = '', unicodes, keep_hinting, features, format } = context.settings;
      const font = await openFont(input, context);
      const subset = await subsetFont(font, {
        characters: words + (unicodes === 'none' ? '' : (parseUnicodes(unicodes) ?? '')),
        keepHinting: keep_hinting,
        features: features === '*' ? undefined : features.split(',').map((feature) => feature.trim()),
      });
      const extension = format === 'woff2' ? 'woff2' : font.outlines;
      await writeFile(context.output(`${input.stem}.${extension}`), await convertFont(subset, extension, context));
    }),
});
