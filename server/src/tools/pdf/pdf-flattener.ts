import { flattenPages } from '../../engines/pdf-edit.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { flag } from '../settings.ts';
import { editEach, password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-flattener',
  name: 'PDF Flattener',
  category: 'pdf',
  description: 'Makes filled-in form fields and comments part of the pages, so that nobody changes them. Links stay.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    forms: flag({ describe: 'Flatten form fields.', default: true }),
    annotations: flag({
      describe: 'Flatten comments, highlights, stamps and drawings; attached files and links stay.',
      default: true,
    }),
    password,
  },
  check: ({ forms, annotations }) => (forms || annotations ? {} : { forms: ['or annotations must be true'] }),
  run: (context) =>
    editEach(context, async (file) => {
      const { forms, annotations } = context.settings;
      const { drawn, kept } = await flattenPages(file, { forms, annotations, pages: file.pages.keys() });
      context.log(`${drawn} fields and annotations flattened, ${kept} without an appearance kept`);
    }),
});
