import {
  PDFArray,
  PDFDict,
  PDFHexString,
  PDFName,
  PDFRef,
  PDFStream,
  type PDFObject,
  type PDFString,
} from '@cantoo/pdf-lib';
import type { Box } from '../pdfium-content.ts';
import type { PageWord } from '../page-search.ts';
import { annotationsOf, dictOf } from './copy.ts';
import { multiply } from './content.ts';
import type { PdfFile } from './document.ts';
import { arrayEntry, dictEntry, entry, isText, nameEntry, resolve, textOf } from './objects.ts';
import { replaceByPicture } from './ocr-layer.ts';
import { operands, pageDict, pageFrame, pageToShown, rectangle, shownToPage, transformed } from './page-frame.ts';
import { addContent, addObject, drawnMark } from './stamp.ts';
import { decodeStream } from './streams.ts';
import { removeMetadata } from './tidy.ts';
import type { Typeface } from './typeface.ts';
import { childrenOf, reachableObjects } from './write.ts';

/** What of a page stays when its content has become a picture. */
const keptPageEntries = new Set(
  ['Type', 'Parent', 'Resources', 'Contents', 'MediaBox', 'CropBox', 'Rotate', 'UserUnit', 'Annots'].map((name) =>
    PDFName.of(name),
  ),
);

export interface RedactedPage {
  /** 0-based. */
  page: number;
  picture: PdfFile;
  /** Points as shown, from the upper left corner, on a page of `width`. */
  boxes: readonly Box[];
  width: number;
  /** What may still be read, to be laid over the picture invisibly. */
  words: readonly PageWord[];
}

/** Makes a page its picture and the words that are left; links over redacted places go. */
export function replacePage(file: PdfFile, redacted: RedactedPage, typeface: Typeface): void {
  const { page, picture, boxes, width, words } = redacted;
  const ref = file.pages[page];
  if (ref === undefined) return;
  replaceByPicture(file, ref, picture);
  const dict = pageDict(file, page);
  for (const key of dict.keys()) if (!keptPageEntries.has(key)) dict.delete(key);
  removeLinks(file, page, boxes, width);
  layWords(file, page, words, width, typeface);
}

function removeLinks(file: PdfFile, page: number, boxes: readonly Box[], width: number): void {
  const ref = file.pages[page];
  if (ref === undefined) return;
  const frame = pageFrame(file, page);
  const scale = width / frame.width;
  const kept = annotationsOf(file, ref).filter((annotation) => {
    const dict = dictOf(file, annotation);
    const area = dict && rectangle(dict, 'Rect');
    if (area === undefined) return false;
    const { left, right, top, bottom } = transformed(area, pageToShown(frame));
    const shown = {
      left: left * scale,
      right: right * scale,
      top: (frame.height - top) * scale,
      bottom: (frame.height - bottom) * scale,
    };
    return !boxes.some(
      (box) => box.left < shown.right && box.right > shown.left && box.top < shown.bottom && box.bottom > shown.top,
    );
  });
  pageDict(file, page).set(PDFName.of('Annots'), file.context.obj(kept));
}

function layWords(file: PdfFile, page: number, words: readonly PageWord[], width: number, typeface: Typeface): void {
  const frame = pageFrame(file, page);
  const height = (frame.height / frame.width) * width;
  const shown = words.flatMap(({ text, boxes }) => {
    const box = boxes.length === 1 ? boxes[0] : undefined;
    if (box === undefined || typeface.missing(text).length > 0) return [];
    const line = typeface.line(text);
    const size = (box.bottom - box.top) / (typeface.ascent - typeface.descent);
    const natural = line.width * size;
    if (!(size > 0 && natural > 0)) return [];
    const stretch = (box.right - box.left) / natural;
    const y = height - box.top - typeface.ascent * size;
    return [`/F ${operands(size)} Tf ${operands(stretch, 0, 0, 1, box.left, y)} Tm ${line.show(size)}`];
  });
  if (shown.length === 0) return;
  const mark = drawnMark(file.context, { width, height }, `BT 3 Tr\n${shown.join('\n')}\nET\n`, {
    Font: { F: typeface.ref },
  });
  const scale = frame.width / width;
  const matrix = multiply([scale, 0, 0, scale, 0, 0], shownToPage(frame));
  const name = addObject(file, pageDict(file, page), mark.form);
  addContent(file, page, { after: `q ${operands(...matrix)} cm /${name} Do Q\n` });
}

