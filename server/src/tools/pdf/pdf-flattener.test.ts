import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFHexString, PDFName, PDFString, StandardFonts, rgb, type PDFRef } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import {
  bookmarks,
  difference,
  formFields,
  pdfFixture,
  popplerText,
  qpdfCheck,
  qpdfText,
  renderAll,
} from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-flattener.ts';

type Form = Record<string, string>;

async function flattened(file: string, form: Form = {}): Promise<{ text: string[]; source: string; pixels: Buffer[] }> {
  await using run = await runTool(tool, [file], form);
  const path = run.outputs[0]?.path ?? '';
  expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
  return { text: popplerText(path), source: qpdfText(path), pixels: await renderAll(path) };
}

/** A form as programs write it that leave the drawing to the reader: values and no appearances. */
async function bareForm(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  const page = document.addPage([400, 300]);
  const { context } = document;
  const field = (entries: Record<string, unknown>, rect: number[]): PDFRef =>
    context.register(
      context.obj({ Type: 'Annot', Subtype: 'Widget', Rect: rect, P: page.ref, F: 4, ...entries } as unknown as Record<
        string,
        string
      >),
    );
  const string = (text: string) => PDFHexString.fromText(text);
  const fields = [
    field(
      { FT: 'Tx', T: string('name'), V: string('Žofie Ω'), DA: PDFString.of('/Helv 14 Tf 1 0 0 rg') },
      [20, 260, 200, 285],
    ),
    field(
      { FT: 'Tx', T: string('long'), Ff: 4096, V: string('many words that need more than one line of it') },
      [20, 180, 150, 250],
    ),
    field({ FT: 'Tx', T: string('comb'), Ff: 1 << 24, MaxLen: 4, V: string('1234') }, [220, 260, 340, 285]),
    field(
      {
        FT: 'Ch',
        T: string('choice'),
        Opt: [[string('x'), string('Shown word')]],
        V: string('x'),
        MK: { BC: [0, 0, 1] },
      },
      [220, 220, 340, 245],
    ),
    field({ FT: 'Btn', T: string('check'), V: 'Yes', AS: 'Yes', MK: { BC: [0] } }, [20, 140, 40, 160]),
    field({ FT: 'Btn', T: string('radio'), Ff: 1 << 15, V: 'One', AS: 'One', MK: { BC: [0] } }, [60, 140, 80, 160]),
    field({ FT: 'Btn', T: string('off'), V: 'Off', AS: 'Off' }, [100, 140, 120, 160]),
    field({ FT: 'Tx', T: string('secret'), F: 2, V: string('hidden value') }, [20, 20, 200, 40]),
  ];
  page.node.set(PDFName.of('Annots'), context.obj(fields));
  document.catalog.set(PDFName.of('AcroForm'), context.obj({ Fields: fields, NeedAppearances: true }));
  const path = join(directory, 'bare.pdf');
  await writeFile(path, await document.save({ updateFieldAppearances: false }));
  return path;
}

/** A highlight with an appearance, a note without one, a link. */
async function commented(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  const page = document.addPage([300, 200]);
  const { context } = document;
  page.drawText('Words', {
    x: 20,
    y: 150,
    size: 20,
    color: rgb(0, 0, 0),
    font: await document.embedFont(StandardFonts.Helvetica),
  });
  const look = context.register(
    context.stream('1 1 0 rg 0 0 10 10 re f', { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 10, 10] }),
  );
  const annotation = (entries: Record<string, unknown>) =>
    context.obj({ Type: 'Annot', ...entries } as unknown as Record<string, string>);
  page.node.set(
    PDFName.of('Annots'),
    context.obj([
      annotation({
        Subtype: 'Highlight',
        Rect: [100, 20, 200, 70],
        QuadPoints: [100, 70, 200, 70, 100, 20, 200, 20],
        AP: { N: look },
      }),
      annotation({ Subtype: 'Caret', Rect: [10, 10, 20, 20], Contents: PDFString.of('no look') }),
      annotation({
        Subtype: 'Link',
        Rect: [20, 150, 80, 170],
        A: { S: 'URI', URI: PDFString.of('https://example.com/') },
      }),
    ]),
  );
  const path = join(directory, 'commented.pdf');
  await writeFile(path, await document.save());
  return path;
}

describe('pdf-flattener', { timeout: 60_000 }, () => {
  test('a form becomes page content and looks the same', async () => {
    await using run = await runTool(tool, [pdfFixture('form')]);
    const path = run.outputs[0]?.path ?? '';
    expect(formFields(path)).toEqual([]);
    expect(popplerText(path).join(' ')).toContain('Second page');
    const [before, after] = await Promise.all([renderAll(pdfFixture('form')), renderAll(path)]);
    for (const [index, page] of before.entries()) expect(difference(page, after[index])).toBeLessThan(0.5);
  });

  test('fields without appearances are drawn from their values', () =>
    withTemporaryDirectory(async (directory) => {
      const { text, source, pixels } = await flattened(await bareForm(directory));
      const words = (text[0] ?? '').replaceAll(/\s+/g, ' ');
      for (const word of ['Žofie Ω', 'Shown word', 'than one line', '1']) expect(words).toContain(word);
      expect(words).not.toContain('hidden value');
      expect(source).not.toContain('/AcroForm');
      const darkAt = (x: number, y: number) => (pixels[0]?.[((300 - y) * 400 + x) * 3] ?? 255) < 128;
      expect(darkAt(28, 145)).toBe(true); // The lowest point of the check mark.
      expect(darkAt(70, 150)).toBe(true); // The middle of the radio button.
      expect(darkAt(110, 150)).toBe(false);
    }));

  test('comments are drawn, links and what has no look stay', () =>
    withTemporaryDirectory(async (directory) => {
      const { source, pixels } = await flattened(await commented(directory));
      expect(source).not.toContain('/Highlight');
      expect(source).toContain('/Caret');
      expect(source).toContain('https://example.com/');
      const at = ((200 - 45) * 300 + 150) * 3;
      expect([...(pixels[0]?.subarray(at, at + 3) ?? [])]).toEqual([255, 255, 0]);
      const forms = await flattened(await commented(directory), { annotations: 'false' });
      expect(forms.source).toContain('/Highlight');
    }));

  test('bookmarks stay; nothing to flatten is no failure', async () => {
    await using run = await runTool(tool, [pdfFixture('outline')]);
    expect(bookmarks(run.outputs[0]?.path ?? '')).toEqual(bookmarks(pdfFixture('outline')));
    await expect(runTool(tool, [pdfFixture('form')], { forms: 'false', annotations: 'false' })).rejects.toThrow(
      /must be true/,
    );
  });
});
