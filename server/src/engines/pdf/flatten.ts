import { PDFArray, PDFBool, PDFDict, PDFName, PDFRef, PDFStream, type PDFObject } from '@cantoo/pdf-lib';
import { Failure } from '../../lib/failure.ts';
import { identity, type Matrix } from './content.ts';
import { annotationsOf, dictOf, formOf } from './copy.ts';
import type { PdfFile } from './document.ts';
import { drawField } from './field-appearance.ts';
import { inheritedEntry, pruneForm } from './fields.ts';
import { arrayEntry, dictEntry, entry, nameEntry, numberEntry, numbersOf, rawEntry, resolve } from './objects.ts';
import { operands, pageDict, rectangle, transformed } from './page-frame.ts';
import { addContent, addObject } from './stamp.ts';
import { openTypeface, type Typeface } from './typeface.ts';

export interface FlattenOptions {
  forms: boolean;
  annotations: boolean;
  /** 0-based. */
  pages: Iterable<number>;
}

/** What stays what it is: it leads somewhere or holds something that a picture of it would lose. */
const keptKinds = new Set(['Link', 'FileAttachment', 'Sound', 'Movie', 'Screen', 'RichMedia', '3D', 'PrinterMark']);
const hidden = 2;
const noView = 32;

/**
 * Makes form fields and annotations part of the pages, as they look. Fields without an appearance are drawn from their
 * values; hidden ones go without a trace. An annotation that does not say how it looks stays one.
 *
 * @returns how many became part of a page, and how many stayed because nothing says how they look.
 * @throws Failure `invalid_input` for a form that only a script draws.
 */
export async function flattenPages(file: PdfFile, options: FlattenOptions): Promise<{ drawn: number; kept: number }> {
  if (options.forms && entry(file.catalog, 'NeedsRendering') === PDFBool.True) {
    const message = `${file.filename} is a form that scripts draw (dynamic XFA): its pages hold nothing to flatten.`;
    throw new Failure('invalid_input', message, { file: file.filename });
  }
  const typeface = await openTypeface(file.context);
  const result = { drawn: 0, kept: 0 };
  for (const page of new Set(options.pages)) flattenPage(file, page, { ...options, typeface, result });
  if (result.drawn > 0) typeface.finish();
  if (options.forms) pruneForm(file);
  return result;
}

interface Work extends FlattenOptions {
  typeface: Typeface;
  result: { drawn: number; kept: number };
}

function flattenPage(file: PdfFile, page: number, work: Work): void {
  const ref = file.pages[page];
  if (ref === undefined) return;
  const remaining = PDFArray.withContext(file.context);
  const drawings: string[] = [];
  for (const annotation of annotationsOf(file, ref)) {
    const dict = dictOf(file, annotation);
    const kind = dict === undefined ? 'none' : whatToDo(dict, work);
    if (kind === 'keep' || dict === undefined) {
      remaining.push(annotation);
      continue;
    }
    if (kind === 'drop') continue;
    const drawing = draw(file, page, dict, work.typeface);
    if (drawing === undefined) {
      remaining.push(annotation);
      work.result.kept += 1;
    } else {
      drawings.push(drawing);
      work.result.drawn += 1;
    }
  }
  const dict = pageDict(file, page);
  if (remaining.size() > 0) dict.set(PDFName.of('Annots'), remaining);
  else dict.delete(PDFName.of('Annots'));
  if (drawings.length > 0) addContent(file, page, { after: drawings.join('') });
}

function whatToDo(annotation: PDFDict, { forms, annotations }: FlattenOptions): 'draw' | 'drop' | 'keep' {
  const kind = nameEntry(annotation, 'Subtype') ?? '';
  const isWanted = kind === 'Widget' ? forms : annotations && !keptKinds.has(kind);
  if (!isWanted) return 'keep';
  const flags = numberEntry(annotation, 'F') ?? 0;
  return kind === 'Popup' || (flags & (hidden | noView)) !== 0 ? 'drop' : 'draw';
}

