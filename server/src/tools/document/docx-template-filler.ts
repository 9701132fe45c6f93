import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { docxtemplater, fillTemplate } from '../../engines/docx-template.ts';
import { convertOffice, libreoffice, libreofficeImpress } from '../../engines/libreoffice.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, type Json, json } from '../settings.ts';

const delimiters = { single: { start: '{', end: '}' }, double: { start: '{{', end: '}}' } } as const;

export default defineTool({
  slug: 'docx-template-filler',
  name: 'DOCX Template Filler',
  category: 'document',
  description: 'Fills the {names}, lists and conditions of a Word or PowerPoint template with data.',
  accepts: ['docx', 'pptx'],
  produces: ['docx', 'pptx', 'pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [docxtemplater],
  optionalEngines: [libreoffice, libreofficeImpress],
  enginesFor({ output }, inputs) {
    if (output !== 'pdf') return [];
    const types = new Set(inputs.map(({ type }) => type));
    return [...(types.has('docx') ? [libreoffice] : []), ...(types.has('pptx') ? [libreofficeImpress] : [])];
  },
  settings: {
    data: {
      ...json<{ [name: string]: Json }>({
        describe: 'The values by name, as a JSON object; lists of objects fill {#list}…{/list}.',
        schema: { type: 'object', additionalProperties: true },
        check: (value) =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? { value: value }
            : { problem: 'must be a JSON object' },
      }),
      required: true,
    },
    output: choice({
      describe: 'Keep the format of the template (docx also for PowerPoint), or write PDF.',
      of: ['docx', 'pdf'],
      default: 'docx',
    }),
    missing: choice({
      describe: 'A name without a value becomes empty, keeps standing as it is, or is refused.',
      of: ['empty', 'keep', 'refuse'],
      default: 'empty',
    }),
    delimiters: choice({
      describe: 'Names stand in {single} or {{double}} braces.',
      of: ['single', 'double'],
      default: 'single',
    }),
  },
  async run(context) {
    const { settings, output, scratch, signal } = context;
    await eachInput(context, async (input) => {
      const { type, stem, filename } = input;
      const pdf = settings.output === 'pdf';
      const target = output(`${stem}.${pdf ? 'pdf' : extensionOf(type)}`);
      const filled = pdf ? join(scratch, 'filled') : target;
      const { missing, data = {} } = settings;
      await fillTemplate(input, { target: filled, data, delimiters: delimiters[settings.delimiters], missing, signal });
      if (!pdf) return;
      await convertOffice({ path: filled, filename, type }, { format: 'pdf', target, scratch, signal });
      await rm(filled);
    });
  },
});
