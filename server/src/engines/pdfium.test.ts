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
