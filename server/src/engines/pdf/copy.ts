import {
  PDFArray,
  PDFDict,
  PDFName,
  PDFNull,
  PDFRawStream,
  PDFRef,
  type PDFContext,
  type PDFObject,
} from '@cantoo/pdf-lib';
import { describingDict, explicitDestination } from './destinations.ts';
import type { PdfFile } from './document.ts';
import { arrayEntry, dictEntry, nameEntry, rawEntry, resolve } from './objects.ts';

/** What in a file belongs to one page, so that a copy of the page needs a copy of it and no other page may drag it in. */
export interface Ownership {
  /** Pages and the nodes of the page tree: never followed. */
  structure: ReadonlySet<PDFRef>;
  /** Annotations that are objects of their own, and their page. */
  pageOfAnnotation: ReadonlyMap<PDFRef, PDFRef>;
  /** Form fields above an annotation, innermost first. */
  fieldsAbove: ReadonlyMap<PDFRef, readonly PDFRef[]>;
  fields: ReadonlySet<PDFRef>;
}

/** A form nested deeper than this exists only in hostile files. */
const maxFieldDepth = 32;

const ownerships = new WeakMap<PdfFile, Ownership>();

export function ownershipOf(file: PdfFile): Ownership {
  const known = ownerships.get(file);
  if (known !== undefined) return known;
  linkFields(file);
  const pageOfAnnotation = new Map<PDFRef, PDFRef>();
  const fieldsAbove = new Map<PDFRef, PDFRef[]>();
  for (const page of file.pages) {
    for (const annotation of annotationsOf(file, page)) {
      if (!(annotation instanceof PDFRef) || pageOfAnnotation.has(annotation)) continue;
      pageOfAnnotation.set(annotation, page);
      fieldsAbove.set(annotation, parentFields(file.context, annotation));
    }
  }
  const fields = new Set([...fieldsAbove.values()].flat());
  const ownership = { structure: structureOf(file), pageOfAnnotation, fieldsAbove, fields };
  ownerships.set(file, ownership);
  return ownership;
}

/** The entries of a page's `Annots`: references, or dictionaries that stand in the array itself. */
export function annotationsOf(file: PdfFile, page: PDFRef): PDFObject[] {
  const dict = resolve(file.context, page);
  if (!(dict instanceof PDFDict)) return [];
  return arrayEntry(dict, 'Annots')?.asArray() ?? [];
}

function parentFields(context: PDFContext, annotation: PDFRef): PDFRef[] {
  const fields: PDFRef[] = [];
  let dict = resolve(context, annotation);
  if (!(dict instanceof PDFDict) || nameEntry(dict, 'Subtype') !== 'Widget') return [];
  while (dict instanceof PDFDict && fields.length < maxFieldDepth) {
    const parent = rawEntry(dict, 'Parent');
    if (!(parent instanceof PDFRef) || fields.includes(parent)) break;
    fields.push(parent);
    dict = resolve(context, parent);
  }
  return fields;
}

function structureOf(file: PdfFile): Set<PDFRef> {
  const structure = new Set<PDFRef>(file.pages);
  const { Root } = file.context.trailerInfo;
  if (Root instanceof PDFRef) structure.add(Root);
  for (const page of file.pages) {
    let dict = resolve(file.context, page);
    while (dict instanceof PDFDict) {
      const parent = rawEntry(dict, 'Parent');
      if (!(parent instanceof PDFRef) || structure.has(parent)) break;
      structure.add(parent);
      dict = resolve(file.context, parent);
    }
  }
  return structure;
}

/** Copies objects of one file into another. Fonts, images and other shared objects are copied once. */
export interface Copier {
  readonly file: PdfFile;
  readonly target: PDFContext;
  /** A copy of a value; a reference becomes a reference to the copy, or null when it must not be followed. */
  copy(value: PDFObject): PDFObject;
  /** Copies everything that the copies so far refer to. Call it once everything wanted has been copied. */
  finish(): void;
}

/** Entries that tie an object to parts of its file that a selection of pages does not take along. */
const leftBehind = new Set(['StructParent', 'StructParents', 'B'].map((name) => PDFName.of(name)));
const prunedArrays = new Set(['Kids', 'Annots', 'Fields', 'CO'].map((name) => PDFName.of(name)));

/**
 * @param pages where the copies of the chosen pages will stand; other pages, their annotations and the fields that show
 *   only there are not followed.
 * @param shared objects already copied from this file, for a second selection of the same pages.
 */
