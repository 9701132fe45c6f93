import { writeFile } from 'node:fs/promises';
import {
  formatCode,
  formattableTypes,
  prettier,
  sqlFormatter,
  type FormattableType,
} from '../../engines/code-formatting.ts';
import { readTextFile } from '../../engines/text-file.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { int } from '../settings.ts';

export default defineTool({
  slug: 'code-formatter',
  name: 'Code Formatter',
  category: 'text',
  description: 'Lays out source code evenly: JavaScript, TypeScript, CSS, HTML, JSON, Markdown, YAML, XML and SQL.',
  accepts: formattableTypes,
  produces: formattableTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [prettier, sqlFormatter],
  settings: {
    indent: int({ min: 1, max: 8, default: 2, describe: 'Spaces a level.' }),
    width: int({ min: 40, max: 200, default: 80, describe: 'Characters a line should not go beyond.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const text = await readTextFile(input);
      const type = input.type as FormattableType; // Everything that is accepted can be formatted.
      const code = await formatCode({ text, type, filename: input.filename }, context.settings);
      await writeFile(context.output(input.filename), code);
    }),
});
