import {
  PDFArray,
  PDFContext,
  PDFDict,
  PDFHexString,
  PDFName,
  PDFNull,
  PDFNumber,
  PDFRef,
  type PDFObject,
} from '@cantoo/pdf-lib';
import { annotationsOf, createCopier, dictOf, type Copier } from './copy.ts';
import { localTarget, readOutline, type OutlineItem } from './destinations.ts';
import type { PdfFile } from './document.ts';
import { collectFields, createForm, type FormField } from './forms.ts';
import { copyEmbeddedFiles, writeEmbeddedFiles, type EmbeddedEntry } from './embedded-files.ts';
import { mergeLayers } from './layers.ts';
import { nameEntry, rawEntry, resolve } from './objects.ts';
import { pageLabels, writePageLabels, type PageLabel } from './page-labels.ts';
import { usedResources } from './resources.ts';

/** Pages of one file, 0-based, in the order they are wanted; a page may come more than once. */
export interface PageSelection {
  file: PdfFile;
  pages: readonly number[];
  /** With it, one bookmark of this title leads to the first of these pages, and the file's own stand below it. */
  bookmark?: string;
}

interface Instance {
  copier: Copier;
  /** Index into the new file of each page of this instance, by its page in the source. */
  pages: ReadonlyMap<PDFRef, PDFRef>;
}

/**
 * A new PDF of selected pages: merging, splitting, reordering and removing are all this. Bookmarks, links, layers, page
 * labels and form fields come along as far as they concern the pages; field names that clash get `-1`, `-2`, …. Files that a
 * document carries come along with all of its pages. Scripts, actions on opening and the tagged structure do not. Document
 * information is that of the first file.
 */
export function assemble(selections: readonly PageSelection[]): PDFContext {
  const target = PDFContext.create();
  const pagesRoot = target.nextRef();
  const catalog = target.obj({ Type: 'Catalog', Pages: pagesRoot });
  target.trailerInfo.Root = target.register(catalog);

  const pageRefs: PDFRef[] = [];
  const labels: PageLabel[] = [];
  const bookmarks: CopiedBookmark[] = [];
  const fields: FormField[] = [];
  const files: EmbeddedEntry[] = [];
  const instances: Instance[] = [];
  const sharedByFile = new Map<PdfFile, Map<PDFRef, PDFRef>>();
  for (const selection of selections) {
    const copied = copySelection(selection, target, pagesRoot, sharedByFile);
    pageRefs.push(...copied.pageRefs);
    labels.push(...selectedLabels(selection));
    instances.push(...copied.instances);
    for (const { copier, pages } of copied.instances) fields.push(...collectFields(copier, pages));
    const first = copied.instances[0];
    if (first === undefined) continue;
    bookmarks.push(...copyBookmarks(selection, first, copied.pageRefs[0]));
    if (takesAllPages(selection)) files.push(...copyEmbeddedFiles(first.copier));
  }
  for (const { copier } of instances) copier.finish();

  target.assign(pagesRoot, target.obj({ Type: 'Pages', Count: pageRefs.length, Kids: pageRefs }));
  writeOutline(target, catalog, bookmarks);
  writePageLabels(target, catalog, labels);
  mergeLayers(
    target,
    catalog,
    instances.map(({ copier }) => copier),
  );
  createForm(target, catalog, fields);
  writeEmbeddedFiles(target, catalog, files);
  copyDocumentEntries(target, catalog, instances[0]?.copier);
  for (const { copier } of instances) copier.finish();
  return target;
}

function takesAllPages({ file, pages }: PageSelection): boolean {
  return new Set(pages).size === file.pages.length;
}

/** Entries of the catalog that are about reading the document, not about its parts. */
const documentEntries = ['Lang', 'PageLayout', 'ViewerPreferences'];

function copyDocumentEntries(target: PDFContext, catalog: PDFDict, first: Copier | undefined): void {
  if (first === undefined) return;
  const { file } = first;
  target.header = file.context.header;
  for (const key of documentEntries) {
    const value = rawEntry(file.catalog, key);
    if (value !== undefined) catalog.set(PDFName.of(key), first.copy(value));
  }
  const info = resolve(file.context, file.context.trailerInfo.Info);
  if (info instanceof PDFDict) target.trailerInfo.Info = target.register(first.copy(info));
}

/** A page that is wanted twice is copied twice, with annotations of its own: the second time in a second instance. */
function copySelection(
  { file, pages }: PageSelection,
  target: PDFContext,
  pagesRoot: PDFRef,
  sharedByFile: Map<PdfFile, Map<PDFRef, PDFRef>>,
): { pageRefs: PDFRef[]; instances: Instance[] } {
  const maps: Map<PDFRef, PDFRef>[] = [];
  const pageRefs: PDFRef[] = [];
  for (const index of pages) {
    const source = file.pages[index];
    if (source === undefined) throw new RangeError(`no page ${index}`);
    let map = maps.find((candidate) => !candidate.has(source));
    if (map === undefined) maps.push((map = new Map()));
    const copy = target.nextRef();
    map.set(source, copy);
    pageRefs.push(copy);
  }
  const shared = sharedByFile.get(file) ?? new Map<PDFRef, PDFRef>();
  sharedByFile.set(file, shared);
  const isWhole = takesAllPages({ file, pages });
  const instances = maps.map((map) => {
    const copier = createCopier(file, target, map, shared);
    for (const [source, copy] of map) target.assign(copy, copyPage(copier, source, map, pagesRoot, isWhole));
    return { copier, pages: map };
  });
  return { pageRefs, instances };
}

