import { PDFDict, PDFName, PDFStream, type PDFObject } from '@cantoo/pdf-lib';
import type { PdfFile } from './document.ts';
import { dictEntry, nameEntry, rawEntry, resolve } from './objects.ts';
import { decodeStream, pageContent } from './streams.ts';

/** Resources that are looked up by a name in the content. */
const namedKinds = new Set(['XObject', 'Font', 'Pattern', 'Shading', 'ExtGState', 'ColorSpace', 'Properties']);
/** Forms without resources of their own use the page's; more of them than this are not searched. */
const maxSearchedForms = 200;

/**
 * The resources of a page without those that its content never names. Some programs give every page the resources of the
 * whole document: a part of such a file would be as large as the whole.
 */
export function usedResources(file: PdfFile, page: PDFDict): PDFObject | undefined {
  const raw = rawEntry(page, 'Resources');
  const resources = resolve(file.context, raw);
  if (!(resources instanceof PDFDict)) return raw;
  const content = pageContent(page);
  if (content === undefined) return raw;
  const names = namesIn(content);
  if (!addFormNames(file, resources, names)) return raw;
  const used = PDFDict.fromMapWithContext(new Map(resources.entries()), file.context);
  for (const [kind, value] of resources.entries()) {
    const group = resolve(file.context, value);
    if (!namedKinds.has(kind.decodeText()) || !(group instanceof PDFDict)) continue;
    const kept = group.entries().filter(([name]) => names.has(name.decodeText()));
    used.set(kind, PDFDict.fromMapWithContext(new Map(kept), file.context));
  }
  return used;
}

/** Every name that stands in a content stream; a name inside a string is one too many, which does no harm. */
function namesIn(content: Uint8Array): Set<string> {
  const names = new Set<string>();
  for (const [, name = ''] of Buffer.from(content)
    .toString('latin1')
    .matchAll(/\/([^\s()<>[\]{}/%]+)/g)) {
    names.add(PDFName.of(name).decodeText());
  }
  return names;
}

/** Adds the names in used forms that have no resources of their own. False when that cannot be told. */
function addFormNames(file: PdfFile, resources: PDFDict, names: Set<string>): boolean {
  const objects = dictEntry(resources, 'XObject');
  if (objects === undefined) return true;
  const searched = new Set<PDFStream>();
  for (let before = -1; before !== names.size;) {
    before = names.size;
    for (const [name, value] of objects.entries()) {
      const form = resolve(file.context, value);
      if (!names.has(name.decodeText()) || !(form instanceof PDFStream) || searched.has(form)) continue;
      if (nameEntry(form.dict, 'Subtype') !== 'Form' || dictEntry(form.dict, 'Resources') !== undefined) continue;
      searched.add(form);
      const content = decodeStream(form);
      if (content === undefined || searched.size > maxSearchedForms) return false;
      for (const each of namesIn(content)) names.add(each);
    }
  }
  return true;
}
