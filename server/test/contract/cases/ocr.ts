import { join } from 'node:path';
import { expect } from 'vitest';
import { pdfFixture } from '../../pdf-checks.ts';
import type { Cases } from '../tool-case.ts';

/** The samples show a landscape without a word. */
const words = join(import.meta.dirname, '../../fixtures/words.png');

export const ocrCases: Cases = {
  'image-text-extractor': {
    files: () => [words],
    values: { language: ['eng'] },
    fails: { 'psm=0': 'it only tells which way is up, and takes more text for it', 'psm=2': 'it finds no text' },
    expect: ([text]) => expect(text?.text).toContain('old mill'),
  },
  'pdf-ocr-processor': {
    files: (type) => [type === 'pdf' ? pdfFixture('words') : words],
    values: { language: ['eng'], password: [] },
    expect: ([document]) => expect(document?.pages).toBe(1),
  },
};
