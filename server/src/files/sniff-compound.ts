import type { FileTypeId } from '../lib/media-types.ts';
import { bytesAt, type ContentSample } from './content-sample.ts';

/** Streams and storages by which a compound file is known, the ones that may hold others first. */
const compoundMarks: readonly [name: string, type: FileTypeId][] = [
  ['EncryptedPackage', 'encrypted_office'],
  ['StrongEncryptionDataSpace', 'encrypted_office'],
  ['__properties_version1.0', 'msg'],
  ['PowerPoint Document', 'ppt'],
  ['WordDocument', 'doc'],
  ['Workbook', 'xls'],
  ['Book', 'xls'],
];

/** Where a file without a found directory usually has its first stream, and how that stream begins. */
const firstSector = 512;
const streamStarts: Partial<Record<number, FileTypeId>> = { 0xa5ec: 'doc', 0xa5dc: 'doc', 0x0809: 'xls' };
/** EMF, WMF, PICT, JPEG, PNG, DIB, TIFF and JPEG in CMYK, as `Pictures` holds them. */
const pictureRecords = [0xf01a, 0xf01b, 0xf01c, 0xf01d, 0xf01e, 0xf01f, 0xf029, 0xf02a];

/**
 * What an OLE compound file holds: locked OOXML, an Office 97-2003 document, an Outlook message, or nothing we read. The
 * root's own streams decide, since a document may hold other documents; where the directory lies between both ends of
 * the sample, any entry that is seen does.
 */
export function compoundFile(sample: ContentSample): FileTypeId {
  const entries = compoundDirectory(sample);
  const ofRoot = typeOfStreams(childrenOfRoot(entries).map(({ name }) => name));
  if (ofRoot !== undefined) return ofRoot;
  const seen = [sample.head, sample.tail].flatMap((bytes) => compoundMarks.filter(([name]) => holdsEntry(bytes, name)));
  const anywhere = typeOfStreams(seen.map(([name]) => name));
  if (anywhere !== undefined) return anywhere;
  return typeOfStart(bytesAt(sample, firstSector, 4)) ?? 'binary';
}

/** A presentation begins with its pictures, or else with the record of the whole document. */
function typeOfStart(bytes: Buffer | undefined): FileTypeId | undefined {
  if (bytes === undefined) return undefined;
  const [start, record] = [bytes.readUInt16LE(0), bytes.readUInt16LE(2)];
  if (pictureRecords.includes(record) || (start === 0x000f && record === 0x03e8)) return 'ppt';
  return streamStarts[start];
}

/** Case does not count in names of streams: some report writers capitalise them all. */
function typeOfStreams(names: readonly string[]): FileTypeId | undefined {
  const found = new Set(names.map((name) => name.toLowerCase()));
  return compoundMarks.find(([name]) => found.has(name.toLowerCase()))?.[1];
}

/** Whether these bytes hold a directory entry of this name: the name in UTF-16, closed by a zero. */
function holdsEntry(bytes: Buffer, name: string): boolean {
  const mark = Buffer.from(name + '\0', 'utf16le');
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 2)) {
    const length = at + 66 <= bytes.length ? bytes.readUInt16LE(at + 64) : 0;
    if (length === mark.length || length === 0) return true;
  }
  return false;
}

interface CompoundEntry {
  name: string;
  left: number;
  right: number;
  child: number;
}

const entryLength = 128;
/** Sectors of the directory that are followed: 512 entries of the usual kind. */
const mostDirectorySectors = 128;

function compoundDirectory(sample: ContentSample): CompoundEntry[] {
  const { head } = sample;
  if (head.length < 512) return [];
  const shift = head.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return [];
  const sectorLength = 2 ** shift;
  const entries: CompoundEntry[] = [];
  let sector = head.readUInt32LE(48);
  for (let n = 0; n < mostDirectorySectors; n++) {
    const bytes = bytesAt(sample, (sector + 1) * sectorLength, sectorLength);
    if (bytes === undefined) break;
    for (let at = 0; at < sectorLength; at += entryLength) entries.push(compoundEntry(bytes.subarray(at)));
    const next = nextSector(sample, sector, sectorLength);
    if (next === undefined) break;
    sector = next;
  }
  return entries;
}

function compoundEntry(bytes: Buffer): CompoundEntry {
  const nameLength = Math.max(0, Math.min(bytes.readUInt16LE(64), 64) - 2);
  return {
    name: bytes.toString('utf16le', 0, nameLength),
    left: bytes.readUInt32LE(68),
    right: bytes.readUInt32LE(72),
    child: bytes.readUInt32LE(76),
  };
}

/** The sector that follows in the allocation table; only its first 109 sectors are looked up, which map 6.8 MB or more. */
function nextSector(sample: ContentSample, sector: number, sectorLength: number): number | undefined {
  const perSector = sectorLength / 4;
  const index = Math.floor(sector / perSector);
  if (index >= 109) return undefined;
  const table = sample.head.readUInt32LE(76 + index * 4);
  const value = bytesAt(sample, (table + 1) * sectorLength + (sector % perSector) * 4, 4)?.readUInt32LE();
  return value === undefined || value >= 0xfffffffa ? undefined : value;
}

/** The entries right below the root: a binary tree of siblings, walked with care for loops. */
function childrenOfRoot(entries: readonly CompoundEntry[]): CompoundEntry[] {
  const found: CompoundEntry[] = [];
  const visited = new Set<number>();
  const waiting = [entries[0]?.child ?? -1];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const entry = entries[id];
    if (entry === undefined || visited.has(id)) continue;
    visited.add(id);
    found.push(entry);
    waiting.push(entry.left, entry.right);
  }
  return found;
}
