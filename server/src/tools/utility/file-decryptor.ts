import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { age, decryptWithAge } from '../../engines/age.ts';
import { decryptWithGnupg, gnupg } from '../../engines/gnupg.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFile } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { text } from '../settings.ts';

export default defineTool({
  slug: 'file-decryptor',
  name: 'File Decryptor',
  category: 'utility',
  description: 'Opens files that age or OpenPGP has encrypted with a passphrase.',
  accepts: ['age', 'gpg'],
  produces: 'any',
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [age],
  optionalEngines: [gnupg],
  enginesFor: (_settings, inputs) => (inputs.some(({ type }) => type === 'gpg') ? [gnupg] : []),
  settings: {
    passphrase: text({
      required: true,
      secret: true,
      max: 1000,
      pattern: /^[^\r\n]*$/,
      patternHint: 'must be one line',
      describe: 'What the files were encrypted with.',
    }),
  },
  async run(context) {
    const { passphrase } = context.settings;
    const onBytes = byteProgress(context);
    for (const [index, input] of context.inputs.entries()) {
      context.signal.throwIfAborted();
      // Only a file whose last byte was checked becomes an output.
      const decrypted = join(context.scratch, `decrypted-${index}`);
      if (input.type === 'age') {
        await decryptWithAge(input, decrypted, { passphrase, onBytes, signal: context.signal });
      } else {
        await decryptWithGnupg(input, decrypted, { passphrase, scratch: context.scratch, signal: context.signal });
        onBytes(input.sizeBytes);
      }
      await assertSomething(decrypted, input);
      await rename(decrypted, context.output(withoutSuffix(input.filename)));
    }
  },
});

async function assertSomething(path: string, { filename }: InputFile): Promise<void> {
  if ((await stat(path)).size > 0) return;
  throw new Failure('invalid_input', `What "${filename}" holds is an empty file.`, { file: filename });
}

/** `report.pdf.age` was made of `report.pdf`. */
function withoutSuffix(filename: string): string {
  return filename.replace(/(?<=.)\.(age|gpg|pgp|asc)$/i, '');
}
