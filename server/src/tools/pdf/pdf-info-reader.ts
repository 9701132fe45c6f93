import { writeFile } from 'node:fs/promises';
import { isLinearized, reportOf } from '../../engines/pdf-edit.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdfProgram, readEncryption } from '../../engines/qpdf-program.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { text } from '../settings.ts';
import { openInput } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-info-reader',
  name: 'PDF Info Reader',
  category: 'pdf',
  description:
    'Tells what a PDF is, as JSON: page sizes, properties, encryption and rights, fonts, forms, signatures and attachments.',
  accepts: ['pdf'],
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf, qpdfProgram],
  settings: {
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { path, filename, sizeBytes, stem } = input;
      const { scratch, settings, signal, output } = context;
      const file = await openInput(input, context);
      const encryption = file.wasEncrypted
        ? await readEncryption({ path, filename, scratch, signal, password: settings.password })
        : undefined;
      const report = {
        file: filename,
        size_bytes: sizeBytes,
        linearized: await isLinearized(path, sizeBytes),
        encryption:
          encryption === undefined
            ? null
            : {
                cipher: encryption.cipher,
                opened_as: encryption.isOwner ? 'owner' : 'user',
                permissions: encryption.permissions,
              },
        ...(await reportOf(file)),
      };
      await writeFile(output(`${stem}.json`), `${JSON.stringify(report, null, 2)}\n`);
    }),
});
