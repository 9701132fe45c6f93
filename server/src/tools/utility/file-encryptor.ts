import { age, encryptWithAge } from '../../engines/age.ts';
import { encryptWithGnupg, gnupg } from '../../engines/gnupg.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { choice, text } from '../settings.ts';

export default defineTool({
  slug: 'file-encryptor',
  name: 'File Encryptor',
  category: 'utility',
  description: 'Encrypts files with a passphrase, for age or for OpenPGP.',
  accepts: 'any',
  produces: ['age', 'gpg'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [age],
  optionalEngines: [gnupg],
  enginesFor: ({ format }) => (format === 'gpg' ? [gnupg] : []),
  settings: {
    passphrase: text({
      required: true,
      secret: true,
      min: 8,
      max: 1000,
      pattern: /^[^\r\n]*$/,
      patternHint: 'must be one line',
      describe: 'At least 8 characters; four random words are better. Nobody can recover it.',
    }),
    format: choice({
      of: ['age', 'gpg'],
      default: 'age',
      describe: 'age: modern and simple; gpg: OpenPGP with AES-256, for GnuPG and its like.',
    }),
  },
  async run(context) {
    const { passphrase, format } = context.settings;
    const onBytes = byteProgress(context);
    for (const { path, filename, sizeBytes } of context.inputs) {
      context.signal.throwIfAborted();
      const target = context.output(`${filename}.${format}`);
      if (format === 'age') {
        await encryptWithAge(path, target, { passphrase, onBytes, signal: context.signal });
      } else {
        await encryptWithGnupg(path, target, { passphrase, scratch: context.scratch, signal: context.signal });
        onBytes(sizeBytes);
      }
    }
  },
});
