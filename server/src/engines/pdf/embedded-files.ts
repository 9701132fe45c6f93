import { PDFArray, PDFHexString, PDFName, type PDFContext, type PDFDict, type PDFObject } from '@cantoo/pdf-lib';
import type { Copier } from './copy.ts';
import { dictEntry, textOf, treeLeaves } from './objects.ts';

/** A file that a document carries as a whole: the name it is found by, and what describes it. */
export interface EmbeddedEntry {
  name: string;
  specification: PDFObject;
}

/** The files a document carries, copied. Those that stand on a page come with the page. */
export function copyEmbeddedFiles(copier: Copier): EmbeddedEntry[] {
  const names = dictEntry(copier.file.catalog, 'Names');
  return [...treeLeaves(names && dictEntry(names, 'EmbeddedFiles'), 'Names')].map(([key, value]) => ({
    name: textOf(key) ?? '',
    specification: copier.copy(value),
  }));
}

/** Names are keys here: of two files with one name the second is found by `name-1`, and still called what it is called. */
export function writeEmbeddedFiles(target: PDFContext, catalog: PDFDict, files: readonly EmbeddedEntry[]): void {
  if (files.length === 0) return;
  const byName = new Map<string, PDFObject>();
  for (const { name, specification } of files) {
    let key = name;
    for (let n = 1; byName.has(key); n++) key = `${name}-${n}`;
    byName.set(key, specification);
  }
  const leaves = PDFArray.withContext(target);
  // UTF-16 in big-endian order sorts like JavaScript's strings.
  for (const key of [...byName.keys()].toSorted((a, b) => (a < b ? -1 : 1))) {
    leaves.push(PDFHexString.fromText(key));
    leaves.push(byName.get(key)!);
  }
  const tree = target.obj({});
  tree.set(PDFName.of('Names'), leaves);
  const names = target.obj({});
  names.set(PDFName.of('EmbeddedFiles'), target.register(tree));
  catalog.set(PDFName.of('Names'), target.register(names));
}
