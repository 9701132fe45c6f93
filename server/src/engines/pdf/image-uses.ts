import { PDFDict, PDFName, PDFRawStream, PDFRef, type PDFObject } from '@cantoo/pdf-lib';
import { identity, findDrawings, multiply, type Matrix } from './content.ts';
import type { PdfFile } from './document.ts';
import { arrayEntry, dictEntry, nameEntry, numberEntry, numbersOf, rawEntry, resolve } from './objects.ts';
import { decodeStream, pageContent } from './streams.ts';

/** How large an image is shown at most, in points. */
export interface ShownSize {
  width: number;
  height: number;
}

/** Forms within forms deeper than this, and more visits, exist only in hostile files. */
const maxFormDepth = 12;
const maxFormVisits = 20_000;

/**
 * The largest size at which each image is drawn on any page. Images that only patterns, letters or annotations show are
 * not in it.
 */
export function shownSizes(file: PdfFile): Map<PDFRef, ShownSize> {
  const sizes = new Map<PDFRef, ShownSize>();
  let visits = 0;
  const visit = (content: Uint8Array | undefined, resources: PDFDict | undefined, matrix: Matrix, depth: number) => {
    const objects = resources && dictEntry(resources, 'XObject');
    if (content === undefined || objects === undefined) return;
    for (const drawing of findDrawings(content, matrix)) {
      const ref = objects.get(PDFName.of(drawing.name));
      const object = resolve(file.context, ref);
      if (!(object instanceof PDFRawStream)) continue;
      if (nameEntry(object.dict, 'Subtype') === 'Image') keepLargest(sizes, ref, drawing.matrix);
      else if (depth < maxFormDepth && visits++ < maxFormVisits) {
        const inner = dictEntry(object.dict, 'Resources') ?? resources;
        visit(decodeStream(object), inner, multiply(formMatrix(object.dict), drawing.matrix), depth + 1);
      }
    }
  };
  for (const ref of new Set(file.pages)) {
    const page = resolve(file.context, ref);
    if (!(page instanceof PDFDict)) continue;
    const unit = numberEntry(page, 'UserUnit') ?? 1;
    visit(pageContent(page), dictEntry(page, 'Resources'), multiply(identity, [unit, 0, 0, unit, 0, 0]), 0);
  }
  return sizes;
}

function formMatrix(dict: PDFDict): Matrix {
  const numbers = numbersOf(dict.context, arrayEntry(dict, 'Matrix'));
  return numbers?.length === 6 ? (numbers as unknown as Matrix) : identity;
}

/** An image fills the unit square, whose sides the matrix stretches. */
function keepLargest(sizes: Map<PDFRef, ShownSize>, ref: PDFObject | undefined, [a, b, c, d]: Matrix): void {
  if (!(ref instanceof PDFRef)) return;
  const [width, height] = [Math.hypot(a, b), Math.hypot(c, d)];
  const known = sizes.get(ref);
  sizes.set(ref, { width: Math.max(width, known?.width ?? 0), height: Math.max(height, known?.height ?? 0) });
}

/** The soft mask of an image, when it has one. */
export function maskOf(dict: PDFDict): { ref: PDFRef; stream: PDFRawStream } | undefined {
  const ref = rawEntry(dict, 'SMask');
  const stream = resolve(dict.context, ref);
  return ref instanceof PDFRef && stream instanceof PDFRawStream ? { ref, stream } : undefined;
}
