import { PDFArray, PDFDict, PDFName, PDFNull, PDFNumber, PDFRef, PDFStream, type PDFObject } from '@cantoo/pdf-lib';
import type { PdfFile } from './document.ts';
import { dictEntry, entry, keyOf, nameEntry, rawEntry, resolve, treeLeaves } from './objects.ts';

const namedDestinations = new WeakMap<PdfFile, Map<string, PDFObject>>();

/** The named destinations of a file: the name tree of newer files and the dictionary of older ones. */
function namesOf(file: PdfFile): Map<string, PDFObject> {
  const known = namedDestinations.get(file);
  if (known !== undefined) return known;
  const names = new Map<string, PDFObject>();
  for (const [key, value] of dictEntry(file.catalog, 'Dests')?.entries() ?? []) names.set(key.decodeText(), value);
  const tree = dictEntry(file.catalog, 'Names');
  for (const [key, value] of treeLeaves(tree && dictEntry(tree, 'Dests'), 'Names')) {
    const name = keyOf(key);
    if (name !== undefined) names.set(name, value);
  }
  namedDestinations.set(file, names);
  return names;
}

/**
 * A destination as an array that begins with a page reference: names are looked up, page numbers (which some programs
 * write) turned into references. Undefined when it leads nowhere.
 */
export function explicitDestination(file: PdfFile, destination: PDFObject | undefined): PDFArray | undefined {
  let value = resolve(file.context, destination);
  const name = keyOf(value);
  if (name !== undefined) value = resolve(file.context, namesOf(file).get(name));
  if (value instanceof PDFDict) value = entry(value, 'D');
  if (!(value instanceof PDFArray) || value.size() === 0) return undefined;
  const target = value.get(0);
  const page = target instanceof PDFNumber ? file.pages[target.asNumber()] : target;
  if (!(page instanceof PDFRef)) return undefined;
  const explicit = PDFArray.withContext(file.context);
  explicit.push(page);
  for (const element of value.asArray().slice(1)) explicit.push(element);
  if (explicit.size() === 1) explicit.push(PDFName.of('Fit'));
  return explicit;
}

/** Where a link annotation or an outline item leads within its own file. */
export function localTarget(file: PdfFile, owner: PDFDict): PDFArray | undefined {
  const direct = rawEntry(owner, 'Dest');
  if (direct !== undefined) return explicitDestination(file, direct);
  const action = dictEntry(owner, 'A');
  if (action === undefined || nameEntry(action, 'S') !== 'GoTo') return undefined;
  return explicitDestination(file, rawEntry(action, 'D'));
}

export interface OutlineItem {
  title: PDFObject;
  /** Where it leads within the file. */
  destination: PDFArray | undefined;
  /** What else it does, such as opening an address. */
  action: PDFDict | undefined;
  /** Colour and font style, as they stand. */
  style: [PDFName, PDFObject][];
  open: boolean;
  children: OutlineItem[];
}

/** Deeper outlines than this exist only in hostile files. */
const maxOutlineDepth = 64;
const maxOutlineItems = 50_000;

/** The bookmarks of a file; loops and endless chains are cut. */
export function readOutline(file: PdfFile): OutlineItem[] {
  const seen = new Set<PDFDict>();
  const read = (parent: PDFDict, depth: number): OutlineItem[] => {
    const items: OutlineItem[] = [];
    let node = dictEntry(parent, 'First');
    while (node !== undefined && !seen.has(node) && seen.size < maxOutlineItems) {
      seen.add(node);
      const children = depth < maxOutlineDepth ? read(node, depth + 1) : [];
      items.push(outlineItem(file, node, children));
      node = dictEntry(node, 'Next');
    }
    return items;
  };
  const root = dictEntry(file.catalog, 'Outlines');
  return root === undefined ? [] : read(root, 0);
}

function outlineItem(file: PdfFile, node: PDFDict, children: OutlineItem[]): OutlineItem {
  const action = dictEntry(node, 'A');
  const isLocal = action !== undefined && nameEntry(action, 'S') === 'GoTo';
  const count = entry(node, 'Count');
  return {
    title: entry(node, 'Title') ?? PDFNull,
    destination: localTarget(file, node),
    action: isLocal ? undefined : action,
    style: node.entries().filter(([key]) => key === PDFName.of('C') || key === PDFName.of('F')),
    open: count instanceof PDFNumber && count.asNumber() > 0,
    children,
  };
}

/** The 0-based index of the page a destination leads to. */
export function pageIndexOf(file: PdfFile, destination: PDFArray | undefined): number | undefined {
  const page = destination?.get(0);
  const index = file.pages.findIndex((candidate) => candidate === page);
  return index === -1 ? undefined : index;
}

/** A form XObject, an image or a plain object: the dictionary that describes it. */
export function describingDict(value: PDFObject | undefined): PDFDict | undefined {
  if (value instanceof PDFStream) return value.dict;
  return value instanceof PDFDict ? value : undefined;
}