/** The operators that draw an annotation; none for one that shows nothing, undefined when that cannot be told. */
function draw(file: PdfFile, page: number, annotation: PDFDict, typeface: Typeface): string | undefined {
  const area = rectangle(annotation, 'Rect');
  const isField = nameEntry(annotation, 'Subtype') === 'Widget';
  if (area === undefined) return isField ? '' : undefined;
  const appearance = isField ? fieldAppearance(file, annotation, typeface) : appearanceOf(file, annotation);
  if (appearance === undefined) return isField ? '' : undefined;
  const form = resolve(file.context, appearance);
  if (!(form instanceof PDFStream)) return '';
  const box = rectangle(form.dict, 'BBox');
  if (box === undefined) return '';
  form.dict.set(PDFName.of('Subtype'), PDFName.of('Form')); // Some programs leave it out, which only annotations may.
  const numbers = numbersOf(file.context, arrayEntry(form.dict, 'Matrix'));
  const shown = transformed(box, numbers?.length === 6 ? (numbers as unknown as Matrix) : identity);
  const [width, height] = [shown.right - shown.left, shown.top - shown.bottom];
  if (!(width > 0 && height > 0)) return '';
  const [scaleX, scaleY] = [(area.right - area.left) / width, (area.top - area.bottom) / height];
  const name = addObject(file, pageDict(file, page), appearance);
  const place = operands(scaleX, 0, 0, scaleY, area.left - shown.left * scaleX, area.bottom - shown.bottom * scaleY);
  return `q ${place} cm /${name} Do Q\n`;
}

/** The appearance a field brings along, unless its value is newer, or one drawn from its value. */
function fieldAppearance(file: PdfFile, widget: PDFDict, typeface: Typeface): PDFRef | undefined {
  const existing = appearanceOf(file, widget);
  if (existing !== undefined && !isOutdated(file, widget)) return existing;
  try {
    return drawField(file, widget, typeface);
  } catch (error) {
    // What another program drew is better than nothing where the font here has no such signs.
    if (existing === undefined || !(error instanceof Failure)) throw error;
    return existing;
  }
}

/** The appearance an annotation brings along. */
function appearanceOf(file: PdfFile, annotation: PDFDict): PDFRef | undefined {
  const appearances = dictEntry(annotation, 'AP');
  if (appearances === undefined) return undefined;
  const normal = entry(appearances, 'N');
  if (normal instanceof PDFStream) return referenceTo(file, rawEntry(appearances, 'N'));
  if (!(normal instanceof PDFDict)) return undefined;
  const state = nameEntry(annotation, 'AS') ?? stateOf(annotation);
  // A button that is off often has no appearance for it, and shows nothing.
  return referenceTo(file, rawEntry(normal, state)) ?? emptyForm(file);
}

function stateOf(annotation: PDFDict): string {
  const value = inheritedEntry(annotation, 'V');
  return value instanceof PDFName ? value.decodeText() : 'Off';
}

/** Buttons do not change how they look, only which of their looks shows. */
function isOutdated(file: PdfFile, annotation: PDFDict): boolean {
  const form = formOf(file);
  const kind = inheritedEntry(annotation, 'FT');
  const isText = kind === PDFName.of('Tx') || kind === PDFName.of('Ch');
  return isText && form !== undefined && entry(form, 'NeedAppearances') === PDFBool.True;
}

function referenceTo(file: PdfFile, value: PDFObject | undefined): PDFRef | undefined {
  if (value instanceof PDFRef) return resolve(file.context, value) instanceof PDFStream ? value : undefined;
  return value instanceof PDFStream ? file.context.register(value) : undefined;
}

function emptyForm(file: PdfFile): PDFRef {
  const { context } = file;
  return context.register(context.stream('', { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 1, 1] }));
}
