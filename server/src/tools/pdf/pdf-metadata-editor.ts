import { writeFile } from 'node:fs/promises';
import { readProperties, writeProperties } from '../../engines/pdf-edit.ts';
import { pdfLib, type PdfFile } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { flag, text } from '../settings.ts';
import { editEach, password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-metadata-editor',
  name: 'PDF Metadata Editor',
  category: 'pdf',
  description: 'Sets or clears the title, author, subject and keywords of a PDF, for old and new readers alike.',
  accepts: ['pdf'],
  produces: ['pdf', 'json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    title: text({ describe: 'The title; readers show it instead of the file name.', max: 2000 }),
    author: text({ describe: 'The author or authors.', max: 2000 }),
    subject: text({ describe: 'What the document is about.', max: 2000 }),
    keywords: text({ describe: 'Keywords, separated by commas.', max: 2000 }),
    clear: flag({
      describe: 'Remove every property first: also dates, the names of programs, and thumbnails.',
      default: false,
    }),
    report: flag({ describe: 'Also write the properties of the result as JSON.', default: false }),
    password,
  },
  check: ({ title, author, subject, keywords, clear, report }) =>
    [title, author, subject, keywords].every((value) => value === undefined) && !clear && !report
      ? { title: ['or another property, clear or report is required'] }
      : {},
  run: (context) => {
    const { title, author, subject, keywords, clear, report } = context.settings;
    const write = (file: PdfFile) => writeProperties(file, { title, author, subject, keywords }, clear);
    return editEach(context, write, context.inputs, async (file, { filename, stem }) => {
      if (!report) return;
      const properties = { file: filename, ...orNull(await readProperties(file)) };
      await writeFile(context.output(`${stem}.json`), `${JSON.stringify(properties, null, 2)}\n`);
    });
  },
});

/** JSON has no undefined: what is not said is null. */
function orNull(values: object): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, (value as string | undefined) ?? null]));
}
