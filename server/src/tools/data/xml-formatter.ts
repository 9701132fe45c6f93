import { isSchema, libxml2, readXml, validateByXsd } from '../../engines/data/xml-document.ts';
import { writeXml } from '../../engines/data/xml-format.ts';
import { type InputFile, defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, int } from '../settings.ts';

export default defineTool({
  slug: 'xml-formatter',
  name: 'XML Formatter',
  category: 'data',
  description: 'Indents or minifies XML, and checks it against an XSD schema that is sent with it.',
  accepts: ['xml'],
  produces: ['xml'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [libxml2],
  settings: {
    indent: int({ describe: 'Spaces a level.', min: 0, max: 8, default: 2 }),
    minify: flag({ describe: 'Leave out the white space between elements instead.', default: false }),
    validate: flag({
      describe: 'Check the other files against the one XSD schema among them; else it is formatted as well.',
      default: true,
    }),
  },
  async run(context) {
    const { inputs, settings, signal } = context;
    const { indent, minify, validate } = settings;
    const schema = validate ? await onlySchema(inputs, signal) : undefined;
    const documents = inputs.filter((input) => input !== schema);
    if (schema !== undefined)
      await validateByXsd(
        { ...schema, signal },
        documents.map((input) => ({ ...input, signal })),
      );
    await eachInput(
      context,
      async (input) => {
        const tree = await readXml({ ...input, signal });
        const extension = isSchema(tree) ? 'xsd' : 'xml';
        await writeXml(context.output(`${input.stem}.${extension}`), tree, { indent, minify });
      },
      documents,
    );
  },
});

/** The schema among the inputs, when there is one and something else to judge by it. */
async function onlySchema(inputs: readonly InputFile[], signal: AbortSignal): Promise<InputFile | undefined> {
  if (inputs.length < 2) return undefined;
  const schemas: InputFile[] = [];
  for (const input of inputs) if (isSchema(await readXml({ ...input, signal }))) schemas.push(input);
  return schemas.length === 1 ? schemas[0] : undefined;
}
