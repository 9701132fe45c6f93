import { formatJson, json5 } from '../../engines/data/json-format.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, int } from '../settings.ts';

export default defineTool({
  slug: 'json-formatter',
  name: 'JSON Formatter',
  category: 'data',
  description: 'Indents or minifies JSON and turns JSON5 into JSON, without changing a value.',
  accepts: ['json', 'json5'],
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [json5],
  settings: {
    indent: int({ describe: 'Spaces a level; 0 writes everything on one line.', min: 0, max: 8, default: 2 }),
    sort_keys: flag({ describe: 'Put the keys of every object in order.', default: false }),
    minify: flag({ describe: 'Write everything on one line, whatever the indent is.', default: false }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { indent, sort_keys: sortKeys, minify } = context.settings;
      const target = context.output(`${input.stem}.json`);
      await formatJson({ ...input, signal: context.signal }, target, { indent: minify ? 0 : indent, sortKeys });
    }),
});
