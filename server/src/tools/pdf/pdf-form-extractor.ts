import { readFields, writeFields } from '../../engines/pdf-form.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice } from '../settings.ts';
import { openInput, password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-form-extractor',
  name: 'PDF Form Extractor',
  category: 'pdf',
  description: 'Reads the fields of PDF forms: their names, types and options, and what has been filled in.',
  accepts: ['pdf'],
  produces: ['json', 'csv', 'fdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [pdfLib, qpdf],
  settings: {
    format: choice({
      of: ['json', 'csv', 'fdf'],
      default: 'json',
      describe: 'JSON and CSV say everything of each field; FDF holds names and values for PDF programs.',
    }),
    password,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { format } = context.settings;
      const fields = await readFields(await openInput(input, context));
      await writeFields(fields, format, { filename: input.filename, path: context.output(`${input.stem}.${format}`) });
    }),
});
