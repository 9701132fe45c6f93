import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import {
  PDFArray,
  PDFDict,
  PDFName,
  PDFRawStream,
  PDFRef,
  PDFStream,
  type PDFContext,
  type PDFObject,
} from '@cantoo/pdf-lib';
import type { PdfFile } from './document.ts';
import { decodeStream, filtersOf } from './streams.ts';
import { childrenOf, reachableObjects } from './write.ts';

/** Entries of any dictionary that only describe: document properties, private data of programs, thumbnails. */
const descriptive = ['Metadata', 'PieceInfo', 'LastModified', 'Thumb'].map((name) => PDFName.of(name));

/** Removes what says who made the file with what, and when. */
export function removeMetadata(file: PdfFile): void {
  delete file.context.trailerInfo.Info;
  for (const [, object] of reachableObjects(file.context)) {
    const dict = object instanceof PDFStream ? object.dict : object;
    if (!(dict instanceof PDFDict)) continue;
    for (const key of descriptive) dict.delete(key);
  }
}

/** Filters that store general data in more bytes than Flate. */
const wasteful = new Set(['LZWDecode', 'ASCII85Decode', 'ASCIIHexDecode', 'RunLengthDecode']);

/** Compresses what is stored uncompressed or in an older way; what is already compressed stays. */
export function compressStreams(file: PdfFile): void {
  for (const [ref, object] of reachableObjects(file.context)) {
    if (!(object instanceof PDFRawStream)) continue;
    const filters = filtersOf(object.dict);
    if (!filters.every((filter) => wasteful.has(filter) || filter === 'FlateDecode')) continue;
    if (filters.length === 1 && filters[0] === 'FlateDecode') continue;
    if (object.dict.get(PDFName.of('Type')) === PDFName.of('Metadata')) continue; // Left readable for other programs.
    const decoded = decodeStream(object);
    if (decoded === undefined) continue;
    const data = deflateSync(decoded, { level: 9 });
    if (data.length >= object.contents.length) continue;
    const dict = object.dict.clone();
    dict.delete(PDFName.of('DecodeParms'));
    dict.set(PDFName.of('Filter'), PDFName.of('FlateDecode'));
    file.context.assign(ref, PDFRawStream.of(dict, data));
  }
}

/** Fonts, images and other streams that stand in a file more than once become one. */
export function mergeDuplicates(context: PDFContext): void {
  for (let found = true; found;) {
    const first = new Map<string, PDFRef>();
    const replaced = new Map<PDFRef, PDFRef>();
    for (const [ref, object] of reachableObjects(context)) {
      if (!(object instanceof PDFRawStream)) continue;
      const key = fingerprint(object);
      const known = first.get(key);
      if (known === undefined) first.set(key, ref);
      else replaced.set(ref, known);
    }
    found = replaced.size > 0;
    if (found) replaceReferences(context, replaced);
  }
}

function fingerprint(stream: PDFRawStream): string {
  const dict = stream.dict
    .entries()
    .filter(([key]) => key !== PDFName.of('Length'))
    .map(([key, value]) => `${key.toString()} ${value.toString()}`)
    .toSorted();
  return createHash('sha1').update(dict.join('\n')).update('\0').update(stream.contents).digest('base64');
}

function replaceReferences(context: PDFContext, replaced: ReadonlyMap<PDFRef, PDFRef>): void {
  const target = (value: PDFObject) => (value instanceof PDFRef ? replaced.get(value) : undefined);
  for (const [, object] of reachableObjects(context)) {
    const waiting: PDFObject[] = [object];
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      if (value instanceof PDFRef) continue;
      if (value instanceof PDFArray) replaceInArray(value, target);
      else replaceInDict(value instanceof PDFStream ? value.dict : value, target);
      for (const child of childrenOf(value)) waiting.push(child);
    }
  }
}

type Target = (value: PDFObject) => PDFRef | undefined;

function replaceInArray(array: PDFArray, target: Target): void {
  array.asArray().forEach((element, index) => {
    const ref = target(element);
    if (ref !== undefined) array.set(index, ref);
  });
}

function replaceInDict(dict: PDFObject, target: Target): void {
  if (!(dict instanceof PDFDict)) return;
  for (const [key, value] of dict.entries()) {
    const ref = target(value);
    if (ref !== undefined) dict.set(key, ref);
  }
}