/**
 * Takes away what may repeat the text of pages elsewhere: attached files, scripts, tags, thumbnails, XMP and private data
 * of programs; and blackens every other text in the file (bookmarks, properties, notes, addresses) where `blacken` finds
 * something. Returns how many texts were changed.
 */
export function cleanDocument(file: PdfFile, blacken: (text: string) => string | undefined): number {
  const { trailerInfo } = file.context;
  const info = trailerInfo.Info;
  removeMetadata(file);
  if (info !== undefined) trailerInfo.Info = info;
  for (const key of [
    'StructTreeRoot',
    'MarkInfo',
    'SpiderInfo',
    'AF',
    'Collection',
    'Threads',
    'AA',
    'Perms',
    'Legal',
  ]) {
    file.catalog.delete(PDFName.of(key));
  }
  const names = dictEntry(file.catalog, 'Names');
  for (const key of names?.keys() ?? []) if (key !== PDFName.of('Dests')) names?.delete(key);
  dropInherited(file);
  for (const ref of file.pages) {
    const page = resolve(file.context, ref);
    if (!(page instanceof PDFDict)) continue;
    page.delete(PDFName.of('AF'));
    const annotations = annotationsOf(file, ref);
    const kept = annotations.filter((annotation) => {
      const dict = dictOf(file, annotation);
      return dict !== undefined && nameEntry(dict, 'Subtype') === 'Link';
    });
    if (kept.length < annotations.length) page.set(PDFName.of('Annots'), file.context.obj(kept));
  }
  return blackenTexts(file, blacken);
}

/** Pages have their own copies of what the tree above them holds; there the old content would stay alive. */
function dropInherited(file: PdfFile): void {
  const seen = new Set<PDFDict>();
  const waiting: (PDFObject | undefined)[] = [entry(file.catalog, 'Pages')];
  while (waiting.length > 0) {
    const node = resolve(file.context, waiting.pop());
    if (!(node instanceof PDFDict) || seen.has(node)) continue;
    seen.add(node);
    const kids = arrayEntry(node, 'Kids');
    if (kids === undefined) continue;
    node.delete(PDFName.of('Resources'));
    waiting.push(...kids.asArray());
  }
}

function blackenTexts(file: PdfFile, blacken: (text: string) => string | undefined): number {
  let changed = 0;
  const replacement = (value: PDFObject | undefined): PDFHexString | undefined => {
    if (!isText(value)) return undefined;
    const text = textOf(value as PDFString);
    const black = text === undefined ? undefined : blacken(text);
    if (black === undefined) return undefined;
    changed += 1;
    return PDFHexString.fromText(black);
  };
  const seen = new Set<PDFObject>();
  const waiting: PDFObject[] = [];
  for (const [ref, object] of reachableObjects(file.context)) {
    const whole = replacement(object);
    if (whole === undefined) waiting.push(object);
    else file.context.assign(ref, whole);
  }
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (value instanceof PDFRef || seen.has(value)) continue;
    seen.add(value);
    const dict = value instanceof PDFStream ? value.dict : value;
    if (dict instanceof PDFDict) {
      for (const [key, held] of dict.entries()) {
        const black = replacement(held);
        if (black !== undefined) dict.set(key, black);
      }
    } else if (dict instanceof PDFArray) {
      for (const [index, held] of dict.asArray().entries()) {
        const black = replacement(held);
        if (black !== undefined) dict.set(index, black);
      }
    }
    waiting.push(...childrenOf(value));
  }
  return changed;
}

/** Whether anything in a file still holds one of these texts as it is written; images are not looked into. */
export function holdsText(file: PdfFile, texts: readonly string[]): boolean {
  const forms = texts.flatMap((text) => [
    Buffer.from(text, 'latin1'),
    Buffer.from(text, 'utf8'),
    Buffer.from(text, 'utf16le').swap16(),
  ]);
  for (const [, object] of reachableObjects(file.context)) {
    if (!(object instanceof PDFStream) || nameEntry(object.dict, 'Subtype') === 'Image') continue;
    if ('Length1 Length2 Length3'.split(' ').some((key) => object.dict.has(PDFName.of(key)))) continue; // A font.
    const data = decodeStream(object);
    const bytes = data && Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (bytes !== undefined && forms.some((form) => bytes.includes(form))) return true;
  }
  return false;
}
