import { ajv, schemaDrafts, validateJson } from '../../engines/data/json-schema.ts';
import { writeText } from '../../engines/data/source.ts';
import { defineTool } from '../define.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'json-validator',
  name: 'JSON Validator',
  category: 'data',
  description: 'Reports what is wrong with a JSON file, by a JSON Schema when one is sent as the second file.',
  accepts: ['json'],
  produces: ['json'],
  files: { min: 1, max: 2 },
  timeoutSeconds: 120,
  engines: [ajv],
  settings: {
    draft: choice({
      describe: 'The draft the schema follows; auto goes by its $schema, and by 2020-12 without one.',
      of: ['auto', ...schemaDrafts],
      default: 'auto',
    }),
    all_errors: flag({ describe: 'Report every error; else stop at the first.', default: true }),
  },
  async run({ inputs, settings, output, signal }) {
    const [document, schema] = inputs;
    if (document === undefined) return;
    const { draft, all_errors: allErrors } = settings;
    const by =
      schema === undefined
        ? undefined
        : { source: { ...schema, signal }, draft: draft === 'auto' ? undefined : draft, allErrors };
    const report = await validateJson({ ...document, signal }, by);
    await writeText(output(`${document.stem}-report.json`), [`${JSON.stringify(report, null, 2)}\n`], signal);
  },
});
