import { PDFArray, PDFDict, PDFName, type PDFContext, type PDFObject, type PDFRef } from '@cantoo/pdf-lib';
import { multiply, type Matrix } from './content.ts';
import { createCopier } from './copy.ts';
import type { PdfFile } from './document.ts';
import { arrayEntry, dictEntry, entry, nameEntry, numberEntry, numbersOf, rawEntry, resolve } from './objects.ts';
import { pageContent } from './streams.ts';

/** A page as its objects have it: the visible rectangle before it is turned, in points, and quarter turns clockwise. */
interface Geometry {
  left: number;
  bottom: number;
  right: number;
  top: number;
  turns: number;
}

const a4 = [0, 0, 595, 842];

function geometryOf(page: PDFDict): Geometry {
  const box = (name: string) => {
    const numbers = numbersOf(page.context, arrayEntry(page, name));
    if (numbers?.length !== 4) return undefined;
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = numbers;
    return [Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)];
  };
  const [l = 0, b = 0, r = 595, t = 842] = box('MediaBox') ?? a4;
  const [cl = l, cb = b, cr = r, ct = t] = box('CropBox') ?? [];
  const turns = (((numberEntry(page, 'Rotate') ?? 0) / 90) % 4) + 4;
  const inside = { left: Math.max(l, cl), bottom: Math.max(b, cb), right: Math.min(r, cr), top: Math.min(t, ct) };
  const isEmpty = inside.right <= inside.left || inside.top <= inside.bottom;
  return { ...(isEmpty ? { left: l, bottom: b, right: r, top: t } : inside), turns: Math.round(turns) % 4 };
}

/** From the unit square over the page as it is shown (y up) to the page's own coordinates. */
function unitToPage({ left, bottom, right, top, turns }: Geometry): Matrix {
  const [width, height] = [right - left, top - bottom];
  if (turns === 1) return [0, height, -width, 0, right, bottom];
  if (turns === 2) return [-width, 0, 0, -height, right, top];
  if (turns === 3) return [0, -height, width, 0, left, top];
  return [width, 0, 0, height, left, bottom];
}

export interface TextLayer {
  /** A PDF of one page that holds the invisible text of a picture of the page as it is shown. */
  layer: PdfFile;
  /** Radians anticlockwise by which the page's content is turned to make its lines level; 0 leaves it. */
  turn: number;
}

/**
 * Lays invisible text over a page. What the page draws stays as it is, between `q` and `Q`; with a turn both are turned
 * around the middle of the page.
 */
export function addTextLayer(file: PdfFile, pageRef: PDFRef, { layer, turn }: TextLayer): void {
  const page = pageOf(file, pageRef);
  const form = formOf(file, layer);
  if (page === undefined || form === undefined) return;
  const { context } = file;
  const geometry = geometryOf(page);
  const matrix = multiply([1 / form.width, 0, 0, 1 / form.height, 0, 0], unitToPage(geometry));
  const rotation = turn === 0 ? '' : `${operands(rotationAround(geometry, turn))} cm `;
  const name = addObject(page, form.ref);
  const before = context.register(context.stream(`q ${rotation}\n`));
  const after = context.register(context.stream(`\nQ q ${rotation}${operands(matrix)} cm /${name} Do Q\n`));
  setContents(page, [before, ...contentsOf(page), after]);
}

/** Replaces everything a page draws by a picture of it as it is shown. Links stay; other annotations are in the picture. */
export function replaceByPicture(file: PdfFile, pageRef: PDFRef, picture: PdfFile): void {
  const page = pageOf(file, pageRef);
  const source = picture.pages[0] === undefined ? undefined : pageOf(picture, picture.pages[0]);
  const objects = source && dictEntry(source, 'Resources');
  const image = objects && dictEntry(objects, 'XObject')?.values()[0];
  if (page === undefined || image === undefined) return;
  const { context } = file;
  const copier = createCopier(picture, context, new Map(), new Map());
  const ref = copier.copy(image);
  copier.finish();
  page.set(PDFName.of('Resources'), context.obj({}));
  const draw = `q ${operands(unitToPage(geometryOf(page)))} cm /${addObject(page, ref)} Do Q`;
  setContents(page, [context.register(context.stream(draw))]);
  keepOnlyLinks(context, page);
}

