import type { FileTypeId } from '../lib/media-types.ts';
import { bytesAt, type ContentSample, latin1 } from './content-sample.ts';
import { palmBook } from './sniff-containers.ts';

/** Beginnings that are long enough, or strange enough, to be believed alone. */
const marks: readonly [mark: string, type: FileTypeId][] = [
  ['%PDF-', 'pdf'],
  ['%FDF-', 'fdf'],
  ['{\\rtf', 'rtf'],
  ['FUJIFILMCCD-RAW', 'raw'],
  ['Rar!\x1a\x07\0', 'rar'],
  ['Rar!\x1a\x07\x01\0', 'rar'],
  ['MSCF\0\0\0\0', 'cab'],
  ['BZh?1AY&SY', 'bz2'],
  ['BZh?\x17rE8P\x90', 'bz2'],
  ['ARROW1\0\0', 'arrow'],
  ['age-encryption.org/v1\n', 'age'],
  ['-----BEGIN AGE ENCRYPTED FILE-----', 'age'],
];

/** A format by a mark at its beginning; `?` in a mark is any byte. */
export function byMark(sample: ContentSample): FileTypeId | undefined {
  const start = latin1(sample.head, 0, 40);
  const found = marks.find(([mark]) => startsWith(start, mark));
  return found?.[1] ?? palmBook(sample.head) ?? parquet(sample) ?? openPgp(sample.head) ?? pkcs12(sample.head);
}

function startsWith(text: string, mark: string): boolean {
  if (text.length < mark.length) return false;
  return Array.from(mark).every((character, at) => character === '?' || character === text[at]);
}

/** Parquet has its mark at both ends: four letters alone begin many a text. */
function parquet({ head, tail }: ContentSample): FileTypeId | undefined {
  const end = latin1(tail, Math.max(0, tail.length - 4), tail.length);
  return latin1(head, 0, 4) === 'PAR1' && end === 'PAR1' ? 'parquet' : undefined;
}

const armour = /^\s*-----BEGIN PGP MESSAGE-----\s*$/m;

/** A message to keys or under a password: what follows the first packet must be one that may. */
function openPgp(head: Buffer): FileTypeId | undefined {
  if (armour.test(latin1(head, 0, 200).split('\n-----')[0] ?? '')) return 'gpg';
  const first = pgpPacket(head, 0);
  if (first === undefined || !isSessionKey(head, first)) return undefined;
  const next = pgpPacket(head, first.end);
  return next !== undefined && [1, 3, 9, 10, 18, 20].includes(next.tag) ? 'gpg' : undefined;
}

/** An encrypted session key: for a public key (tag 1, version 3 or 6) or for a password (tag 3, version 4 to 6). */
function isSessionKey(head: Buffer, { tag, body }: PgpPacket): boolean {
  const version = head[body] ?? 0;
  return tag === 1 ? version === 3 || version === 6 : tag === 3 && version >= 4 && version <= 6;
}

interface PgpPacket {
  tag: number;
  /** Where its content begins and ends, in bytes from the start. */
  body: number;
  end: number;
}

/** RFC 9580, section 4.2; a length in parts, which only data packets have, ends with its first part. */
function pgpPacket(head: Buffer, at: number): PgpPacket | undefined {
  const header = head[at] ?? 0;
  if (at + 6 > head.length || (header & 0x80) === 0) return undefined;
  const packet = (tag: number, lengthBytes: number, length: number): PgpPacket => {
    const body = at + 1 + lengthBytes;
    return { tag, body, end: body + length };
  };
  if ((header & 0x40) === 0) {
    const tag = (header >> 2) & 15;
    const lengthBytes = [1, 2, 4, 0][header & 3]!;
    return packet(tag, lengthBytes, lengthBytes === 0 ? head.length : head.readUIntBE(at + 1, lengthBytes));
  }
  const tag = header & 63;
  const first = head[at + 1] ?? 0;
  if (first < 192) return packet(tag, 1, first);
  if (first < 224) return packet(tag, 2, ((first - 192) << 8) + (head[at + 2] ?? 0) + 192);
  return first === 255 ? packet(tag, 5, head.readUInt32BE(at + 2)) : packet(tag, 1, 2 ** (first & 31));
}

const pkcs7 = Buffer.from('06092a864886f70d0107', 'hex');

/** A PKCS #12 store: an ASN.1 sequence of version 3 and PKCS #7 content. */
function pkcs12(head: Buffer): FileTypeId | undefined {
  if (head[0] !== 0x30 || head.length < 20) return undefined;
  const length = head[1] ?? 0;
  const at = length <= 0x80 ? 2 : 2 + (length & 0x7f);
  const isVersion3 = at + 4 < head.length && head.readUInt32BE(at) === 0x02010330;
  return isVersion3 && head.subarray(at, at + 24).includes(pkcs7) ? 'p12' : undefined;
}

const eotVersions = new Set([0x00010000, 0x00020001, 0x00020002]);

/** Fonts: a TrueType file begins with a number, so its directory of tables must make sense too. */
export function font({ head, size }: ContentSample): FileTypeId | undefined {
  if (head.length < 36) return undefined;
  if (head.readUInt16LE(34) === 0x504c && head.readUInt32LE(0) === size && eotVersions.has(head.readUInt32LE(8)))
    return 'eot';
  switch (latin1(head, 0, 4)) {
    case 'wOFF':
      return 'woff';
    case 'wOF2':
      return 'woff2';
    case 'OTTO':
      return holdsFontTables(head, size) ? 'otf' : undefined;
    case '\0\x01\0\0':
    case 'true':
      return holdsFontTables(head, size) ? 'ttf' : undefined;
    default:
      return undefined;
  }
}

function holdsFontTables(head: Buffer, size: number): boolean {
  const count = head.readUInt16BE(4);
  if (count < 1 || count > 256 || head.length < 12 + count * 16) return false;
  const fits = (at: number) => /^[ -~]{4}$/.test(latin1(head, at, at + 4)) && head.readUInt32BE(at + 8) <= size;
  return Array.from({ length: count }, (_, index) => 12 + index * 16).every(fits);
}

/** Where an ISO 9660 or UDF image has its first descriptor; what stands before is anybody's, often a boot loader. */
const firstDescriptor = 16 * 2048;

export function diskImage(sample: ContentSample): FileTypeId | undefined {
  const mark = bytesAt(sample, firstDescriptor + 1, 5)?.toString('latin1');
  return mark === 'CD001' || mark === 'BEA01' ? 'iso' : undefined;
}
