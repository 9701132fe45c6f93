import { PDFDict, PDFName, PDFNumber, type PDFContext, type PDFObject } from '@cantoo/pdf-lib';
import type { PdfFile } from './document.ts';
import { dictEntry, entry, isText, nameEntry, numberEntry, resolve, treeLeaves } from './objects.ts';

/** What a viewer calls a page: `iv`, `A-3`. */
export interface PageLabel {
  number: number;
  /** `D`, `r`, `R`, `a`, `A`; none for a prefix alone. */
  style?: string | undefined;
  prefix?: PDFObject | undefined;
  /** False when the file names no labels and this is only the page's number. */
  isDeclared: boolean;
}

/** The label of every page; undeclared decimal numbers when the file has none. */
export function pageLabels(file: PdfFile): PageLabel[] {
  const starts = new Map<number, PDFDict>();
  for (const [key, value] of treeLeaves(dictEntry(file.catalog, 'PageLabels'), 'Nums')) {
    const range = resolve(file.context, value);
    if (key instanceof PDFNumber && range instanceof PDFDict) starts.set(key.asNumber(), range);
  }
  let current: { from: number; first: number; style?: string | undefined; prefix?: PDFObject | undefined } | undefined;
  return file.pages.map((_, index) => {
    const range = starts.get(index);
    if (range !== undefined) {
      const prefix = entry(range, 'P');
      current = {
        from: index,
        first: numberEntry(range, 'St') ?? 1,
        style: nameEntry(range, 'S'),
        prefix: isText(prefix) ? prefix : undefined,
      };
    }
    if (current === undefined) return { number: index + 1, style: 'D', isDeclared: false };
    const { from, first, style, prefix } = current;
    return { number: first + index - from, style, prefix, isDeclared: true };
  });
}

/** Writes the labels when any was declared; pages of files without labels keep the number they had in their file. */
export function writePageLabels(target: PDFContext, catalog: PDFDict, labels: readonly PageLabel[]): void {
  if (!labels.some((label) => label.isDeclared)) return;
  const nums: (number | PDFDict)[] = [];
  labels.forEach((label, index) => {
    const previous = labels[index - 1];
    if (previous !== undefined && continues(previous, label)) return;
    nums.push(index, target.obj({ S: label.style, P: label.prefix, St: label.number }));
  });
  catalog.set(PDFName.of('PageLabels'), target.register(target.obj({ Nums: nums })));
}

function continues(previous: PageLabel, label: PageLabel): boolean {
  return (
    previous.style === label.style &&
    previous.prefix?.toString() === label.prefix?.toString() &&
    previous.number + 1 === label.number
  );
}
