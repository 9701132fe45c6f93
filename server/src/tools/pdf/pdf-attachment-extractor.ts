import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { attachmentsOf, writeAttachment } from '../../engines/pdf-edit.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { text } from '../settings.ts';
import { openInput } from './edit-pdf.ts';

/** More outputs of one file than this help nobody. */
const maxFiles = 1000;
/** Of all attachments of a run together. */
const maxBytes = 4 * 1024 ** 3;

export default defineTool({
  slug: 'pdf-attachment-extractor',
  name: 'PDF Attachment Extractor',
  category: 'pdf',
  description: 'Takes out the files that are attached to a PDF or to its pages.',
  accepts: ['pdf'],
  produces: 'any',
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run(context) {
    const { output, scratch, signal, log } = context;
    let left = maxBytes;
    await eachInput(context, async (input) => {
      const { filename } = input;
      const attachments = await attachmentsOf(await openInput(input, context));
      if (attachments.length === 0) {
        throw new Failure('invalid_input', `${filename} has no attachments.`, { file: filename });
      }
      if (attachments.length > maxFiles) {
        const message = `${filename} has more than ${maxFiles} attachments.`;
        throw new Failure('resource_limit', message, { file: filename });
      }
      let written = 0;
      for (const [index, attachment] of attachments.entries()) {
        signal.throwIfAborted();
        const path = join(scratch, 'attachment');
        left -= await writeAttachment(attachment, path, { filename, maxBytes: left, signal });
        if ((await stat(path)).size === 0) {
          log(`attachment ${index + 1} is empty: left out`);
          await rm(path);
          continue;
        }
        await rename(path, output(cleanName(attachment.name) || `attachment-${index + 1}`));
        written += 1;
      }
      if (written > 0) return;
      throw new Failure('invalid_input', `The attachments of ${filename} are empty.`, { file: filename });
    });
  },
});

/** The last part of a path of any system, without what a file name must not hold; empty when nothing is left. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  return last
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]+/gu, ' ')
    .trim()
    .replace(/^\.+/, '')
    .slice(-150);
}
