import { writeFile } from 'node:fs/promises';
import {
  esbuild,
  htmlMinifier,
  lightningCss,
  minifiableTypes,
  minifyCode,
  type MinifiableType,
} from '../../engines/code-minifying.ts';
import { svgoEngine } from '../../engines/svg.ts';
import { readTextFile } from '../../engines/text-file.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag } from '../settings.ts';

export default defineTool({
  slug: 'code-minifier',
  name: 'Code Minifier',
  category: 'text',
  description: 'Makes HTML, CSS, JavaScript, JSON and SVG as short as they can be and mean the same.',
  accepts: minifiableTypes,
  produces: minifiableTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [esbuild, lightningCss, htmlMinifier, svgoEngine],
  settings: {
    mangle: flag({ default: true, describe: 'Shorten the names of variables that nobody outside can see.' }),
    source_map: flag({ default: false, describe: 'Also return a source map of each script and style sheet.' }),
  },
  check({ source_map }, inputs) {
    const other = inputs.some(({ type }) => type !== 'js' && type !== 'css');
    return source_map && other ? { source_map: ['is only made of JavaScript and CSS'] } : {};
  },
  run: (context) =>
    eachInput(context, async ({ path, filename, stem, type }) => {
      const { mangle, source_map } = context.settings;
      const source = { path, filename, text: await readTextFile({ path, filename }) };
      const { code, map } = await minifyCode(type as MinifiableType, source, { mangle, sourceMap: source_map });
      if (code.trim() === '') {
        throw new Failure('invalid_input', `"${filename}" holds no code: nothing is left of it.`, { file: filename });
      }
      const name = `${stem}.min.${extensionOf(type)}`;
      const link = type === 'css' ? `\n/*# sourceMappingURL=${name}.map */` : `\n//# sourceMappingURL=${name}.map`;
      await writeFile(context.output(name), map === undefined ? code : code.trimEnd() + link);
      if (map !== undefined) await writeFile(context.output(`${name}.map`), map);
    }),
});
