import { PDFDict, PDFName, PDFNumber } from '@cantoo/pdf-lib';
import type { Matrix } from './content.ts';
import { multiply } from './content.ts';
import type { PdfFile } from './document.ts';
import { arrayEntry, numberEntry, numbersOf, resolve } from './objects.ts';

/** A rectangle in a page's own coordinates: units of the page, upwards. */
export interface Rectangle {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

/** How a page is shown to its reader. */
export interface PageFrame {
  /** What of the page is visible, before it is turned. */
  box: Rectangle;
  /** Quarters clockwise. */
  turns: 0 | 1 | 2 | 3;
  /** Points of one unit of the page's coordinates. */
  unit: number;
  /** Points, as shown. */
  width: number;
  height: number;
}

/** Where a page says nothing: what readers assume. */
const letter: Rectangle = { left: 0, bottom: 0, right: 612, top: 792 };

/** The dictionary of a page, 0-based. */
export function pageDict(file: PdfFile, page: number): PDFDict {
  const dict = resolve(file.context, file.pages[page]);
  if (dict instanceof PDFDict) return dict;
  throw new RangeError(`no page ${page}`);
}

export function pageFrame(file: PdfFile, page: number): PageFrame {
  const dict = pageDict(file, page);
  const media = rectangle(dict, 'MediaBox') ?? letter;
  const box = intersection(media, rectangle(dict, 'CropBox') ?? media) ?? media;
  const unit = userUnit(dict);
  const turns = turnsOf(dict);
  const [width, height] = [(box.right - box.left) * unit, (box.top - box.bottom) * unit];
  return turns % 2 === 0 ? { box, turns, unit, width, height } : { box, turns, unit, width: height, height: width };
}

/** Undefined for a box that is missing, broken or empty. */
export function rectangle(dict: PDFDict, key: string): Rectangle | undefined {
  const numbers = numbersOf(dict.context, arrayEntry(dict, key));
  if (numbers?.length !== 4 || !numbers.every(Number.isFinite)) return undefined;
  const [x1, y1, x2, y2] = numbers as [number, number, number, number];
  const box = { left: Math.min(x1, x2), bottom: Math.min(y1, y2), right: Math.max(x1, x2), top: Math.max(y1, y2) };
  return box.right > box.left && box.top > box.bottom ? box : undefined;
}

export function setRectangle(dict: PDFDict, key: string, { left, bottom, right, top }: Rectangle): void {
  dict.set(PDFName.of(key), dict.context.obj([left, bottom, right, top].map(rounded)));
}

/** Undefined when the two have no area in common. */
export function intersection(a: Rectangle, b: Rectangle): Rectangle | undefined {
  const both = {
    left: Math.max(a.left, b.left),
    bottom: Math.max(a.bottom, b.bottom),
    right: Math.min(a.right, b.right),
    top: Math.min(a.top, b.top),
  };
  return both.right > both.left && both.top > both.bottom ? both : undefined;
}

function userUnit(dict: PDFDict): number {
  const unit = numberEntry(dict, 'UserUnit') ?? 1;
  return Number.isFinite(unit) && unit > 0 ? unit : 1;
}

function turnsOf(dict: PDFDict): 0 | 1 | 2 | 3 {
  const quarters = Math.round((numberEntry(dict, 'Rotate') ?? 0) / 90);
  return (Number.isFinite(quarters) ? ((quarters % 4) + 4) % 4 : 0) as 0 | 1 | 2 | 3;
}

export function rotatePage(file: PdfFile, page: number, degrees: number): void {
  const dict = pageDict(file, page);
  dict.set(PDFName.of('Rotate'), PDFNumber.of((((turnsOf(dict) * 90 + degrees) % 360) + 360) % 360));
}

/** Shows only a part of a page, given in points as shown. */
export function cropPage(file: PdfFile, page: number, area: Rectangle): void {
  const frame = pageFrame(file, page);
  const crop = intersection(transformed(area, shownToPage(frame)), frame.box);
  if (crop !== undefined) setRectangle(pageDict(file, page), 'CropBox', crop);
}

/**
 * From points as shown (right and up from the lower left corner of what the reader sees) to the page's own coordinates.
 */
export function shownToPage({ box, turns, unit }: PageFrame): Matrix {
  const { left, bottom, right, top } = box;
  const turned: Record<PageFrame['turns'], Matrix> = {
    0: [1, 0, 0, 1, left, bottom],
    1: [0, 1, -1, 0, right, bottom],
    2: [-1, 0, 0, -1, right, top],
    3: [0, -1, 1, 0, left, top],
  };
  return multiply([1 / unit, 0, 0, 1 / unit, 0, 0], turned[turns]);
}

/** The opposite of {@link shownToPage}. */
export function pageToShown(frame: PageFrame): Matrix {
  return inverse(shownToPage(frame));
}

export function inverse([a, b, c, d, e, f]: Matrix): Matrix {
  const area = a * d - b * c;
  return [d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area];
}

/** The smallest upright rectangle around a transformed one. */
export function transformed({ left, bottom, right, top }: Rectangle, [a, b, c, d, e, f]: Matrix): Rectangle {
  const xs = [left, right].flatMap((x) => [bottom, top].map((y) => a * x + c * y + e));
  const ys = [left, right].flatMap((x) => [bottom, top].map((y) => b * x + d * y + f));
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

/** Numbers of a content stream or box: no exponents, and no more digits than any reader keeps. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000 || 0;
}

/** Numbers as operands: `0.5 0 0 0.5 10 20`. */
export function operands(...values: readonly number[]): string {
  return values.map((value) => String(Number(value.toFixed(5)) || 0)).join(' ');
}
