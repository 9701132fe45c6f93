import { jsonPieces } from '../../engines/data/json-tree.ts';
import { writeText } from '../../engines/data/source.ts';
import { libxml2, readXml } from '../../engines/data/xml-document.ts';
import { xmlToJson } from '../../engines/data/xml-json.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'xml-to-json-converter',
  name: 'XML to JSON Converter',
  category: 'data',
  description: 'Turns XML into JSON: elements and attributes become keys, repeated elements become arrays.',
  accepts: ['xml'],
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [libxml2],
  settings: {
    attributes: choice({
      describe: 'Keys for attributes: @name, the bare name, or none.',
      of: ['prefix', 'merge', 'drop'],
      default: 'prefix',
    }),
    arrays: choice({
      describe: 'Which child elements become arrays: repeated ones, or all.',
      of: ['auto', 'always'],
      default: 'auto',
    }),
    pretty: flag({ describe: 'Indent the JSON for people.', default: true }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { attributes, arrays, pretty } = context.settings;
      const source = { ...input, signal: context.signal };
      const tree = xmlToJson(source, await readXml(source, { expandsEntities: true }), { attributes, arrays });
      const pieces = [...jsonPieces(tree, { indent: pretty ? 2 : 0 }), '\n'];
      await writeText(context.output(`${input.stem}.json`), pieces, context.signal);
    }),
});
