import { flattenPages } from '../../engines/pdf-edit.ts';
import { fillFields, type FieldValue } from '../../engines/pdf-form.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { flag, json, type Json } from '../settings.ts';
import { editEach, password } from './edit-pdf.ts';

/** More fields than any form has. */
const maxFields = 10_000;

const isWord = (value: Json) => typeof value === 'string' || typeof value === 'number';

function isFieldValue(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isWord);
  return value === null || typeof value === 'boolean' || isWord(value);
}

export default defineTool({
  slug: 'pdf-form-filler',
  name: 'PDF Form Filler',
  category: 'pdf',
  description: 'Fills in the fields of PDF forms and, unless told otherwise, makes them part of the pages.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    fields: {
      ...json<Record<string, Json>>({
        describe:
          'What the fields hold, by their names: text or a number, true or false for a box, an option (its value or the word that shows), a list of options, null for nothing.',
        schema: {
          type: 'object',
          minProperties: 1,
          maxProperties: maxFields,
          additionalProperties: {
            type: ['string', 'number', 'boolean', 'null', 'array'],
            items: { type: ['string', 'number'] },
          },
        },
        check(value) {
          if (value === null || typeof value !== 'object' || Array.isArray(value))
            return { problem: 'must be an object' };
          const count = Object.keys(value).length;
          if (count === 0 || count > maxFields) return { problem: `must name between 1 and ${maxFields} fields` };
          const wrong = Object.keys(value).find((name) => !isFieldValue(value[name] ?? null));
          if (wrong === undefined) return { value };
          return { problem: `"${wrong.slice(0, 100)}" must be a text, number, true, false, null or a list of these` };
        },
      }),
      required: true,
    },
    flatten: flag({ describe: 'Make the fields part of the pages, so that nobody changes them.', default: true }),
    password,
  },
  run: (context) =>
    editEach(context, async (file) => {
      const { fields, flatten } = context.settings;
      await fillFields(file, (fields ?? {}) as Record<string, FieldValue>, { draw: !flatten });
      if (flatten) await flattenPages(file, { forms: true, annotations: false, pages: file.pages.keys() });
    }),
});
