import { type JsonNode, jsonPieces } from '../../engines/data/json-tree.ts';
import { writeText } from '../../engines/data/source.ts';
import { readYaml, yamlEngine } from '../../engines/data/yaml.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'yaml-to-json-converter',
  name: 'YAML to JSON Converter',
  category: 'data',
  description: 'Turns YAML into JSON, every document of it.',
  accepts: ['yaml'],
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [yamlEngine],
  settings: {
    pretty: flag({ describe: 'Indent the JSON for people.', default: true }),
    multi_doc: choice({
      describe: 'What becomes of several documents in one file: one array, or a file each.',
      of: ['array', 'split'],
      default: 'array',
    }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { pretty, multi_doc: several } = context.settings;
      const documents = await readYaml({ ...input, signal: context.signal });
      const write = (name: string, tree: JsonNode) =>
        writeText(context.output(name), withNewLine(jsonPieces(tree, { indent: pretty ? 2 : 0 })), context.signal);
      const [first] = documents;
      if (documents.length === 1 && first !== undefined) await write(`${input.stem}.json`, first);
      else if (several === 'array') await write(`${input.stem}.json`, { kind: 'array', items: documents, at: 0 });
      else for (const [index, tree] of documents.entries()) await write(`${input.stem}-${index + 1}.json`, tree);
    }),
});

function* withNewLine(pieces: Iterable<string>): Generator<string> {
  yield* pieces;
  yield '\n';
}
