import {
  PDFArray,
  type PDFDict,
  PDFName,
  PDFRawStream,
  PDFStream,
  type PDFContext,
  type PDFObject,
  type PDFRef,
} from '@cantoo/pdf-lib';
import { deflateSync } from 'node:zlib';
import { Failure } from '../../lib/failure.ts';
import { multiply, unclosedStates, type Matrix } from './content.ts';
import type { Copier } from './copy.ts';
import type { PdfFile } from './document.ts';
import { dictEntry, entry, rawEntry } from './objects.ts';
import { operands, pageDict, pageFrame, pageToShown, rounded, shownToPage } from './page-frame.ts';
import { pageContent } from './streams.ts';
import type { Typeface } from './typeface.ts';

/** Something to draw on pages: a form XObject whose lower left corner is the origin, in points. */
export interface Mark {
  form: PDFRef;
  width: number;
  height: number;
}

type Resources = Record<string, Record<string, PDFRef>>;

/** A form of its own operators; it is one group, so that opacity means the whole and not every letter. */
export function drawnMark(
  context: PDFContext,
  { width, height }: { width: number; height: number },
  content: string,
  resources: Resources,
): Mark {
  const dict = context.obj({
    Type: 'XObject',
    Subtype: 'Form',
    BBox: [0, 0, rounded(width), rounded(height)],
    Resources: resources,
    Group: { S: 'Transparency' },
    Filter: 'FlateDecode',
  });
  const form = context.register(PDFRawStream.of(dict, deflateSync(Buffer.from(content, 'latin1'))));
  return { form, width, height };
}

/** Lines of text, centred above each other. `color` is red, green and blue from 0 to 1; `size` is in points. */
export function textMark(
  context: PDFContext,
  typeface: Typeface,
  { lines, size, color }: { lines: readonly string[]; size: number; color: readonly number[] },
): Mark {
  const drawn = lines.map((line) => typeface.line(line));
  const lineHeight = (typeface.ascent - typeface.descent) * size;
  const width = Math.max(1, ...drawn.map((line) => line.width * size));
  const height = lineHeight * lines.length;
  const shown = drawn.map((line, index) => {
    const x = (width - line.width * size) / 2;
    const y = height - lineHeight * index - typeface.ascent * size;
    return `${operands(1, 0, 0, 1, x, y)} Tm\n${line.show(size)}`;
  });
  const content = `BT\n/F ${operands(size)} Tf\n${operands(...color)} rg\n${shown.join('\n')}\nET`;
  return drawnMark(context, { width, height }, content, { Font: { F: typeface.ref } });
}

/** The mark at an opacity from 0 to 1. */
export function fadedMark(context: PDFContext, mark: Mark, opacity: number): Mark {
  if (opacity === 1) return mark;
  const state = context.register(context.obj({ Type: 'ExtGState', ca: rounded(opacity), CA: rounded(opacity) }));
  return drawnMark(context, mark, '/G gs /M Do', { ExtGState: { G: state }, XObject: { M: mark.form } });
}

/**
 * A page of another file, as it is shown, without annotations.
 *
 * @throws Failure `invalid_input` when its content cannot be read.
 */
export function pageMark(page: number, copier: Copier): Mark {
  const { file: source, target } = copier;
  const dict = pageDict(source, page);
  const frame = pageFrame(source, page);
  const content = pageContent(dict);
  if (content === undefined) {
    const message = `Page ${page + 1} of ${source.filename} is damaged.`;
    throw new Failure('invalid_input', message, { file: source.filename });
  }
  const { left, bottom, right, top } = frame.box;
  const form = target.obj({
    Type: 'XObject',
    Subtype: 'Form',
    BBox: [left, bottom, right, top].map(rounded),
    Matrix: pageToShown(frame).map((value) => Number(value.toFixed(6))),
    Resources: copier.copy(rawEntry(dict, 'Resources') ?? target.obj({})),
    Filter: 'FlateDecode',
  });
  const group = rawEntry(dict, 'Group');
  if (group !== undefined) form.set(PDFName.of('Group'), copier.copy(group));
  const ref = target.register(PDFRawStream.of(form, deflateSync(content)));
  copier.finish();
  return { form: ref, width: frame.width, height: frame.height };
}

/**
 * Draws a mark on a page.
 *
 * @param place from the mark to points as shown: right and up from the lower left corner of what the reader sees.
 * @param layer above the page's own content, or below it.
 */
export function stampPage(
  file: PdfFile,
  page: number,
  { mark, place, layer }: { mark: Mark; place: Matrix; layer: 'over' | 'under' },
): void {
  const name = addObject(file, pageDict(file, page), mark.form);
  const matrix = multiply(place, shownToPage(pageFrame(file, page)));
  // No part of the text for those who have it read to them.
  const drawing = `/Artifact BMC q ${operands(...matrix)} cm /${name} Do Q EMC\n`;
  if (layer === 'under') addContent(file, page, { before: drawing });
  else addContent(file, page, { after: drawing });
}

/** Adds operators before or after a page's content; what the content leaves changed does not reach those after it. */
export function addContent(file: PdfFile, page: number, { before, after }: { before?: string; after?: string }): void {
  const dict = pageDict(file, page);
  const { context } = file;
  const contents = PDFArray.withContext(context);
  const add = (text: string) => contents.push(context.register(context.stream(text)));
  if (before !== undefined) add(before);
  if (after !== undefined) add('q\n');
  for (const part of contentParts(dict)) contents.push(part);
  if (after !== undefined) add(`\n${'Q '.repeat(1 + unclosedStates(pageContent(dict)))}\n${after}`);
  dict.set(PDFName.of('Contents'), contents);
}

function contentParts(page: PDFDict): PDFObject[] {
  const raw = rawEntry(page, 'Contents');
  const value = entry(page, 'Contents');
  if (value instanceof PDFArray) return value.asArray();
  return raw !== undefined && value instanceof PDFStream ? [raw] : [];
}

/** Gives an XObject a name on a page. Resources may be shared with other pages, so they are copied first. */
export function addObject(file: PdfFile, page: PDFDict, object: PDFRef): string {
  const resources = (dictEntry(page, 'Resources') ?? file.context.obj({})).clone();
  const objects = (dictEntry(resources, 'XObject') ?? file.context.obj({})).clone();
  let name = 'Mark';
  for (let n = 1; objects.has(PDFName.of(name)); n++) name = `Mark${n}`;
  objects.set(PDFName.of(name), object);
  resources.set(PDFName.of('XObject'), objects);
  page.set(PDFName.of('Resources'), resources);
  return name;
}
