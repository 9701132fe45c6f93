import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { PassThrough } from 'node:stream';
import { toError } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';
import { damagedArchive } from './archive-reading/member.ts';

const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const openXml = 'http://schemas.openxmlformats.org';

/** The parts that describe a document, each with what it looks like when it describes nothing. */
const emptied: Readonly<Record<string, string>> = {
  'docProps/core.xml': `${xmlHead}<cp:coreProperties xmlns:cp="${openXml}/package/2006/metadata/core-properties"/>`,
  'docProps/app.xml': `${xmlHead}<Properties xmlns="${openXml}/officeDocument/2006/extended-properties"/>`,
  'docProps/custom.xml': `${xmlHead}<Properties xmlns="${openXml}/officeDocument/2006/custom-properties"/>`,
  'meta.xml': `${xmlHead}<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2"><office:meta/></office:document-meta>`,
};

/** A picture of the first page, as it once was. */
const isThumbnail = (name: string) => /^(docProps\/thumbnail\.|Thumbnails\/)/.test(name);

/** Where a document says that it has such a picture; without the picture the saying must go as well. */
const thumbnailMentions: Readonly<Record<string, RegExp>> = {
  '_rels/.rels': /<Relationship\b[^>]*\/metadata\/thumbnail"[^>]*\/>/g,
  'META-INF/manifest.xml': /<manifest:file-entry\b[^>]*"Thumbnails\/[^>]*\/>/g,
};

/** Most of a document's parts, and the largest of those that are rewritten, in bytes. */
const maxParts = 50_000;
const maxRewritten = 1_000_000;

/**
 * Writes a copy of an Office Open XML or OpenDocument file without properties and thumbnail. Every other part is copied:
 * comments and tracked changes keep the names of their authors.
 *
 * @throws Failure `invalid_input` for a damaged document, `resource_limit` for too many parts.
 */
export async function stripOfficeDocument(
  { path, filename }: { path: string; filename: string },
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const [{ openPromise }, { ZipFile }] = await Promise.all([import('yauzl'), import('yazl')]);
  try {
    const source = await openPromise(path, { autoClose: false });
    const copy = new ZipFile();
    const writing = pipeline(copy.outputStream, createWriteStream(target), { signal });
    writing.catch(() => undefined);
    try {
      if (source.entryCount > maxParts) throw new Failure('resource_limit', `"${filename}" has too many parts.`);
      for await (const entry of source.eachEntry()) {
        const name = entry.fileName;
        if (isThumbnail(name)) continue;
        const options = { mtime: entry.getLastModDate() };
        const mention = thumbnailMentions[name];
        if (name.endsWith('/')) copy.addEmptyDirectory(name, options);
        // An OpenDocument file is told by its first part: uncompressed, and with nothing between its name and its content.
        else if (name === 'mimetype' && entry.uncompressedSize <= maxRewritten) {
          const content = await text(await source.openReadStreamPromise(entry));
          copy.addBuffer(Buffer.from(content), name, { ...options, compress: false, forceDosTimestamp: true });
        } else if (emptied[name] !== undefined) copy.addBuffer(Buffer.from(emptied[name]), name, options);
        else if (mention !== undefined && entry.uncompressedSize <= maxRewritten) {
          const content = await text(await source.openReadStreamPromise(entry));
          copy.addBuffer(Buffer.from(content.replaceAll(mention, '')), name, options);
        } else {
          const content = await source.openReadStreamPromise(entry);
          content.once('error', (error) => (copy.outputStream as PassThrough).destroy(error));
          copy.addReadStream(content, name, { ...options, size: entry.uncompressedSize });
          await once(content, 'end');
        }
      }
      copy.end();
      await writing;
    } finally {
      source.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Failure ? error : damagedArchive(filename, toError(error).message);
  }
}
