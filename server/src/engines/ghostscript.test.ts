import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { expect, test } from 'vitest';
import { runTool } from '../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../test/temporary.ts';
import type { Tool } from '../tools/define.ts';
import pdfCompressor from '../tools/pdf/pdf-compressor.ts';
import pdfGrayscaler from '../tools/pdf/pdf-grayscaler.ts';
import pdfaConverter from '../tools/pdf/pdfa-converter.ts';

/** A page with words, and a picture that only says it is JPEG 2000. */
async function withUnreadablePicture(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  const { context } = document;
  const page = document.addPage([400, 400]);
  page.drawText('Words', { x: 50, y: 350 });
  const dict = { Type: 'XObject', Subtype: 'Image', Width: 8, Height: 8, Filter: 'JPXDecode' };
  page.node.setXObject(PDFName.of('Picture'), context.register(context.stream(Buffer.alloc(500, 'jP'), dict)));
  page.node.addContentStream(context.register(context.stream('q 300 0 0 300 50 20 cm /Picture Do Q')));
  const path = join(directory, 'picture.pdf');
  await writeFile(path, await document.save());
  return path;
}

test.each([
  [pdfGrayscaler, {}],
  [pdfaConverter, {}],
  [pdfCompressor, { grayscale: 'true' }],
] as unknown as [Tool, Record<string, string>][])('a picture that Ghostscript leaves out is told (%#)', (tool, form) =>
  withTemporaryDirectory(async (directory) => {
    await expect(runTool(tool, [await withUnreadablePicture(directory)], form)).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'A picture in picture.pdf is damaged, or coded in a way that cannot be read here.',
    });
  }),
);
