import { ghostscript } from '../../engines/ghostscript.ts';
import { grayPages } from '../../engines/pdf-gray.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { pageRanges } from '../page-ranges.ts';
import { chosenPages, editEach, password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-grayscaler',
  name: 'PDF Grayscaler',
  category: 'pdf',
  description: 'Turns every colour on the pages of a PDF to grey; form fields and comments become part of these pages.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [ghostscript, pdfLib, qpdf],
  settings: {
    pages: pageRanges({ describe: 'The pages to turn grey; the others stay as they are.', default: 'all' }),
    password,
  },
  run: (context) => editEach(context, (file) => grayPages(file, chosenPages(context.settings.pages, file), context)),
});
