import { open } from 'node:fs/promises';
import type { FileTypeId } from '../lib/media-types.ts';
import { baseMediaType, compoundFile, icon, tar, tiffOrRaw, windowsBitmap, zipFile } from './sniff-binary.ts';
import { decodeLegacyText, decodeUnicode, startsAsHtml, textType } from './sniff-text.ts';

/** What is looked at of a file: its first and its last 64 kB, which overlap when it is smaller than both together. */
export interface ContentSample {
  head: Buffer;
  tail: Buffer;
  /** Of the whole file, in bytes. */
  size: number;
}

/** Bytes kept of either end of a file. */
export const sampleLength = 64 * 1024;

/** Nothing at all was sent: no format, and worth a sentence of its own to the caller. */
export function isEmpty(sample: Pick<ContentSample, 'size'>): boolean {
  return sample.size === 0;
}

/**
 * The format a file's content shows; its name is never asked. `binary` when nothing fits, also for an empty file.
 * Never throws: hostile bytes are at worst `binary`.
 */
export async function sniff(sample: ContentSample): Promise<FileTypeId> {
  if (isEmpty(sample)) return 'binary';
  const structured = byStructure(sample);
  if (structured !== undefined) return structured;
  // A page that carries a PDF further down is shown by a browser as the page, so a page is what it is.
  if (startsAsHtml(sample.head)) return 'html';
  if (isPdfBehindJunk(sample)) return 'pdf';
  const text = decodeUnicode(sample);
  if (text !== undefined) return textType(text);
  const signature = await bySignature(sample.head);
  if (signature !== undefined) return signature;
  const legacyText = decodeLegacyText(sample);
  return legacyText === undefined ? 'binary' : textType(legacyText);
}

/** As `sniff`, for a file on disk; reads only its two ends. */
export async function sniffFile(path: string): Promise<FileTypeId> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const head = Buffer.alloc(Math.min(size, sampleLength));
    await file.read(head, 0, head.length, 0);
    if (size <= sampleLength) return await sniff({ head, tail: head, size });
    const tail = Buffer.alloc(sampleLength);
    await file.read(tail, 0, tail.length, size - sampleLength);
    return await sniff({ head, tail, size });
  } finally {
    await file.close();
  }
}

/** Formats whose mark is shared with others or easily met by accident: the structure behind it decides. */
function byStructure(sample: ContentSample): FileTypeId | undefined {
  const { head } = sample;
  if (startsWith(head, '%PDF-')) return 'pdf';
  if (startsWith(head, '{\\rtf')) return 'rtf';
  if (startsWith(head, 'PK\x03\x04') || startsWith(head, 'PK\x05\x06')) return zipFile(sample);
  if (startsWith(head, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return compoundFile(sample);
  if (startsWith(head, 'FUJIFILMCCD-RAW')) return 'raw';
  return tiffOrRaw(sample) ?? baseMediaType(head) ?? tar(head) ?? icon(sample) ?? windowsBitmap(head);
}

/** Readers search `%PDF-` in the first 1,024 bytes; prose that only mentions it has no end-of-file mark of a PDF. */
function isPdfBehindJunk({ head, tail }: ContentSample): boolean {
  return head.subarray(0, 1024).includes('%PDF-') && tail.includes('startxref') && tail.includes('%%EOF');
}

const signatures: Partial<Record<string, FileTypeId>> = {
  jpg: 'jpeg',
  png: 'png',
  apng: 'png',
  webp: 'webp',
  gif: 'gif',
  jxl: 'jxl',
  psd: 'psd',
  gz: 'gz',
  'tar.gz': 'gz',
  xz: 'xz',
  zst: 'zst',
  '7z': '7z',
};

async function bySignature(head: Buffer): Promise<FileTypeId | undefined> {
  // A bare JPEG XL codestream has a two-byte mark, too short for the library.
  if (head[0] === 0xff && head[1] === 0x0a) return 'jxl';
  const { fileTypeFromBuffer } = await import('file-type');
  // It reads structures of hostile bytes: a parser's exception only means that the bytes are not that format.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  return found === undefined ? undefined : signatures[found.ext];
}

function startsWith(bytes: Buffer, mark: string): boolean {
  return bytes.toString('latin1', 0, mark.length) === mark;
}

/** Takes a sample of bytes that stream past. What is pushed is copied, so that a caller may reuse its buffer. */
export function createSampler(): { push(chunk: Uint8Array): void; sample(): ContentSample } {
  const head = Buffer.allocUnsafe(sampleLength);
  /** The last bytes in a ring that starts at `size % sampleLength`; only made for files that outgrow the head. */
  let ring: Buffer | undefined;
  let size = 0;

  function pushToRing(chunk: Uint8Array, into: Buffer): void {
    const skipped = Math.max(0, chunk.length - sampleLength);
    const end = chunk.subarray(skipped);
    const at = (size + skipped) % sampleLength;
    const untilWrap = Math.min(end.length, sampleLength - at);
    into.set(end.subarray(0, untilWrap), at);
    into.set(end.subarray(untilWrap), 0);
  }

  return {
    push(chunk) {
      if (size < sampleLength) head.set(chunk.subarray(0, sampleLength - size), size);
      if (size + chunk.length > sampleLength) {
        ring ??= Buffer.from(head);
        pushToRing(chunk, ring);
      }
      size += chunk.length;
    },
    sample() {
      if (ring === undefined) {
        const whole = head.subarray(0, size);
        return { head: whole, tail: whole, size };
      }
      const start = size % sampleLength;
      return { head, tail: Buffer.concat([ring.subarray(start), ring.subarray(0, start)]), size };
    },
  };
}

/**
 * Other formats that a tool which accepts the key takes as well, because they are an instance of it or cannot be told
 * from it: every CSV is text, a CSV of one column or one line shows no delimiter, a DOCX is a ZIP.
 */
const compatible: Partial<Record<FileTypeId, readonly FileTypeId[]>> = {
  txt: ['csv', 'tsv', 'json', 'ndjson', 'xml', 'html', 'svg'],
  csv: ['tsv', 'txt'],
  tsv: ['csv', 'txt'],
  ndjson: ['json'],
  xml: ['svg'],
  zip: ['docx', 'xlsx', 'pptx', 'odt'],
};

/** Whether a file that shows as `actual` may be used where `accepted` is asked for. */
export function isCompatible(actual: FileTypeId, accepted: FileTypeId): boolean {
  return actual === accepted || (compatible[accepted]?.includes(actual) ?? false);
}

/**
 * The accepted format a file is to be read as: its own when that is accepted, else the first one it is compatible with
 * (`txt` for a tool of CSV and JSON is a CSV of one column), else undefined. With `any` always its own.
 */
export function acceptedAs(type: FileTypeId, accepts: readonly FileTypeId[] | 'any'): FileTypeId | undefined {
  if (accepts === 'any' || accepts.includes(type)) return type;
  return accepts.find((accepted) => isCompatible(type, accepted));
}

/** Whether a tool that accepts these formats takes a file of this one. */
export function satisfies(type: FileTypeId, accepts: readonly FileTypeId[] | 'any'): boolean {
  return acceptedAs(type, accepts) !== undefined;
}
