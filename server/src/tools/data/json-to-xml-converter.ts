import { readJsonTree } from '../../engines/data/json-tree.ts';
import { writeText } from '../../engines/data/source.ts';
import { jsonToXml, isXmlName } from '../../engines/data/xml-json.ts';
import { node } from '../../engines/node.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { int, text } from '../settings.ts';

export default defineTool({
  slug: 'json-to-xml-converter',
  name: 'JSON to XML Converter',
  category: 'data',
  description: 'Turns JSON into XML: keys become elements, arrays repeated ones, keys such as @id attributes.',
  accepts: ['json'],
  produces: ['xml'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [node],
  settings: {
    root: text({ describe: 'The name of the outermost element.', default: 'root', max: 100 }),
    indent: int({ describe: 'Spaces a level.', min: 0, max: 8, default: 2 }),
  },
  check: ({ root }) => (isXmlName(root) ? {} : { root: ['must be a name XML allows, such as "order"'] }),
  run: (context) =>
    eachInput(context, async (input) => {
      const { root, indent } = context.settings;
      const source = { ...input, signal: context.signal };
      const pieces = jsonToXml(source, await readJsonTree(source), root, indent);
      await writeText(context.output(`${input.stem}.xml`), pieces, context.signal);
    }),
});
