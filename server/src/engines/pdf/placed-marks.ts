import type { PDFContext } from '@cantoo/pdf-lib';
import { Failure } from '../../lib/failure.ts';
import type { Matrix } from './content.ts';
import { createCopier } from './copy.ts';
import type { PdfFile } from './document.ts';
import { operands, pageFrame, transformed, type Rectangle } from './page-frame.ts';
import { drawnMark, fadedMark, pageMark, stampPage, textMark, type Mark } from './stamp.ts';
import { openTypeface, type Typeface } from './typeface.ts';

/** Where on a page: words for the edges, none for the middle. */
export type Place =
  | `${'top' | 'bottom' | ''}${'-' | ''}${'left' | 'right' | ''}`
  | 'center'
  | `${'top' | 'bottom'}-center`;

export interface WatermarkOptions {
  /** Text of one or more lines, or the first page of another file. */
  mark:
    | { text: string; fontSize: number; color: string }
    | { file: PdfFile; /** Its width as a part of the page's. */ scale: number };
  position: Place | 'tile';
  /** 0 to 1. */
  opacity: number;
  /** Degrees anticlockwise. */
  rotation: number;
  /** Points between the mark and the edges of the page, and around every mark of a tiling. */
  margin: number;
  layer: 'over' | 'under';
  pages: readonly number[];
}

/**
 * Draws a mark on pages, upright for the reader. One that does not fit on a page is made smaller there.
 *
 * @throws Failure `invalid_input` for text that the font cannot draw.
 */
export async function addWatermark(file: PdfFile, options: WatermarkOptions): Promise<void> {
  const { context } = file;
  const typeface = 'text' in options.mark ? await openTypeface(context) : undefined;
  const opacity = 'color' in options.mark ? options.opacity * alphaOf(options.mark.color) : options.opacity;
  const mark = fadedMark(context, openMark(context, options.mark, typeface), opacity);
  const tilings = new Map<string, Mark>();
  for (const page of new Set(options.pages)) {
    const { width, height } = pageFrame(file, page);
    const natural = 'scale' in options.mark ? (width * options.mark.scale) / mark.width : 1;
    if (options.position === 'tile') {
      const key = `${width} ${height}`;
      const tiling = tilings.get(key) ?? tiled(context, mark, { width, height }, { ...options, scale: natural });
      tilings.set(key, tiling);
      stampPage(file, page, { mark: tiling, place: [1, 0, 0, 1, 0, 0], layer: options.layer });
    } else {
      const place = placed(mark, { width, height }, { ...options, position: options.position, scale: natural });
      stampPage(file, page, { mark, place, layer: options.layer });
    }
  }
  typeface?.finish();
}

function openMark(context: PDFContext, mark: WatermarkOptions['mark'], typeface: Typeface | undefined): Mark {
  if ('file' in mark) return pageMark(0, createCopier(mark.file, context, new Map(), new Map()));
  const lines = linesOf(mark.text);
  if (typeface === undefined) throw new TypeError('text needs a typeface');
  refuseMissing(typeface, lines.join(''));
  return textMark(context, typeface, { lines, size: mark.fontSize, color: channels(mark.color) });
}

/** Control characters have no shape. */
function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => line.replaceAll('\t', '    ').replaceAll(/\p{Cc}/gu, ''));
}

/** @throws Failure `invalid_input`: an empty box in place of a letter would be a wrong result. */
function refuseMissing(typeface: Typeface, text: string): void {
  const missing = typeface.missing(text);
  if (missing.length === 0) return;
  const shown = missing.slice(0, 10).join(' ');
  throw new Failure('invalid_input', `The text has signs that the font here (DejaVu Sans) cannot draw: ${shown}`);
}

/** The last two digits of `#rrggbbaa`, from 0 to 1. */
function alphaOf(color: string): number {
  return color.length === 9 ? Number.parseInt(color.slice(7), 16) / 255 : 1;
}

/** Red, green and blue of `#rgb`, `#rrggbb` or `#rrggbbaa`, from 0 to 1. */
function channels(color: string): number[] {
  const digits = color.slice(1);
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
  return [0, 2, 4].map((start) => Number.parseInt(long.slice(start, start + 2), 16) / 255);
}

