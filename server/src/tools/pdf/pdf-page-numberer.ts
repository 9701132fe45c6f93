import { addPageNumbers } from '../../engines/pdf-edit.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { pageRanges } from '../page-ranges.ts';
import { choice, color, int, num, text } from '../settings.ts';
import { chosenPages, editEach, password, pointsPerMm } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-page-numberer',
  name: 'PDF Page Numberer',
  category: 'pdf',
  description: 'Writes page numbers on the pages of a PDF, upright however a page is turned.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    position: choice({
      describe: 'Where on the page the number stands.',
      of: ['top-left', 'top-center', 'top-right', 'bottom-left', 'bottom-center', 'bottom-right'],
      default: 'bottom-center',
    }),
    format: text({
      describe: 'The text of a number: {n} is the number, {total} the last of all numbers.',
      min: 1,
      max: 100,
      pattern: /\{(n|total)\}/,
      patternHint: 'must contain {n} or {total}',
      default: '{n} / {total}',
    }),
    start: int({ describe: 'The number of the first numbered page.', min: 0, max: 1_000_000, default: 1 }),
    font_size: int({
      describe: 'Height of the text in points; less where a page is too small for it.',
      min: 4,
      max: 72,
      default: 10,
    }),
    color: color({ describe: 'Colour of the text.', default: '#000000' }),
    margin_mm: num({ describe: 'Millimetres to the edges of the page.', min: 0, max: 100, default: 10 }),
    pages: pageRanges({ describe: 'The pages to number; the others are not counted.', default: 'all' }),
    password,
  },
  run: (context) =>
    editEach(context, (file) => {
      const { settings } = context;
      const pages = chosenPages(settings.pages, file);
      const margin = settings.margin_mm * pointsPerMm;
      return addPageNumbers(file, { ...settings, fontSize: settings.font_size, margin, pages });
    }),
});
