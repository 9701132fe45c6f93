import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFName, PDFString } from '@cantoo/pdf-lib';
import { expect, test } from 'vitest';
import { pdfFixture } from '../../test/pdf-checks.ts';
import { withTemporaryDirectory } from '../../test/temporary.ts';
import { pdfLib } from './pdf-lib.ts';
import { pdfium, readPdf } from './pdfium.ts';
import { qpdf } from './qpdf.ts';

test('engines know their version', async () => {
  for (const engine of [pdfium, pdfLib, qpdf]) expect(await engine.version()).toMatch(/^\d+\.\d+\.\d+$/);
});

test('qpdf leaves the exit code of this process alone', async () => {
  const before = process.exitCode;
  await qpdf.version();
  expect(process.exitCode).toBe(before);
});

test('characters stand where the page shows them', async () => {
  await withTemporaryDirectory(async (scratch) => {
    await readPdf({ path: pdfFixture('columns'), filename: 'a.pdf', scratch }, async (reader) => {
      const [first] = reader.characters(0);
      expect(first).toMatchObject({ text: 'A', left: 72, isGenerated: false, angle: 0 });
      expect((first?.bottom ?? 0) - (first?.top ?? 0)).toBeGreaterThan(10);
    });
  });
});

test('what is filled in and noted on a page is its text, at its place, and its links stay', async () => {
  await withTemporaryDirectory(async (scratch) => {
    const path = join(scratch, 'form.pdf');
    const document = await PDFDocument.create();
    const { context } = document;
    const page = document.addPage([300, 200]);
    page.drawText('Name:', { x: 20, y: 100, size: 12 });
    const field = document.getForm().createTextField('name');
    field.addToPage(page, { x: 80, y: 95, width: 120, height: 20 });
    field.setText('Alice');
    const note = context.stream('BT /F 12 Tf 2 2 Td (Paid) Tj ET', {
      Type: 'XObject',
      Subtype: 'Form',
      BBox: [0, 0, 80, 16],
      Resources: { Font: { F: { Type: 'Font', Subtype: 'Type1', BaseFont: 'Helvetica' } } },
    });
    const annotations = [
      { Subtype: 'FreeText', Rect: [20, 20, 100, 36], AP: { N: context.register(note) } },
      { Subtype: 'Link', Rect: [20, 150, 60, 160], A: { S: 'URI', URI: PDFString.of('https://example.com/') } },
    ];
    for (const annotation of annotations) page.node.addAnnot(context.register(context.obj(annotation)));
    // A page may inherit its size.
    const tree = document.catalog.Pages();
    tree.set(PDFName.of('MediaBox'), context.obj([0, 0, 300, 200]));
    page.node.delete(PDFName.of('MediaBox'));
    await writeFile(path, await document.save());
    await readPdf({ path, filename: 'form.pdf', scratch }, async (reader) => {
      const { characters, links, width, height } = reader.content(0);
      expect([width, height]).toEqual([300, 200]);
      expect(links).toMatchObject([{ left: 20, address: 'https://example.com/' }]);
      expect(characters.find(({ text }) => text === 'A')?.left).toBeCloseTo(80, -1);
      expect(reader.text(0).split(/\s+/)).toEqual(expect.arrayContaining(['Name:', 'Alice', 'Paid']));
      expect(reader.pageSize(0)).toEqual({ width: 300, height: 200 });
    });
  });
});

const hasCjkFonts = existsSync('/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc');

test.skipIf(!hasCjkFonts).each(['90ms-RKSJ-H', 'GBK-EUC-H'])(
  'letters of a font that is not inside show: %s',
  async (map) => {
    await withTemporaryDirectory(async (scratch) => {
      const path = join(scratch, 'cjk.pdf');
      const document = await PDFDocument.create();
      const { context } = document;
      const page = document.addPage([200, 60]);
      const ordering = map.startsWith('GBK') ? 'GB1' : 'Japan1';
      const system = { Registry: PDFString.of('Adobe'), Ordering: PDFString.of(ordering), Supplement: 2 };
      const descriptor = { Type: 'FontDescriptor', FontName: 'Mincho', Flags: 4, FontBBox: [0, -200, 1000, 900] };
      const descendant = {
        Type: 'Font',
        Subtype: 'CIDFontType0',
        BaseFont: 'Mincho',
        CIDSystemInfo: system,
        FontDescriptor: context.register(context.obj(descriptor)),
      };
      const font = { Type: 'Font', Subtype: 'Type0', BaseFont: 'Mincho', Encoding: map, DescendantFonts: [descendant] };
      page.node.set(PDFName.of('Resources'), context.obj({ Font: { F: font } }));
      // U+65E5, the sun, in both codings.
      const code = map.startsWith('GBK') ? 'C8D5' : '93FA';
      page.node.set(PDFName.of('Contents'), context.register(context.stream(`BT /F 40 Tf 20 10 Td <${code}> Tj ET`)));
      await writeFile(path, await document.save());
      await readPdf({ path, filename: 'cjk.pdf', scratch }, async (reader) => {
        const { pixels } = reader.render(0, { dpi: 72, transparent: false });
        expect(pixels.filter((value) => value < 100).length).toBeGreaterThan(200);
      });
    });
  },
);
