import { ghostscript } from '../../engines/ghostscript.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { repairPdf } from '../../engines/pdf-repair.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { qpdfProgram } from '../../engines/qpdf-program.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag } from '../settings.ts';
import { password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-repairer',
  name: 'PDF Repairer',
  category: 'pdf',
  description: 'Makes a damaged PDF readable again, as far as its pages are still there.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [qpdfProgram, pdfLib, pdfium, qpdf],
  optionalEngines: [ghostscript],
  enginesFor: ({ aggressive }) => (aggressive ? [ghostscript] : []),
  settings: {
    aggressive: flag({
      describe: 'Also draw the pages anew and take what brings back most of them; forms and bookmarks may be lost.',
      default: false,
    }),
    password,
  },
  run: ({ inputs, settings, output, progress, scratch, signal, log }) =>
    eachInput({ inputs, signal, progress }, async ({ path, filename, stem }) => {
      const input = { path, filename, scratch, signal, password: settings.password };
      const { means, pages, cut } = await repairPdf(input, output(`${stem}.pdf`), settings.aggressive);
      log(`${pages} pages rescued by ${means}${cut > 0 ? `, ${cut} parts of their content only in part` : ''}`);
    }),
});
