import type { PDFArray, PDFDict } from '@cantoo/pdf-lib';
import { PDFName, PDFRef, type PDFContext, type PDFObject } from '@cantoo/pdf-lib';
import type { Copier } from './copy.ts';
import { arrayEntry, dictEntry, nameEntry } from './objects.ts';

/**
 * Joins the optional content (layers) of all files: without it, hidden layers of a copied page would show.
 */
export function mergeLayers(target: PDFContext, catalog: PDFDict, copiers: readonly Copier[]): void {
  const layers: PDFObject[] = [];
  const hidden: PDFObject[] = [];
  const order: PDFObject[] = [];
  const seenFiles = new Set<unknown>();
  for (const copier of copiers) {
    const properties = dictEntry(copier.file.catalog, 'OCProperties');
    if (properties === undefined || seenFiles.has(copier.file)) continue;
    seenFiles.add(copier.file);
    const all = references(arrayEntry(properties, 'OCGs'));
    const config = dictEntry(properties, 'D');
    layers.push(...all.map((layer) => copier.copy(layer)));
    hidden.push(...hiddenLayers(all, config).map((layer) => copier.copy(layer)));
    const shown = config === undefined ? undefined : arrayEntry(config, 'Order');
    order.push(...(shown?.asArray() ?? []).map((element) => copier.copy(element)));
  }
  if (layers.length === 0) return;
  const config = target.obj({ OFF: hidden, Order: order });
  catalog.set(PDFName.of('OCProperties'), target.obj({ OCGs: layers, D: config }));
}

function references(array: PDFArray | undefined): PDFRef[] {
  return (array?.asArray() ?? []).filter((element) => element instanceof PDFRef);
}

function hiddenLayers(all: readonly PDFRef[], config: PDFDict | undefined): PDFRef[] {
  if (config === undefined) return [];
  const off = new Set(references(arrayEntry(config, 'OFF')));
  if (nameEntry(config, 'BaseState') !== 'OFF') return all.filter((layer) => off.has(layer));
  const on = new Set(references(arrayEntry(config, 'ON')));
  return all.filter((layer) => !on.has(layer));
}
