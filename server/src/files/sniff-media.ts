import type { FileTypeId } from '../lib/media-types.ts';
import { type ContentSample, latin1 } from './content-sample.ts';

/** Sound and film by the marks of their containers. */
export function mediaContainer(sample: ContentSample): FileTypeId | undefined {
  const { head } = sample;
  switch (latin1(head, 0, 4)) {
    case 'RIFF':
    case 'RF64':
    case 'BW64':
    case 'RIFX':
      return riffTypes[latin1(head, 8, 12)];
    case 'FORM':
      return ['AIFF', 'AIFC'].includes(latin1(head, 8, 12)) ? 'aiff' : undefined;
    case 'OggS':
      return oggType(head);
    case '\x1aE\xdf\xa3':
      return matroskaType(head);
    case '0&\xb2u':
      return asfType(head);
    case 'fLaC':
      return head.length > 8 && (head.readUInt32BE(4) & 0x7fffffff) === flacInfoLength ? 'flac' : undefined;
    case 'FLV\x01':
      return 'flv';
    case '#!AM':
      return /^#!AMR(-WB)?(_MC1\.0)?\n/.test(latin1(head, 0, 16)) ? 'amr' : undefined;
    case '\0\0\x01\xba':
    case '\0\0\x01\xb3':
      return mpegStream(head);
    default:
      return undefined;
  }
}

/** The first block of a FLAC file is always this long; its first bit says whether others follow. */
const flacInfoLength = 34;

const riffTypes: Partial<Record<string, FileTypeId>> = { 'AVI ': 'avi', WAVE: 'wav' };

/** How the first packet of a stream in Ogg begins. */
const oggCodecs: readonly [mark: string, type: FileTypeId][] = [
  ['\x80theora', 'ogv'],
  ['OVP80', 'ogv'],
  ['BBCD\0', 'ogv'],
  ['OpusHead', 'opus'],
  ['\x01vorbis', 'ogg'],
  ['\x7fFLAC', 'ogg'],
  ['Speex   ', 'ogg'],
];

/** The streams of an Ogg file are announced by its first pages: one with pictures makes it a film. */
function oggType(head: Buffer): FileTypeId | undefined {
  const found: FileTypeId[] = [];
  for (let at = 0; at + 27 <= head.length && latin1(head, at, at + 4) === 'OggS';) {
    const segments = head[at + 26] ?? 0;
    const body = at + 27 + segments;
    const type = oggCodecs.find(([mark]) => latin1(head, body, body + mark.length) === mark)?.[1];
    if (type !== undefined) found.push(type);
    const beginsStream = ((head[at + 5] ?? 0) & 2) !== 0;
    if (!beginsStream) break;
    at = body + head.subarray(at + 27, body).reduce((sum, length) => sum + length, 0);
  }
  return found.find((type) => type === 'ogv') ?? found[0];
}

/** The document type of an EBML file stands in its first element. */
function matroskaType(head: Buffer): FileTypeId | undefined {
  const at = head.subarray(0, 128).indexOf('B\x82', 0, 'latin1');
  if (at < 0) return undefined;
  const name = latin1(head, at + 3, at + 11);
  if (name.startsWith('webm')) return 'webm';
  return name === 'matroska' ? 'mkv' : undefined;
}

const asfHeader = '3026b2758e66cf11a6d900aa0062ce6c';
const asfVideo = Buffer.from('c0ef19bc4d5bcf11a8fd00805f5c442b', 'hex');
const asfAudio = Buffer.from('409e69f84d5bcf11a8fd00805f5c442b', 'hex');

/** Windows Media is sound when the header names an audio stream and no video stream. */
function asfType(head: Buffer): FileTypeId | undefined {
  if (head.toString('hex', 0, 16) !== asfHeader) return undefined;
  return head.includes(asfAudio) && !head.includes(asfVideo) ? 'wma' : 'wmv';
}

/** An MPEG program stream of either version, or MPEG-1 or MPEG-2 video without a container. */
function mpegStream(head: Buffer): FileTypeId | undefined {
  if (head[3] === 0xb3) return head.length >= 12 ? 'mpeg' : undefined;
  const next = head[4] ?? 0;
  return (next & 0xf0) === 0x20 || (next & 0xc0) === 0x40 ? 'mpeg' : undefined;
}

const brands: readonly [brand: RegExp, type: FileTypeId][] = [
  [/^qt {2}/, 'mov'],
  [/^M4[ABP] /, 'm4a'],
  [/^(3g|kddi)/, '3gp'],
  [/^(isom|iso[2-9a-c]|isml|piff|mp4|mp7|avc1|dash|M4V|f4v|MSNV|ndsc|ndsh|XAVC|caqv|mmp4|cmfc|FACE)/, 'mp4'],
];

/** Boxes a QuickTime file from before the `ftyp` box may begin with. */
const oldQuickTime = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

/** A film or a sound in an ISO base media file: by its brand, and MP4 without a picture track by its tracks. */
export function baseMediaFilm(sample: ContentSample): FileTypeId | undefined {
  const { head } = sample;
  if (head.length < 16) return undefined;
  const box = latin1(head, 4, 8);
  if (box !== 'ftyp') return oldQuickTime.has(box) && holdsMovie(sample) ? 'mov' : undefined;
  const end = Math.min(head.readUInt32BE(0), head.length, 256);
  const major = brandType(latin1(head, 8, 12));
  let type = major;
  for (let at = 16; type === undefined && at + 4 <= end; at += 4) type = brandType(latin1(head, at, at + 4));
  return type === 'mp4' && isSoundOnly(sample) ? 'm4a' : type;
}

function brandType(brand: string): FileTypeId | undefined {
  return brands.find(([pattern]) => pattern.test(brand))?.[1];
}

function holdsMovie({ head, tail }: ContentSample): boolean {
  return [head, tail].some((bytes) => bytes.includes('moov') && bytes.includes('mvhd'));
}

/** Tracks by their handlers, as far as the sample shows them. */
function isSoundOnly({ head, tail }: ContentSample): boolean {
  const handlers = new Set([...trackHandlers(head), ...trackHandlers(tail)]);
  return handlers.has('soun') && !handlers.has('vide');
}

function* trackHandlers(bytes: Buffer): Generator<string> {
  for (let at = bytes.indexOf('hdlr'); at >= 0; at = bytes.indexOf('hdlr', at + 4)) {
    yield latin1(bytes, at + 12, at + 16);
  }
}
