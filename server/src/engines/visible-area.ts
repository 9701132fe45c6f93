import type { PdfReader, RenderedPage } from './pdfium.ts';

/** Fine enough that a hairline or a full stop leaves a trace in some pixel. */
const dpi = 100;
/** Larger pages are looked at more coarsely: what is on them is larger too. */
const maxPixels = 6_000_000;

/**
 * Tells whether a page shows nothing at all. Every pixel has to be white: a faint mark or the noise of a scan is
 * something, because a page taken for blank is lost.
 */
export function isBlankPage(reader: PdfReader, page: number): boolean {
  return render(reader, page).pixels.every((value) => value === 255);
}

/**
 * A part of a page as it is shown: each from 0 to 1, `top` and `bottom` counted upwards. A class, because two literals
 * that were made while the machine code of their function was being replaced came out with one another's numbers, once
 * in fifty cold starts (Node 24.21).
 */
export class VisibleArea {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;

  constructor(left: number, bottom: number, right: number, top: number) {
    this.left = left;
    this.bottom = bottom;
    this.right = right;
    this.top = top;
  }
}

/** Lighter than this is paper: scans and compressed pictures are never quite white. */
const paper = 250;

/** The smallest rectangle around everything that shows on a page; undefined for a page without anything. */
export function visibleArea(reader: PdfReader, page: number): VisibleArea | undefined {
  const { width, height, channels, pixels } = render(reader, page);
  let [left, right, first, last] = [width, -1, height, -1];
  for (let row = 0; row < height; row++) {
    const start = row * width * channels;
    const ink = (column: number) => {
      const at = start + column * channels;
      return Math.min(pixels[at] ?? 255, pixels[at + 1] ?? 255, pixels[at + 2] ?? 255) < paper;
    };
    let begin = 0;
    while (begin < width && !ink(begin)) begin += 1;
    if (begin === width) continue;
    let end = width - 1;
    while (!ink(end)) end -= 1;
    [left, right] = [Math.min(left, begin), Math.max(right, end)];
    [first, last] = [Math.min(first, row), row];
  }
  if (last < 0) return undefined;
  return new VisibleArea(left / width, 1 - (last + 1) / height, (right + 1) / width, 1 - first / height);
}

function render(reader: PdfReader, page: number): RenderedPage {
  const { width, height } = reader.pageSize(page);
  const coarse = Math.sqrt(maxPixels / Math.max(1, (width * height) / 72 ** 2));
  return reader.render(page, { dpi: Math.min(dpi, coarse), transparent: false });
}
