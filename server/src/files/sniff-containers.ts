import { constants, gunzipSync } from 'node:zlib';
import type { FileTypeId } from '../lib/media-types.ts';
import { type ContentSample, latin1 } from './content-sample.ts';
import { startsAsSvg } from './sniff-text.ts';

const localHeader = 0x04034b50;
const centralHeader = Buffer.from('PK\x01\x02', 'latin1');
const endOfDirectory = Buffer.from('PK\x05\x06', 'latin1');

/** What the uncompressed first entry `mimetype` of an OpenDocument or an EPUB may say. */
const packageTypes: Partial<Record<string, FileTypeId>> = {
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.text-template': 'odt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.spreadsheet-template': 'ods',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/vnd.oasis.opendocument.presentation-template': 'odp',
  'application/epub+zip': 'epub',
};

/** What is inside a ZIP, told from the names of its entries; anything unknown is a plain `zip`. */
export function zipFile(sample: ContentSample): FileTypeId {
  const declared = packageTypes[packageType(sample.head) ?? ''];
  if (declared !== undefined) return declared;
  const names = [...localNames(sample.head), ...centralNames(sample.tail)];
  if (names.includes('[Content_Types].xml')) return officeType(names);
  // EPUBs that were zipped again by hand have lost the order that the mark depends on.
  if (names.includes('META-INF/container.xml') && names.some((name) => name.endsWith('.opf'))) return 'epub';
  return appleType(names) ?? 'zip';
}

const endOfDirectoryLength = 22;

/** Whether a file that begins as something else ends with the list of a ZIP, as programs do that unpack themselves. */
export function endsAsZip({ tail }: ContentSample): boolean {
  const end = tail.lastIndexOf(endOfDirectory);
  if (end < 0 || end + endOfDirectoryLength > tail.length) return false;
  if (end + endOfDirectoryLength + tail.readUInt16LE(end + 20) !== tail.length) return false;
  const start = directoryStart(tail);
  // A list that is longer than the sample begins before it.
  return start === 0 || tail.subarray(start).indexOf(centralHeader) === 0;
}

function packageType(head: Buffer): string | undefined {
  if (head.length < 38 || latin1(head, 30, 38) !== 'mimetype') return undefined;
  const start = 38 + head.readUInt16LE(28);
  const length = Math.min(head.readUInt32LE(18), 128);
  return latin1(head, start, start + length).trim();
}

/** Macros and templates (DOCM, XLTX, PPSX, …) have the same parts. */
function officeType(names: readonly string[]): FileTypeId {
  if (names.some((name) => name.startsWith('word/'))) return 'docx';
  if (names.some((name) => name.startsWith('xl/'))) return 'xlsx';
  if (names.some((name) => name.startsWith('ppt/'))) return 'pptx';
  return 'zip';
}

/** Keynote and Pages: slides tell them apart. Before 2013 they held XML, since then archives of messages. */
function appleType(names: readonly string[]): FileTypeId | undefined {
  if (names.some((name) => /^index\.apxl(\.gz)?$/.test(name))) return 'key';
  if (names.some((name) => /^index\.xml(\.gz)?$/.test(name)) && names.includes('buildVersionHistory.plist'))
    return 'pages';
  if (!names.some((name) => name.startsWith('Index/') && name.endsWith('.iwa'))) return undefined;
  return names.some((name) => /^Index\/(Master|Template)?Slide/.test(name)) ? 'key' : 'pages';
}

/** Entry names at the start of the archive, as far as their sizes are told ahead of the data. */
function* localNames(head: Buffer): Generator<string> {
  let at = 0;
  while (at + 30 <= head.length && head.readUInt32LE(at) === localHeader) {
    const nameLength = head.readUInt16LE(at + 26);
    yield latin1(head, at + 30, at + 30 + nameLength);
    const sizeFollowsData = (head.readUInt16LE(at + 6) & 8) !== 0;
    if (sizeFollowsData) return;
    at += 30 + nameLength + head.readUInt16LE(at + 28) + head.readUInt32LE(at + 18);
  }
}

/** Entry names of the directory at the end of the archive. */
function* centralNames(tail: Buffer): Generator<string> {
  let at = tail.indexOf(centralHeader, directoryStart(tail));
  while (at >= 0 && at + 46 <= tail.length) {
    const nameLength = tail.readUInt16LE(at + 28);
    yield latin1(tail, at + 46, at + 46 + nameLength);
    at = tail.indexOf(centralHeader, at + 46 + nameLength);
  }
}

/**
 * Where the directory begins in the tail: what lies ahead of it can be an archive that is stored in this one, such as the
 * workbook of a chart on a slide. 0 when it begins before the tail, or its end is not found.
 */
function directoryStart(tail: Buffer): number {
  const end = tail.lastIndexOf(endOfDirectory);
  return end < 0 || end + 16 > tail.length ? 0 : Math.max(0, end - tail.readUInt32LE(end + 12));
}

/** Compressed bytes that are unpacked to see how a gzip file begins; deflate makes at most a thousandfold of them. */
const gzipLooked = 4096;

/** A drawing in gzip is an SVGZ, anything else is `gz`. */
export function gzipFile(head: Buffer): FileTypeId {
  try {
    const start = gunzipSync(head.subarray(0, gzipLooked), { finishFlush: constants.Z_SYNC_FLUSH });
    return startsAsSvg(start) ? 'svgz' : 'gz';
  } catch {
    return 'gz';
  }
}

/** Mobipocket and Kindle books are Palm databases; the version in the first record tells the two apart. */
export function palmBook(head: Buffer): FileTypeId | undefined {
  if (head.length < 86 || latin1(head, 60, 68) !== 'BOOKMOBI') return undefined;
  const record = head.readUInt32BE(78);
  const version = record + 40 <= head.length ? head.readUInt32BE(record + 36) : 0;
  return version === 8 ? 'azw3' : 'mobi';
}
