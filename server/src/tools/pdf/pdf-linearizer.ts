import { pdfLib } from '../../engines/pdf-lib.ts';
import { arrangeForWeb, checkWebArrangement, qpdfProgram, readableInput } from '../../engines/qpdf-program.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, text } from '../settings.ts';

export default defineTool({
  slug: 'pdf-linearizer',
  name: 'PDF Web Optimizer',
  category: 'pdf',
  description: 'Arranges a PDF so that its first page shows before the rest has arrived.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [qpdfProgram, pdfLib, qpdf],
  settings: {
    object_streams: flag({
      describe: 'Pack small objects, which makes the file smaller; readers from before 2003 need them unpacked.',
      default: true,
    }),
    password: text({ describe: 'The password of encrypted files, which they keep.', secret: true, max: 127 }),
  },
  run: ({ inputs, settings, output, progress, scratch, signal, log }) =>
    eachInput({ inputs, signal, progress }, async ({ path, filename, stem }) => {
      const input = await readableInput({ path, filename, scratch, signal, password: settings.password });
      const arranged = output(`${stem}.pdf`);
      log(await arrangeForWeb(input, arranged, { objectStreams: settings.object_streams }));
      await checkWebArrangement({ ...input, path: arranged });
    }),
});
