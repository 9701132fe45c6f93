import { rotatePages } from '../../engines/pdf-edit.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { pageRanges } from '../page-ranges.ts';
import { choice } from '../settings.ts';
import { chosenPages, editEach, password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-rotator',
  name: 'PDF Rotator',
  category: 'pdf',
  description: 'Turns the pages of a PDF by quarters of a circle.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    angle: choice({
      describe: 'Degrees to turn clockwise, on top of the turn a page already has.',
      of: ['90', '180', '270'],
      default: '90',
    }),
    pages: pageRanges({ describe: 'The pages to turn; the others stay as they are.', default: 'all' }),
    password,
  },
  run: (context) =>
    editEach(context, (file) =>
      rotatePages(file, chosenPages(context.settings.pages, file), Number(context.settings.angle)),
    ),
});