interface Size {
  width: number;
  height: number;
}

function turned({ width, height }: Size, scale: number, degrees: number): { matrix: Matrix; box: Rectangle } {
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle) * scale, Math.sin(angle) * scale];
  const matrix: Matrix = [cos, sin, -sin, cos, 0, 0];
  return { matrix, box: transformed({ left: 0, bottom: 0, right: width, top: height }, matrix) };
}

interface Placing {
  position: Place;
  rotation: number;
  margin: number;
  scale: number;
}

/** From the mark to its place on a page of this size; smaller where it would not fit between the margins. */
function placed(mark: Size, page: Size, { position, rotation, margin, scale }: Placing): Matrix {
  const space = Math.min(margin, Math.min(page.width, page.height) / 4);
  const whole = turned(mark, scale, rotation).box;
  const room = { width: page.width - 2 * space, height: page.height - 2 * space };
  const fit = Math.min(1, room.width / (whole.right - whole.left), room.height / (whole.top - whole.bottom));
  const { matrix, box } = turned(mark, scale * fit, rotation);
  const along = (atStart: boolean, atEnd: boolean, length: number, size: number) => {
    if (atStart) return space;
    return atEnd ? length - space - size : (length - size) / 2;
  };
  const x = along(position.includes('left'), position.includes('right'), page.width, box.right - box.left);
  const y = along(position.includes('bottom'), position.includes('top'), page.height, box.top - box.bottom);
  return [matrix[0], matrix[1], matrix[2], matrix[3], x - box.left, y - box.bottom];
}

/** More marks than this on one page are no longer a text but a shade. */
const maxTiles = 1000;

/** One mark of the size of a page, with the mark all over it. */
function tiled(
  context: PDFContext,
  mark: Mark,
  page: Size,
  { rotation, margin, scale }: Omit<Placing, 'position'>,
): Mark {
  const { matrix, box } = turned(mark, scale, rotation);
  let [stepX, stepY] = [box.right - box.left + 2 * margin, box.top - box.bottom + 2 * margin];
  const tiles = (page.width / stepX) * (page.height / stepY);
  if (tiles > maxTiles)
    [stepX, stepY] = [stepX, stepY].map((step) => step * Math.sqrt(tiles / maxTiles)) as [number, number];
  const drawings: string[] = [];
  for (let y = margin; y < page.height; y += stepY) {
    for (let x = margin; x < page.width; x += stepX) {
      const place = operands(...matrix.slice(0, 4), x - box.left, y - box.bottom);
      drawings.push(`q ${place} cm /M Do Q`);
    }
  }
  return drawnMark(context, page, drawings.join('\n'), { XObject: { M: mark.form } });
}

export interface PageNumberOptions {
  /** With `{n}` for the number and `{total}` for the last one. */
  format: string;
  /** The number of the first of the pages. */
  start: number;
  position: Place;
  fontSize: number;
  color: string;
  /** Points to the edges of the page. */
  margin: number;
  pages: readonly number[];
}

/**
 * Writes a number on each of the pages, in their order, upright for the reader.
 *
 * @throws Failure `invalid_input` for text that the font cannot draw.
 */
export async function addPageNumbers(file: PdfFile, options: PageNumberOptions): Promise<void> {
  const { context } = file;
  const typeface = await openTypeface(context);
  refuseMissing(typeface, linesOf(options.format).join(''));
  const pages = [...new Set(options.pages)].toSorted((a, b) => a - b);
  const total = options.start + pages.length - 1;
  const [color, alpha] = [channels(options.color), alphaOf(options.color)];
  for (const [index, page] of pages.entries()) {
    const lines = linesOf(
      options.format.replaceAll('{n}', String(options.start + index)).replaceAll('{total}', String(total)),
    );
    const mark = fadedMark(context, textMark(context, typeface, { lines, size: options.fontSize, color }), alpha);
    const place = placed(mark, pageFrame(file, page), { ...options, rotation: 0, scale: 1 });
    stampPage(file, page, { mark, place, layer: 'over' });
  }
  typeface.finish();
}