/** Entries that are set anew, or tie the page to what is left behind. */
const notCopied = new Set(['Parent', 'Annots', 'Resources', 'B', 'StructParents'].map((name) => PDFName.of(name)));

function copyPage(
  copier: Copier,
  source: PDFRef,
  pages: ReadonlyMap<PDFRef, PDFRef>,
  pagesRoot: PDFRef,
  isWhole: boolean,
): PDFDict {
  const { file } = copier;
  const page = resolve(file.context, source);
  const entries = new Map<PDFName, PDFObject>([[PDFName.of('Type'), PDFName.of('Page')]]);
  const copied = PDFDict.fromMapWithContext(entries, copier.target);
  copied.set(PDFName.of('Parent'), pagesRoot);
  if (!(page instanceof PDFDict)) return copied;
  for (const [key, value] of page.entries()) if (!notCopied.has(key)) copied.set(key, copier.copy(value));
  const resources = isWhole ? rawEntry(page, 'Resources') : usedResources(file, page);
  if (resources !== undefined) copied.set(PDFName.of('Resources'), copier.copy(resources));
  const annotations = annotationsOf(file, source).filter((annotation) => !leadsNowhere(file, annotation, pages));
  if (annotations.length > 0) {
    const array = PDFArray.withContext(copier.target);
    for (const annotation of annotations) array.push(copier.copy(annotation));
    copied.set(PDFName.of('Annots'), array);
  }
  return copied;
}

/** True for a link to a page that is not in the selection, and for an annotation that does not exist. */
function leadsNowhere(file: PdfFile, annotation: PDFObject, pages: ReadonlyMap<PDFRef, PDFRef>): boolean {
  const dict = dictOf(file, annotation);
  if (dict === undefined) return true;
  if (nameEntry(dict, 'Subtype') !== 'Link') return false;
  const page = localTarget(file, dict)?.get(0);
  return page instanceof PDFRef && !pages.has(page);
}

function selectedLabels({ file, pages }: PageSelection): PageLabel[] {
  const labels = pageLabels(file);
  return pages.map((index) => labels[index] ?? { number: index + 1, isDeclared: false });
}

interface CopiedBookmark {
  title: PDFObject;
  entries: [PDFName, PDFObject][];
  open: boolean;
  children: CopiedBookmark[];
}

function copyBookmarks(
  { file, bookmark }: PageSelection,
  { copier, pages }: Instance,
  firstPage: PDFRef | undefined,
): CopiedBookmark[] {
  const own = readOutline(file).flatMap((item) => copyBookmark(item, copier, pages));
  if (bookmark === undefined || firstPage === undefined) return own;
  const destination = copier.target.obj([firstPage, 'Fit']);
  return [
    {
      title: PDFHexString.fromText(bookmark),
      entries: [[PDFName.of('Dest'), destination]],
      open: false,
      children: own,
    },
  ];
}

/** Nothing when neither the bookmark nor one below it leads to a page that is in the selection. */
function copyBookmark(item: OutlineItem, copier: Copier, pages: ReadonlyMap<PDFRef, PDFRef>): CopiedBookmark[] {
  const children = item.children.flatMap((child) => copyBookmark(child, copier, pages));
  const page = item.destination?.get(0);
  const leads = page instanceof PDFRef && pages.has(page);
  if (!leads && item.action === undefined && children.length === 0) return [];
  const entries = item.style.map(([key, value]): [PDFName, PDFObject] => [key, copier.copy(value)]);
  if (leads && item.destination !== undefined) entries.push([PDFName.of('Dest'), copier.copy(item.destination)]);
  else if (item.action !== undefined) entries.push([PDFName.of('A'), copier.copy(item.action)]);
  return [{ title: copier.copy(item.title), entries, open: item.open, children }];
}

function writeOutline(target: PDFContext, catalog: PDFDict, bookmarks: readonly CopiedBookmark[]): void {
  if (bookmarks.length === 0) return;
  const root = target.nextRef();
  const dict = target.obj({ Type: 'Outlines' });
  target.assign(root, dict);
  dict.set(PDFName.of('Count'), PDFNumber.of(linkSiblings(target, dict, root, bookmarks)));
  catalog.set(PDFName.of('Outlines'), root);
  catalog.set(PDFName.of('PageMode'), PDFName.of('UseOutlines'));
}

/** Writes the bookmarks below `parent`; returns how many of them show when it is open. */
function linkSiblings(
  target: PDFContext,
  parent: PDFDict,
  parentRef: PDFRef,
  bookmarks: readonly CopiedBookmark[],
): number {
  const refs = bookmarks.map(() => target.nextRef());
  let showing = 0;
  bookmarks.forEach((bookmark, index) => {
    const [ref, previous, next] = [refs[index], refs[index - 1], refs[index + 1]];
    if (ref === undefined) return;
    const dict = target.obj({ Title: bookmark.title, Parent: parentRef, Prev: previous, Next: next });
    for (const [key, value] of bookmark.entries) dict.set(key, value);
    target.assign(ref, dict);
    showing += 1;
    if (bookmark.children.length === 0) return;
    const below = linkSiblings(target, dict, ref, bookmark.children);
    dict.set(PDFName.of('Count'), PDFNumber.of(bookmark.open ? below : -below));
    if (bookmark.open) showing += below;
  });
  parent.set(PDFName.of('First'), refs[0] ?? PDFNull);
  parent.set(PDFName.of('Last'), refs.at(-1) ?? PDFNull);
  return showing;
}
