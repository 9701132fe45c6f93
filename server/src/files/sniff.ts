import { open } from 'node:fs/promises';
import type { FileTypeId } from '../lib/media-types.ts';
import { type ContentSample, isEmpty, latin1, sampleLength } from './content-sample.ts';
import { baseMediaPicture, icon, tar, tiffOrRaw, windowsBitmap } from './sniff-binary.ts';
import { compoundFile } from './sniff-compound.ts';
import { endsAsZip, gzipFile, zipFile } from './sniff-containers.ts';
import { mediaFrames } from './sniff-frames.ts';
import { byMark, diskImage, font } from './sniff-marks.ts';
import { baseMediaFilm, mediaContainer } from './sniff-media.ts';
import { startsAsHtml, textType } from './sniff-text.ts';
import { decodeLegacyText, decodeUnicode } from './text-sample.ts';

/**
 * The format a file's content shows; its name is never asked. `binary` when nothing fits, also for an empty file.
 * Never throws: hostile bytes are at worst `binary`.
 */
export async function sniff(sample: ContentSample): Promise<FileTypeId> {
  if (isEmpty(sample)) return 'binary';
  const structured = byStructure(sample);
  if (structured !== undefined) return structured;
  const text = decodeUnicode(sample);
  // A page that carries a PDF further down is shown by a browser as the page, so a page is what it is.
  if (startsAsHtml(sample.head)) return text === undefined ? 'html' : textType(text);
  if (isPdfBehindJunk(sample)) return 'pdf';
  if (text !== undefined) return textType(text);
  const signature = (await bySignature(sample.head)) ?? mediaFrames(sample);
  if (signature !== undefined) return signature;
  if (endsAsZip(sample)) return 'zip';
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

/** The first entry of a ZIP, the end of an empty one, the mark of one that was split once. */
const zipStarts = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08PK'];

/** Formats that can be told for sure, and those whose mark is met by accident: the structure behind it decides. */
function byStructure(sample: ContentSample): FileTypeId | undefined {
  const { head } = sample;
  const start = latin1(head, 0, 8);
  if (zipStarts.some((mark) => start.startsWith(mark))) return zipFile(sample);
  if (start === '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') return compoundFile(sample);
  if (start.startsWith('\x1f\x8b\x08')) return gzipFile(head);
  const marked = byMark(sample) ?? mediaContainer(sample) ?? tiffOrRaw(sample);
  if (marked !== undefined) return marked;
  const box = baseMediaPicture(head) ?? baseMediaFilm(sample);
  return box ?? tar(head) ?? icon(sample) ?? windowsBitmap(head) ?? font(sample) ?? diskImage(sample);
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
