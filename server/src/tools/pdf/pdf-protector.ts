import { randomBytes } from 'node:crypto';
import { pdfLib } from '../../engines/pdf-lib.ts';
import {
  countPages,
  encrypt,
  qpdfProgram,
  readableInput,
  readEncryption,
  type QpdfInput,
} from '../../engines/qpdf-program.ts';
import { qpdf } from '../../engines/qpdf.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, text, type Values } from '../settings.ts';

const settings = {
  user_password: text({
    describe: 'The password that opens the file: 1 to 127 bytes; for aes128 at most 32 Latin letters and signs.',
    secret: true,
    min: 1,
    max: 127,
    maxBytes: 127,
    required: true,
  }),
  owner_password: text({
    describe: 'The password that gives every right; without it a random one, which nobody knows.',
    secret: true,
    max: 127,
    maxBytes: 127,
  }),
  allow_print: choice({
    describe: 'What printing the user password allows: none, low resolution, or full.',
    of: ['none', 'low', 'full'],
    default: 'full',
  }),
  allow_copy: flag({ describe: 'Allow copying text and pictures.', default: false }),
  allow_modify: flag({ describe: 'Allow changes of the content and the pages.', default: false }),
  allow_annotate: flag({ describe: 'Allow comments and filling in forms.', default: false }),
  cipher: choice({
    describe: 'The encryption: aes256, or aes128 for readers from before 2008.',
    of: ['aes256', 'aes128'],
    default: 'aes256',
  }),
  password: text({ describe: 'The password that files have now.', secret: true, max: 127 }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'pdf-protector',
  name: 'PDF Protector',
  category: 'pdf',
  description: 'Encrypts a PDF with a password and says what may be done with it.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [qpdfProgram, pdfLib, qpdf],
  settings,
  check: checkPasswords,
  run: ({ inputs, settings: values, output, progress, scratch, signal }) =>
    eachInput({ inputs, signal, progress }, async ({ path, filename, stem }) => {
      const input = await readableInput({ path, filename, scratch, signal, password: values.password });
      const pages = await countPages(input);
      const written = output(`${stem}.pdf`);
      await encrypt(input, written, {
        userPassword: values.user_password,
        ownerPassword: values.owner_password ?? randomBytes(24).toString('base64url'),
        cipher: values.cipher,
        print: values.allow_print,
        copy: values.allow_copy,
        modify: values.allow_modify,
        annotate: values.allow_annotate,
      });
      await verify({ ...input, path: written, password: values.user_password }, pages, values.cipher);
    }),
});

function checkPasswords({ user_password, owner_password, cipher }: Settings): FieldErrors {
  const errors: FieldErrors = {};
  if (user_password === owner_password) {
    errors['owner_password'] = ['must differ from user_password, or whoever opens the file has every right'];
  }
  if (cipher === 'aes256') return errors;
  for (const [name, value = ''] of Object.entries({ user_password, owner_password })) {
    // What the standard's own encoding, cut at 32 bytes, can hold; more would be dropped in silence.
    if (!/^[\x20-\x7e\xa1-\xac\xae-\xff]{0,32}$/.test(value)) {
      errors[name] = ['must be at most 32 Latin letters, digits and signs for aes128'];
    }
  }
  return errors;
}

/** What was promised: it opens with the password, whole, and not without. */
async function verify(written: QpdfInput, pages: number, cipher: Settings['cipher']): Promise<void> {
  const isWhole = (await countPages(written)) === pages;
  const encryption = await readEncryption(written);
  const isLocked = await readEncryption({ ...written, password: undefined }).then(
    () => false,
    (error: unknown) => error instanceof Failure && error.code === 'password_required',
  );
  if (isWhole && isLocked && encryption?.cipher === { aes256: 'AES-256', aes128: 'AES-128' }[cipher]) return;
  const message = `${written.filename} could not be encrypted.`;
  throw new Failure('engine_failed', message, { file: written.filename, log: JSON.stringify(encryption) });
}