export function createCopier(
  file: PdfFile,
  target: PDFContext,
  pages: ReadonlyMap<PDFRef, PDFRef>,
  shared: Map<PDFRef, PDFRef>,
): Copier {
  const ownership = ownershipOf(file);
  const own = new Map<PDFRef, PDFRef>();
  const liveFields = new Set<PDFRef>();
  for (const [annotation, page] of ownership.pageOfAnnotation) {
    if (pages.has(page)) for (const field of ownership.fieldsAbove.get(annotation) ?? []) liveFields.add(field);
  }
  const waiting: [PDFRef, PDFRef][] = [];

  const take = (ref: PDFRef, map: Map<PDFRef, PDFRef>): PDFRef => {
    const known = map.get(ref);
    if (known !== undefined) return known;
    const copied = target.nextRef();
    map.set(ref, copied);
    waiting.push([ref, copied]);
    return copied;
  };
  const copyRef = (ref: PDFRef): PDFObject => {
    if (ownership.structure.has(ref)) return pages.get(ref) ?? PDFNull;
    const page = ownership.pageOfAnnotation.get(ref);
    if (page !== undefined) return pages.has(page) ? take(ref, own) : PDFNull;
    if (ownership.fields.has(ref)) return liveFields.has(ref) ? take(ref, own) : PDFNull;
    return take(ref, shared);
  };
  const copyPruned = (value: PDFObject): PDFObject => {
    const array = resolve(file.context, value);
    return array instanceof PDFArray ? copyArray(array, true) : PDFNull;
  };
  const copyDict = (dict: PDFDict): PDFDict => {
    const copied = PDFDict.fromMapWithContext(new Map(), target);
    for (const [key, value] of dict.entries()) {
      if (leftBehind.has(key)) continue;
      copied.set(key, prunedArrays.has(key) ? copyPruned(value) : copy(entryToCopy(file, dict, key, value)));
    }
    return copied;
  };
  const copyArray = (array: PDFArray, isPruned = false): PDFArray => {
    const copied = PDFArray.withContext(target);
    for (const element of array.asArray()) {
      const copiedElement = copy(element);
      if (!isPruned || copiedElement !== PDFNull) copied.push(copiedElement);
    }
    return copied;
  };
  const copy = (value: PDFObject): PDFObject => {
    if (value instanceof PDFRef) return copyRef(value);
    if (value instanceof PDFDict) return copyDict(value);
    if (value instanceof PDFArray) return copyArray(value);
    if (value instanceof PDFRawStream) return PDFRawStream.of(copyDict(value.dict), value.contents);
    return value;
  };
  const finish = () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const object = resolve(file.context, next[0]);
      target.assign(next[1], object === undefined ? PDFNull : copy(object));
    }
  };
  return { file, target, copy, finish };
}

/** Destinations by name mean something else, or nothing, in another file: they are copied as page references. */
function entryToCopy(file: PdfFile, dict: PDFDict, key: PDFName, value: PDFObject): PDFObject {
  const isDestination = key === PDFName.of('Dest') || (key === PDFName.of('D') && nameEntry(dict, 'S') === 'GoTo');
  if (!isDestination) return value;
  return explicitDestination(file, value) ?? value;
}

/** The dictionary of an annotation or any other object a reference leads to. */
export function dictOf(file: PdfFile, value: PDFObject): PDFDict | undefined {
  return describingDict(resolve(file.context, value));
}

/** Gives fields that leave it out the way up to the field that lists them, without which they stand for themselves. */
export function linkFields(file: PdfFile): void {
  const form = formOf(file);
  const waiting = [...((form && arrayEntry(form, 'Fields'))?.asArray() ?? [])];
  const seen = new Set<PDFObject>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const field = resolve(file.context, next);
    if (!(next instanceof PDFRef) || !(field instanceof PDFDict) || seen.has(field)) continue;
    seen.add(field);
    for (const kid of arrayEntry(field, 'Kids')?.asArray() ?? []) {
      const child = resolve(file.context, kid);
      if (child instanceof PDFDict && !child.has(PDFName.of('Parent'))) child.set(PDFName.of('Parent'), next);
      waiting.push(kid);
    }
  }
}

/** The form of a file, when it has one. */
export function formOf(file: PdfFile): PDFDict | undefined {
  return dictEntry(file.catalog, 'AcroForm');
}