function keepOnlyLinks(context: PDFContext, page: PDFDict): void {
  const annotations = arrayEntry(page, 'Annots');
  if (annotations === undefined) return;
  const links = annotations.asArray().filter((annotation) => {
    const dict = resolve(context, annotation);
    return dict instanceof PDFDict && nameEntry(dict, 'Subtype') === 'Link';
  });
  page.set(PDFName.of('Annots'), context.obj(links));
}

/** Whether anything on the page would not turn with its content. */
export function hasAnnotations(file: PdfFile, pageRef: PDFRef): boolean {
  const page = pageOf(file, pageRef);
  return page !== undefined && (arrayEntry(page, 'Annots')?.size() ?? 0) > 0;
}

function pageOf(file: PdfFile, ref: PDFRef): PDFDict | undefined {
  const page = resolve(file.context, ref);
  return page instanceof PDFDict ? page : undefined;
}

const layerFonts = new WeakMap<PDFContext, PDFObject>();

/** The text of a layer as a form of the target. The font without glyphs is the same in every layer: it is copied once. */
function formOf(file: PdfFile, layer: PdfFile): { ref: PDFRef; width: number; height: number } | undefined {
  const source = layer.pages[0] === undefined ? undefined : pageOf(layer, layer.pages[0]);
  const content = source && pageContent(source);
  const fonts = source && rawEntry(dictEntry(source, 'Resources') ?? source, 'Font');
  if (source === undefined || content === undefined || fonts === undefined) return undefined;
  const { context } = file;
  let font = layerFonts.get(context);
  if (font === undefined) {
    const copier = createCopier(layer, context, new Map(), new Map());
    font = copier.copy(fonts);
    copier.finish();
    layerFonts.set(context, font);
  }
  const { left, bottom, right, top } = geometryOf(source);
  const stream = context.flateStream(content, {
    Type: 'XObject',
    Subtype: 'Form',
    BBox: [left, bottom, right, top],
    Resources: { Font: font },
  });
  return { ref: context.register(stream), width: right - left, height: top - bottom };
}

function rotationAround({ left, bottom, right, top }: Geometry, angle: number): Matrix {
  const [x, y] = [(left + right) / 2, (bottom + top) / 2];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [cos, sin, -sin, cos, x - x * cos + y * sin, y - x * sin - y * cos];
}

function operands(matrix: Matrix): string {
  return matrix.map((value) => Number(value.toFixed(6))).join(' ');
}

/** The streams a page draws, each by a reference. */
function contentsOf(page: PDFDict): PDFObject[] {
  const contents = rawEntry(page, 'Contents');
  const value = entry(page, 'Contents');
  if (value instanceof PDFArray) return value.asArray();
  return contents === undefined || value === undefined ? [] : [contents];
}

function setContents(page: PDFDict, streams: PDFObject[]): void {
  page.set(PDFName.of('Contents'), page.context.obj(streams));
}

/** Names an object for a page's content. Resources may be shared with other pages, so the page gets its own. */
function addObject(page: PDFDict, ref: PDFObject): string {
  const { context } = page;
  const resources = dictEntry(page, 'Resources')?.clone(context) ?? context.obj({});
  const objects = dictEntry(resources, 'XObject')?.clone(context) ?? context.obj({});
  let name = 'Ocr0';
  for (let count = 1; objects.has(PDFName.of(name)); count++) name = `Ocr${count}`;
  objects.set(PDFName.of(name), ref);
  resources.set(PDFName.of('XObject'), objects);
  page.set(PDFName.of('Resources'), resources);
  return name;
}
