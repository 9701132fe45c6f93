import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFName, PDFString } from '@cantoo/pdf-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { stopLibreOffice } from '../../engines/libreoffice.ts';
import { difference, pdfFixture, popplerText, qpdfCheck, qpdfText, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import grayscaler from './pdf-grayscaler.ts';
import tool from './pdfa-converter.ts';

const letter = join(import.meta.dirname, '../../../test/fixtures/word/letter.odt');
afterAll(stopLibreOffice);

const fonts = (path: string) => execFileSync('pdffonts', [path], { encoding: 'utf8' }).split('\n').slice(2, -1);

describe('pdfa-converter', { timeout: 120_000 }, () => {
  test.each(['1b', '2u'])('a PDF becomes PDF/A-%s and looks the same', async (level) => {
    const source = pdfFixture('unicode');
    await using run = await runTool(tool, [source], { level, allow_downgrade: level === '2u' ? 'true' : 'false' });
    const path = run.outputs[0]?.path ?? '';
    expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
    const text = qpdfText(path);
    expect(text).toMatch(new RegExp(`pdfaid:part(='|>)${level[0]}`));
    expect(text).toMatch(/\/GTS_PDFA1/);
    for (const line of fonts(path)) expect(line).toMatch(/\s(yes) (yes|no) +(yes|no) +\d+ +\d+$/);
    expect(popplerText(path)).toHaveLength(popplerText(source).length);
    const [before, after] = await Promise.all([renderAll(source), renderAll(path)]);
    for (const [index, page] of before.entries()) expect(difference(page, after[index])).toBeLessThan(4);
  });

  test('LibreOffice writes office documents itself', async () => {
    await using run = await runTool(tool, [letter], { level: '3b' });
    const path = run.outputs[0]?.path ?? '';
    expect(qpdfText(path)).toMatch(/pdfaid:part(='|>)3/);
    for (const line of fonts(path)) expect(line).toMatch(/\s(yes) (yes|no) +(yes|no) +\d+ +\d+$/);
  });

  test('what would be lost is refused when nothing may be', async () => {
    const strict = { allow_downgrade: 'false' };
    const refused = { code: 'invalid_input', message: expect.stringContaining('form fields') as string };
    await expect(runTool(tool, [pdfFixture('form')], strict)).rejects.toMatchObject(refused);
    await expect(runTool(tool, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
    await expect(runTool(tool, [pdfFixture('zero-pages')])).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('attached files are left out, as is said', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'attached.pdf');
      const document = await PDFDocument.load(await readFile(pdfFixture('three-pages')));
      await document.attach(Buffer.from('a,b\n1,2\n'), 'data.csv', { mimeType: 'text/csv' });
      await writeFile(path, await document.save());
      await using run = await runTool(tool, [path], { level: '2b' });
      const made = run.outputs[0]?.path ?? '';
      expect(qpdfText(made)).not.toContain('/EmbeddedFile');
      expect(popplerText(made)).toHaveLength(3);
      const strict = { level: '2b', allow_downgrade: 'false' };
      const refused = { code: 'invalid_input', message: expect.stringContaining('attached files') as string };
      await expect(runTool(tool, [path], strict)).rejects.toMatchObject(refused);
    }));

  test('a file without its Japanese font is refused rather than written in Latin letters', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'japanese.pdf');
      const document = await PDFDocument.create();
      const { context } = document;
      const page = document.addPage([200, 60]);
      const system = { Registry: PDFString.of('Adobe'), Ordering: PDFString.of('Japan1'), Supplement: 2 };
      const descriptor = { Type: 'FontDescriptor', FontName: 'MS-Mincho', Flags: 4, FontBBox: [0, -200, 1000, 900] };
      const descendant = {
        Type: 'Font',
        Subtype: 'CIDFontType2',
        BaseFont: 'MS-Mincho',
        CIDSystemInfo: system,
        FontDescriptor: context.register(context.obj(descriptor)),
      };
      const font = {
        Type: 'Font',
        Subtype: 'Type0',
        BaseFont: 'MS-Mincho',
        Encoding: '90ms-RKSJ-H',
        DescendantFonts: [context.register(context.obj(descendant))],
      };
      page.node.set(PDFName.of('Resources'), context.obj({ Font: { F: font } }));
      page.node.set(PDFName.of('Contents'), context.register(context.stream('BT /F 40 Tf 20 10 Td <93FA> Tj ET')));
      await writeFile(path, await document.save());
      const refused = { code: 'invalid_input', message: expect.stringContaining('MS-Mincho') as string };
      await expect(runTool(tool, [path])).rejects.toMatchObject(refused);
      await expect(runTool(grayscaler, [path])).rejects.toMatchObject(refused);
    }));
});
