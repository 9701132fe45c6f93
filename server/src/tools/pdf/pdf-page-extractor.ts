import { pdfLib, writeSelection } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { pageRanges } from '../page-ranges.ts';
import { flag } from '../settings.ts';
import { chosenPages, openInput, password } from './edit-pdf.ts';

/** More outputs of one file than this help nobody. */
const maxParts = 5000;

export default defineTool({
  slug: 'pdf-page-extractor',
  name: 'PDF Page Extractor',
  category: 'pdf',
  description: 'Takes pages out of a PDF, into one new PDF or into one for each page.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [pdfLib, qpdf],
  settings: {
    pages: pageRanges({ describe: 'The pages to take, in the order they are written.', required: true }),
    separate: flag({ describe: 'Make one PDF for each page.', default: false }),
    password,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { settings, output, signal } = context;
      const file = await openInput(input, context);
      const pages = chosenPages(settings.pages, file);
      if (!settings.separate) {
        await writeSelection([{ file, pages }], output(`${input.stem}.pdf`));
        return;
      }
      if (pages.length > maxParts) {
        const message = `${input.filename} would become more than ${maxParts} files.`;
        throw new Failure('resource_limit', message, { file: input.filename });
      }
      for (const page of pages) {
        signal.throwIfAborted();
        await writeSelection([{ file, pages: [page] }], output(`${input.stem}-${page + 1}.pdf`));
      }
    }),
});
