import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFHexString, PDFName, PDFString, degrees } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { searchFor, type RedactionPattern } from '../../engines/redaction-patterns.ts';
import { pdfFixture, popplerText, qpdfCheck, qpdfText, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-redactor.ts';

/** The secret in the text, a title, a field, a note, a link, an attachment and as an unused object. */
async function leaky(directory: string, rotation = 0): Promise<string> {
  const document = await PDFDocument.create();
  document.setTitle('About Wonderland');
  document.setKeywords(['Wonderland']);
  const page = document.addPage([300, 200]);
  page.setRotation(degrees(rotation));
  page.drawText('Alice went to Wonderland today.', { x: 20, y: 150, size: 14 });
  page.drawText('Write to a.liddell@example.com', { x: 20, y: 120, size: 12 });
  const other = document.addPage([300, 200]);
  other.drawText('An innocent page.', { x: 20, y: 150, size: 14 });
  const third = document.addPage([300, 200]);
  const field = document.getForm().createTextField('where');
  field.setText('in Wonderland');
  field.addToPage(third, { x: 20, y: 100, width: 150, height: 20 });
  const { context } = document;
  const link = {
    Type: 'Annot',
    Subtype: 'Link',
    Rect: [10, 10, 50, 30],
    A: { S: 'URI', URI: PDFString.of('https://example.com/Wonderland') },
  };
  const note = {
    Type: 'Annot',
    Subtype: 'Text',
    Rect: [60, 10, 80, 30],
    Contents: PDFHexString.fromText('Wonderland?'),
  };
  other.node.set(
    PDFName.of('Annots'),
    context.obj([context.register(context.obj(link)), context.register(context.obj(note))]),
  );
  await document.attach(Buffer.from('Wonderland inside'), 'Wonderland.txt');
  const path = join(directory, 'leaky.pdf');
  await writeFile(path, await document.save());
  return path;
}

const terms = (...words: string[]) => ({ terms: JSON.stringify(words) });

describe('pdf-redactor', { timeout: 60_000 }, () => {
  test.each([0, 90])('a word is gone from everywhere, the rest stays readable, turned by %d', (rotation) =>
    withTemporaryDirectory(async (directory) => {
      const source = await leaky(directory, rotation);
      await using run = await runTool(tool, [source], { ...terms('wonderland'), color: '#f00', dpi: '72' });
      const path = run.outputs[0]?.path ?? '';
      expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
      const text = popplerText(path);
      // Text that lies on its side is not laid over the picture again.
      expect(text[0]?.replaceAll(/\s+/g, ' ')).toContain(rotation === 0 ? 'Alice went to' : '');
      expect(text[1]).toBe('An innocent page.');
      expect(`${text.join(' ')} ${qpdfText(path)}`).not.toMatch(/wonderland/i);
      expect(qpdfText(path)).not.toMatch(Buffer.from('onder', 'utf16le').swap16().toString('hex'));
      expect(qpdfText(path)).not.toContain('EmbeddedFile');
      const [page] = await renderAll(path);
      const [x, y, width] = rotation === 0 ? [140, 45, 300] : [155, 140, 200];
      expect([...(page?.subarray((y * width + x) * 3, (y * width + x) * 3 + 3) ?? [])]).toEqual([255, 0, 0]);
    }),
  );

  test('patterns, and a regular expression that never ends', () =>
    withTemporaryDirectory(async (directory) => {
      const source = await leaky(directory);
      await using run = await runTool(tool, [source], { patterns: 'email,phone' });
      const text = popplerText(run.outputs[0]?.path ?? '').join(' ');
      expect(text).toContain('Wonderland');
      expect(text).not.toContain('liddell');
      await expect(runTool(tool, [source], { regex: '((\\w+\\s?)+\\s?)+$x' })).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('too long') as string,
      });
    }));

  test('what has nothing to redact, and settings that say nothing, are refused', async () => {
    const plain = pdfFixture('three-pages');
    const nothing = { code: 'invalid_input', message: expect.stringContaining('Nothing to redact') as string };
    await expect(runTool(tool, [plain], terms('xyzzy'))).rejects.toMatchObject(nothing);
    await expect(runTool(tool, [pdfFixture('scanned')], terms('xyzzy'))).rejects.toMatchObject(nothing);
    await expect(runTool(tool, [plain])).rejects.toThrow(/must say what to remove/);
    await expect(runTool(tool, [plain], { regex: '(' })).rejects.toThrow(/valid regular expression/);
    await expect(runTool(tool, [plain], terms(''))).rejects.toThrow(/list of 1/);
    await expect(runTool(tool, [pdfFixture('locked')], terms('a'))).rejects.toMatchObject({
      code: 'password_required',
    });
  });

  test.each<[RedactionPattern, string, string[]]>([
    ['email', 'to a.b+c@mail.example.co.uk.', ['a.b+c@mail.example.co.uk']],
    ['phone', '+43 1 234 56-78, (555) 123-4567, 2024-01-02, 12 000 000', ['+43 1 234 56-78', '(555) 123-4567']],
    ['iban', 'IBAN DE89 3704 0044 0532 0130 00 AND DE00 3704 0044 0532 0130 00', ['DE89 3704 0044 0532 0130 00']],
    ['card', '4111 1111 1111 1111 or 4111 1111 1111 1112', ['4111 1111 1111 1111']],
    ['ssn', '123-45-6789, 000-12-3456', ['123-45-6789']],
    ['ip', '10.0.0.1, 300.1.1.1, 2001:db8::1, 12:30', ['10.0.0.1', '2001:db8::1']],
    [
      'date',
      '2024-01-02, 3.4.2024, 5 May 2024, March 6, 2024, 1.2',
      ['2024-01-02', '3.4.2024', '5 May 2024', 'March 6, 2024'],
    ],
  ])('the pattern %s', (pattern, text, found) => {
    const search = searchFor({ terms: [], patterns: [pattern], regex: undefined, caseSensitive: false });
    expect(search(text).map(({ start, end }) => text.slice(start, end))).toEqual(found);
  });
});
