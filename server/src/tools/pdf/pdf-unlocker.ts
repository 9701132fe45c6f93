import { copyFile } from 'node:fs/promises';
import { countPages, qpdfProgram, readEncryption, removeEncryption } from '../../engines/qpdf-program.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { text } from '../settings.ts';

export default defineTool({
  slug: 'pdf-unlocker',
  name: 'PDF Unlocker',
  category: 'pdf',
  description:
    'Removes the password and the restrictions of a PDF whose password you know. A file without any comes back unchanged.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [qpdfProgram],
  settings: {
    password: text({
      describe: 'The password that opens the file, or its owner password.',
      secret: true,
      min: 1,
      max: 127,
      required: true,
    }),
  },
  run: ({ inputs, settings, output, progress, scratch, signal, log }) =>
    eachInput({ inputs, signal, progress }, async ({ path, filename, stem }) => {
      const input = { path, filename, scratch, signal, password: settings.password };
      const encryption = await readEncryption(input);
      const unlocked = output(`${stem}.pdf`);
      if (encryption === undefined) {
        log('not encrypted: the input is returned');
        return copyFile(path, unlocked);
      }
      log(await removeEncryption(input, unlocked));
      await countPages({ path: unlocked, filename, scratch, signal });
    }),
});
