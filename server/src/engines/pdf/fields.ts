import { PDFArray, PDFDict, PDFName, PDFRef, type PDFObject } from '@cantoo/pdf-lib';
import { annotationsOf, dictOf, formOf } from './copy.ts';
import type { PdfFile } from './document.ts';
import { arrayEntry, entry, nameEntry, rawEntry, resolve } from './objects.ts';

/** Form fields and their widgets as the form lists them, parents before children; loops are cut. */
export function* formFields(file: PdfFile): Generator<PDFDict> {
  const form = formOf(file);
  const waiting = form === undefined ? [] : [...(arrayEntry(form, 'Fields')?.asArray() ?? [])].toReversed();
  const seen = new Set<PDFDict>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const field = resolve(file.context, next);
    if (!(field instanceof PDFDict) || seen.has(field)) continue;
    seen.add(field);
    yield field;
    waiting.push(...(arrayEntry(field, 'Kids')?.asArray() ?? []).toReversed());
  }
}

/** An entry that a field may have from the fields above it. */
export function inheritedEntry(field: PDFDict, key: string): PDFObject | undefined {
  let dict: PDFObject | undefined = field;
  for (let depth = 0; dict instanceof PDFDict && depth < 32; depth++) {
    const value = entry(dict, key);
    if (value !== undefined) return value;
    dict = entry(dict, 'Parent');
  }
  return undefined;
}

/** The fields that hold a signature. */
export function signedFields(file: PdfFile): PDFDict[] {
  return [...formFields(file)].filter(
    (field) => nameEntry(field, 'FT') === 'Sig' && entry(field, 'V') instanceof PDFDict,
  );
}

/** Takes the signatures out of their fields, and the rights that they gave out of the file; returns how many. */
export function dropSignatures(file: PdfFile): number {
  const signed = signedFields(file);
  for (const field of signed) field.delete(PDFName.of('V'));
  if (signed.length === 0 && rawEntry(file.catalog, 'Perms') === undefined) return 0;
  file.catalog.delete(PDFName.of('Perms'));
  formOf(file)?.delete(PDFName.of('SigFlags'));
  return signed.length;
}

/** The form fields that stand on a page, 0-based. */
export function widgetsOf(file: PdfFile, page: number): PDFDict[] {
  const ref = file.pages[page];
  if (ref === undefined) return [];
  return annotationsOf(file, ref)
    .map((annotation) => dictOf(file, annotation))
    .filter((annotation) => annotation !== undefined)
    .filter((annotation) => nameEntry(annotation, 'Subtype') === 'Widget');
}

/** Takes out of the form what no page shows any more; a form without fields goes whole. */
export function pruneForm(file: PdfFile): void {
  const form = formOf(file);
  const fields = form && arrayEntry(form, 'Fields');
  if (form === undefined || fields === undefined) return;
  const shown = new Set<PDFObject>(file.pages.flatMap((page) => annotationsOf(file, page)));
  const seen = new Set<PDFObject>();
  const keep = (ref: PDFObject, depth: number): boolean => {
    const field = resolve(file.context, ref);
    if (!(field instanceof PDFDict) || seen.has(field) || depth > 32) return false;
    seen.add(field);
    const kids = arrayEntry(field, 'Kids');
    if (kids === undefined) return !(ref instanceof PDFRef) || shown.has(ref);
    const kept = kids.asArray().filter((kid) => keep(kid, depth + 1));
    field.set(PDFName.of('Kids'), arrayOf(file, kept));
    return kept.length > 0;
  };
  const kept = fields.asArray().filter((field) => keep(field, 0));
  if (kept.length === 0) {
    file.catalog.delete(PDFName.of('AcroForm'));
    return;
  }
  form.set(PDFName.of('Fields'), arrayOf(file, kept));
  form.delete(PDFName.of('XFA'));
}

function arrayOf(file: PdfFile, values: readonly PDFObject[]): PDFArray {
  const array = PDFArray.withContext(file.context);
  for (const value of values) array.push(value);
  return array;
}
