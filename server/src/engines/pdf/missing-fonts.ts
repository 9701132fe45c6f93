import { PDFDict, type PDFObject } from '@cantoo/pdf-lib';
import { shownBy } from './damaged-pages.ts';
import type { PdfFile } from './document.ts';
import { nameEntry, resolve } from './objects.ts';
import { isEmbedded } from './report.ts';

/** The composite fonts of pages, 0-based, that are named and not in the file: most of them Chinese, Japanese or Korean. */
export function missingCompositeFonts(file: PdfFile, pages: Iterable<number>): string[] {
  const names = new Set<string>();
  const seen = new Set<PDFObject>();
  for (const page of pages) {
    const dict = resolve(file.context, file.pages[page]);
    if (!(dict instanceof PDFDict)) continue;
    for (const { object, isNew } of shownBy(dict, seen)) {
      if (!isNew || !(object instanceof PDFDict) || nameEntry(object, 'Subtype') !== 'Type0') continue;
      if (!isEmbedded(object)) names.add(nameEntry(object, 'BaseFont') ?? 'unnamed');
    }
  }
  return [...names];
}
