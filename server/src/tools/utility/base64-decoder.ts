import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeBase64 } from '../../engines/base64.ts';
import { detectFileKind, fileTypeLibrary } from '../../engines/file-kind.ts';
import { node } from '../../engines/node.ts';
import { isTextFile } from '../../lib/text-encoding.ts';
import { defineTool, type InputFile } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { filename } from '../settings.ts';

export default defineTool({
  slug: 'base64-decoder',
  name: 'Base64 Decoder',
  category: 'utility',
  description: 'Turns Base64 text, a data URI or a PEM block back into the file it holds.',
  accepts: ['txt'],
  produces: 'any',
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [node, fileTypeLibrary],
  settings: {
    filename: filename({ describe: 'The name of the file, with its extension; without it the content decides.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const decoded = join(context.scratch, 'decoded');
      await decodeBase64(input, decoded, context.signal);
      await rename(decoded, context.output(context.settings.filename ?? (await nameOf(input, decoded))));
    }),
});

/** The encoder's `photo.png.txt` becomes `photo.png` again; else the content gives the extension. */
async function nameOf({ stem }: InputFile, path: string): Promise<string> {
  const kind = await detectFileKind(path);
  const extension = kind?.extension ?? ((await isTextFile(path)) ? 'txt' : 'bin');
  const hasOne = kind === undefined ? /\.[A-Za-z0-9]{1,5}$/.test(stem) : stem.toLowerCase().endsWith(`.${extension}`);
  return hasOne ? stem : `${stem}.${extension}`;
}
