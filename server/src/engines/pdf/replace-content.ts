import { PDFName, type PDFDict, type PDFObject } from '@cantoo/pdf-lib';
import { Failure } from '../../lib/failure.ts';
import { annotationsOf, createCopier, dictOf } from './copy.ts';
import type { PdfFile } from './document.ts';
import { arrayEntry, numbersOf } from './objects.ts';
import { operands, pageDict, pageFrame, setRectangle } from './page-frame.ts';
import { pageMark } from './stamp.ts';

/** What says how a page's content becomes what the reader sees. */
const geometry = ['MediaBox', 'CropBox', 'Rotate', 'UserUnit'].map((key) => PDFName.of(key));

/**
 * Runs `use` while pages are what their readers see of them and nothing else: not turned, cropped or scaled. A program that
 * has a way of its own with these then keeps the place of everything.
 */
export async function withPlainPages<T>(file: PdfFile, pages: readonly number[], use: () => Promise<T>): Promise<T> {
  const original = new Map<PDFDict, [PDFName, PDFObject | undefined][]>();
  for (const page of pages) {
    const dict = pageDict(file, page);
    if (original.has(dict)) continue;
    const { box } = pageFrame(file, page);
    original.set(
      dict,
      geometry.map((key) => [key, dict.get(key)]),
    );
    for (const key of geometry) dict.delete(key);
    setRectangle(dict, 'MediaBox', box);
  }
  try {
    return await use();
  } finally {
    for (const [dict, entries] of original) {
      for (const [key, value] of entries) {
        if (value === undefined) dict.delete(key);
        else dict.set(key, value);
      }
    }
  }
}

/** Entries of a page that described what it showed before. */
const described = ['Group', 'StructParents', 'Thumb', 'PieceInfo'].map((key) => PDFName.of(key));

/**
 * Puts the pages of another file, made by {@link withPlainPages}, in the place of the content of pages.
 *
 * @throws Failure `engine_failed` when the pages are others, or of another size.
 */
export function replaceContent(file: PdfFile, pages: readonly number[], source: PdfFile): void {
  const copier = createCopier(source, file.context, new Map(), new Map());
  for (const [index, page] of pages.entries()) {
    const dict = pageDict(file, page);
    const { box } = pageFrame(file, page);
    const mark = source.pages[index] === undefined ? undefined : pageMark(index, copier);
    const isSame =
      mark !== undefined &&
      Math.abs(mark.width - (box.right - box.left)) < 1 &&
      Math.abs(mark.height - (box.top - box.bottom)) < 1;
    if (!isSame) {
      throw new Failure('engine_failed', `Page ${page + 1} of ${file.filename} was lost.`, { file: file.filename });
    }
    for (const key of described) dict.delete(key);
    const drawing = file.context.stream(`q ${operands(1, 0, 0, 1, box.left, box.bottom)} cm /Page Do Q`);
    dict.set(PDFName.of('Contents'), file.context.register(drawing));
    dict.set(PDFName.of('Resources'), file.context.obj({ XObject: { Page: mark.form } }));
  }
  if (pages.length < file.pages.length) return;
  // Tags name parts of the content that has gone.
  for (const key of ['StructTreeRoot', 'MarkInfo']) file.catalog.delete(PDFName.of(key));
}

/** Makes the colours that annotations have of their own, such as the frames of links, grey. */
export function grayAnnotations(file: PdfFile, pages: readonly number[]): void {
  for (const page of pages) {
    const ref = file.pages[page];
    for (const annotation of ref === undefined ? [] : annotationsOf(file, ref)) {
      const dict = dictOf(file, annotation);
      const color = dict && numbersOf(file.context, arrayEntry(dict, 'C'));
      if (dict === undefined || color === undefined || color.length < 3) continue;
      dict.set(PDFName.of('C'), file.context.obj([luminance(color)]));
    }
  }
}

/** Of RGB or CMYK, from 0 to 1. */
function luminance([first = 0, second = 0, third = 0, black]: readonly number[]): number {
  const [r, g, b] =
    black === undefined ? [first, second, third] : [first, second, third].map((ink) => (1 - ink) * (1 - black));
  return Math.round((0.299 * (r ?? 0) + 0.587 * (g ?? 0) + 0.114 * (b ?? 0)) * 1000) / 1000;
}
