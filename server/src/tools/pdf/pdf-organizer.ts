import { pdfLib, writeSelection } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { pageRanges } from '../page-ranges.ts';
import { chosenPages, openInput, password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-organizer',
  name: 'PDF Organizer',
  category: 'pdf',
  description: 'Puts the pages of a PDF into another order; pages may come twice or not at all.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    order: pageRanges({
      describe: 'The pages of the result in their order, such as 3,1,2,5-last; pages that are not named are left out.',
      required: true,
    }),
    password,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const file = await openInput(input, context);
      const pages = chosenPages(context.settings.order, file);
      await writeSelection([{ file, pages }], context.output(`${input.stem}.pdf`));
    }),
});
