import { PDFDict, PDFName, PDFStream } from '@cantoo/pdf-lib';
import type { PdfFile } from './document.ts';
import { arrayEntry, entry, nameEntry, numberEntry, resolve, streamEntry } from './objects.ts';
import { reachableObjects } from './write.ts';

/** Whether anything in a file lets shine through what lies below it. */
export function isTransparent(file: PdfFile): boolean {
  return reachableObjects(file.context).some(([, object]) => {
    const dict = object instanceof PDFStream ? object.dict : object;
    if (!(dict instanceof PDFDict)) return false;
    const mask = entry(dict, 'SMask');
    const blend = nameEntry(dict, 'BM') ?? 'Normal';
    const isFaint = (numberEntry(dict, 'ca') ?? 1) < 1 || (numberEntry(dict, 'CA') ?? 1) < 1;
    return isFaint || (mask !== undefined && mask !== PDFName.of('None')) || !['Normal', 'Compatible'].includes(blend);
  });
}

/** Whether a file says, as PDF/A wants it, what its colours mean. */
export function hasOutputIntent({ catalog, context }: PdfFile): boolean {
  return (arrayEntry(catalog, 'OutputIntents')?.asArray() ?? []).some((value) => {
    const intent = resolve(context, value);
    if (!(intent instanceof PDFDict)) return false;
    return nameEntry(intent, 'S') === 'GTS_PDFA1' && streamEntry(intent, 'DestOutputProfile') !== undefined;
  });
}
