import { afterAll, describe, expect, test } from 'vitest';
import { sample } from '../../test/fixtures/samples.ts';
import { withTemporaryDirectory } from '../../test/temporary.ts';
import { Failure } from '../lib/failure.ts';
import { libreoffice, stopLibreOffice, withDocument } from './libreoffice.ts';

const version = await libreoffice.version();
if (version === undefined) console.warn(`SKIPPED: LibreOffice is missing: ${libreoffice.install}`);

describe.skipIf(version === undefined)('withDocument', { timeout: 120_000 }, () => {
  afterAll(stopLibreOffice);

  /** Opens the document, fails as LibreOffice may for the first `faults` times, and says how often it was opened. */
  async function openings(scratch: string, faults: number): Promise<number> {
    const document = { path: sample('docx'), filename: 'letter.docx', type: 'docx' } as const;
    let opened = 0;
    const failing = withDocument(document, { scratch, signal: new AbortController().signal }, async ({ pageCount }) => {
      opened += 1;
      expect(pageCount).toBeGreaterThan(0);
      if (opened <= faults) throw new Failure('engine_failed', 'LibreOffice could not convert letter.docx.', {});
    });
    await failing.catch((error: unknown) => expect(error).toMatchObject({ code: 'engine_failed' }));
    return opened;
  }

  test('tries once more with a fresh instance when one fails that had opened other documents', () =>
    withTemporaryDirectory(async (scratch) => {
      await stopLibreOffice();
      expect(await openings(scratch, 1), 'fresh').toBe(1);
      expect(await openings(scratch, 0)).toBe(1);
      expect(await openings(scratch, 1), 'used').toBe(2);
      expect(await openings(scratch, 9), 'used, and the document is to blame').toBe(2);
    }));
});
