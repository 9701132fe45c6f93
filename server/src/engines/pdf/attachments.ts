import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { PDFDict, PDFName, PDFRawStream, PDFStream, type PDFObject } from '@cantoo/pdf-lib';
import { Failure } from '../../lib/failure.ts';
import { annotationsOf, dictOf } from './copy.ts';
import type { PdfFile } from './document.ts';
import { dictEntry, entry, nameEntry, numberEntry, resolve, textOf, treeLeaves } from './objects.ts';
import { decodeStream, filtersOf } from './streams.ts';

/** A file inside a PDF. */
export interface Attachment {
  /** As the PDF says it: may be a path, or anything else. */
  name: string;
  description: string | undefined;
  /** Bytes, as the PDF says it; undefined when it does not. */
  size: number | undefined;
  stream: PDFStream;
}

/** The files that a PDF holds as a whole, then those that stand on its pages; each once. */
export function attachmentsOf(file: PdfFile): Attachment[] {
  const found = new Map<PDFStream, Attachment>();
  const add = (specification: PDFObject | undefined, name: string | undefined) => {
    const dict = specification === undefined ? undefined : dictOf(file, specification);
    const attachment = dict && readSpecification(dict, name);
    if (attachment !== undefined && !found.has(attachment.stream)) found.set(attachment.stream, attachment);
  };
  const names = dictEntry(file.catalog, 'Names');
  for (const [key, value] of treeLeaves(names && dictEntry(names, 'EmbeddedFiles'), 'Names')) add(value, textOf(key));
  for (const page of file.pages) {
    for (const annotation of annotationsOf(file, page)) {
      const dict = dictOf(file, annotation);
      if (dict !== undefined && nameEntry(dict, 'Subtype') === 'FileAttachment') add(entry(dict, 'FS'), undefined);
    }
  }
  return [...found.values()];
}

/** Leaves out the files that a PDF holds as a whole and those that stand on its pages; in place. */
export function removeAttachments(file: PdfFile): void {
  const { catalog, context } = file;
  dictEntry(catalog, 'Names')?.delete(PDFName.of('EmbeddedFiles'));
  for (const key of ['Collection', 'AF']) catalog.delete(PDFName.of(key));
  for (const page of file.pages) {
    const annotations = annotationsOf(file, page);
    const kept = annotations.filter((annotation) => {
      const dict = dictOf(file, annotation);
      return dict === undefined || nameEntry(dict, 'Subtype') !== 'FileAttachment';
    });
    if (kept.length === annotations.length) continue;
    const dict = resolve(context, page);
    if (dict instanceof PDFDict) dict.set(PDFName.of('Annots'), context.obj(kept));
  }
}

/** Older files name a file for each system it came from. */
const nameKeys = ['UF', 'F', 'Unix', 'Mac', 'DOS'];

function readSpecification(dict: PDFDict, fallback: string | undefined): Attachment | undefined {
  const files = dictEntry(dict, 'EF');
  if (files === undefined) return undefined; // It only names a file elsewhere.
  const stream = nameKeys.map((key) => entry(files, key)).find((value) => value instanceof PDFStream);
  if (!(stream instanceof PDFStream)) return undefined;
  const name = nameKeys.map((key) => textOf(entry(dict, key))).find((text) => text !== undefined && text !== '');
  const parameters = dictEntry(stream.dict, 'Params');
  return {
    name: name ?? fallback ?? '',
    description: textOf(entry(dict, 'Desc')),
    size: parameters && numberEntry(parameters, 'Size'),
    stream,
  };
}

/**
 * Writes what an attachment holds to `path`, at most `maxBytes`; returns its size.
 *
 * @throws Failure `resource_limit` for more, `invalid_input` when it is damaged.
 */
export async function writeAttachment(
  { stream, name }: Attachment,
  path: string,
  { filename, maxBytes, signal }: { filename: string; maxBytes: number; signal: AbortSignal },
): Promise<number> {
  const filters = filtersOf(stream.dict);
  const isPlainFlate = filters.length === 1 && filters[0] === 'FlateDecode' && !hasParameters(stream);
  if (!isPlainFlate || !(stream instanceof PDFRawStream)) {
    const data = decodeStream(stream);
    if (data === undefined) throw damaged(filename, name);
    if (data.length > maxBytes) throw tooLarge(filename);
    await writeFile(path, data);
    return data.length;
  }
  let size = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > maxBytes) done(tooLarge(filename));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.from([stream.contents]), createInflate(), count, createWriteStream(path), { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Failure ? error : damaged(filename, name, error);
  }
  return size;
}

function hasParameters(stream: PDFStream): boolean {
  return entry(stream.dict, 'DecodeParms') !== undefined;
}

function damaged(file: string, name: string, cause?: unknown): Failure {
  return new Failure('invalid_input', `The attachment "${name.slice(0, 100)}" of ${file} is damaged.`, { file, cause });
}

function tooLarge(file: string): Failure {
  return new Failure('resource_limit', `The attachments of ${file} are larger than is allowed.`, { file });
}
