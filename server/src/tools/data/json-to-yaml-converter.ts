import { readJsonTree } from '../../engines/data/json-tree.ts';
import { writeText } from '../../engines/data/source.ts';
import { writeYaml, yamlEngine } from '../../engines/data/yaml.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, int } from '../settings.ts';

/** The YAML library keeps several objects for every value. */
const maxMegabytes = 32;

export default defineTool({
  slug: 'json-to-yaml-converter',
  name: 'JSON to YAML Converter',
  category: 'data',
  description: 'Turns JSON into YAML, with quotes wherever text could be read as something else.',
  accepts: ['json'],
  produces: ['yaml'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [yamlEngine],
  settings: {
    indent: int({ describe: 'Spaces a level.', min: 2, max: 8, default: 2 }),
    sort_keys: flag({ describe: 'Put the keys of every map in order.', default: false }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { indent, sort_keys: sortKeys } = context.settings;
      const source = { ...input, signal: context.signal };
      const text = await writeYaml(source, await readJsonTree(source, maxMegabytes), { indent, sortKeys });
      await writeText(context.output(`${input.stem}.yaml`), [text], context.signal);
    }),
});
