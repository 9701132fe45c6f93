import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFHexString, PDFName } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-attachment-extractor.ts';

/** Attached to the whole: two of one name, one empty, one whose name is a path. On the page: one, and one without a name. */
async function withAttachments(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  const page = document.addPage([200, 200]);
  await document.attach(Buffer.from('a,b\n1,2\n'), 'Zahlen ü.csv', { mimeType: 'text/csv' });
  await document.attach(Buffer.from('path'), '..\\..\\etc/passwd.txt');
  await document.attach(Buffer.alloc(0), 'empty.txt');
  const { context } = document;
  const attached = (name: string | undefined, data: string) => {
    const stream = context.register(context.flateStream(data, { Type: 'EmbeddedFile' }));
    const names = name === undefined ? {} : { F: PDFHexString.fromText(name), UF: PDFHexString.fromText(name) };
    const FS = context.register(context.obj({ Type: 'Filespec', ...names, EF: { F: stream } }));
    return context.obj({ Type: 'Annot', Subtype: 'FileAttachment', Rect: [10, 10, 30, 30], FS });
  };
  const annotations = context.obj([attached('passwd.txt', 'on the page'), attached(undefined, 'nameless')]);
  page.node.set(PDFName.of('Annots'), annotations);
  const path = join(directory, 'attached.pdf');
  await writeFile(path, await document.save());
  return path;
}

describe('pdf-attachment-extractor', { timeout: 60_000 }, () => {
  test('files of the whole and of the pages, under clean names', () =>
    withTemporaryDirectory(async (directory) => {
      await using run = await runTool(tool, [await withAttachments(directory)]);
      const contents = await Promise.all(
        run.outputs.map(async ({ filename, path }) => [filename, await readFile(path, 'utf8')]),
      );
      expect(Object.fromEntries(contents)).toEqual({
        'Zahlen ü.csv': 'a,b\n1,2\n',
        'passwd.txt': 'path',
        'passwd-1.txt': 'on the page',
        'attachment-5': 'nameless',
      });
    }));

  test('a file without any, and one with a password', async () => {
    await expect(runTool(tool, [pdfFixture('form')])).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'form.pdf has no attachments.',
    });
    await expect(runTool(tool, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
  });
});
