import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { fileTypes, type FileTypeId } from '../../src/lib/media-types.ts';
import { book, document, kindleBook, pdf, presentation, workbook, zip } from './opinions/documents.ts';
import { media, subtitles } from './opinions/media.ts';
import { lines, say, startsWith, tested, text, xml, type Facts, type Opinion } from './opinions/opinion.ts';
import { drawing, font, pictureAs, pictureHeader } from './opinions/pictures.ts';
import { json, jsonLines, parquet } from './opinions/tables.ts';

/** Facts that are zero in files that are as they should be. */
const mayBeZero = new Set(['audioStreams', 'videoStreams', 'rows']);

/** Opens an output with a second program. @throws Error with the program's words when it refuses, or finds nothing in it. */
export async function inspect(path: string, mediaType: string): Promise<Facts> {
  const { size: sizeBytes } = await stat(path);
  if (sizeBytes === 0) throw new Error('is empty');
  const facts: Facts = { sizeBytes, ...(await opinions[typeOf(mediaType)]?.(path)) };
  if (facts.audioStreams === 0 && facts.videoStreams === 0) throw new Error('has no stream');
  const missing = Object.entries(facts).filter(
    ([name, value]) => (value === 0 || value === '' || Number.isNaN(value)) && !mayBeZero.has(name),
  );
  if (missing.length > 0) throw new Error(`has no ${missing.map(([name]) => name).join(', ')}`);
  return facts;
}

/** Formats of an output that nobody has an opinion on. */
export function withoutOpinion(types: readonly FileTypeId[]): FileTypeId[] {
  return types.filter((type) => opinions[type] === undefined);
}

function typeOf(mediaType: string): FileTypeId {
  const plain = mediaType.split(';')[0];
  const found = Object.entries(fileTypes).find(([, type]) => type.mediaType === plain);
  if (found === undefined) throw new Error(`no format is called ${mediaType}`);
  return found[0] as FileTypeId;
}

const brotli: Opinion = async (path) => {
  await promisify(brotliDecompress)(await readFile(path));
  return {};
};

/** By format. Formats that no tool writes, but some hand on as they are, have none. */
const opinions: Partial<Record<FileTypeId, Opinion>> = {
  jpeg: pictureAs(),
  png: pictureAs(),
  webp: pictureAs(),
  gif: pictureAs(),
  tiff: pictureAs(),
  bmp: pictureAs(),
  ico: pictureAs('ico:'),
  avif: pictureHeader,
  heic: pictureHeader,
  jxl: pictureHeader,
  svg: drawing,
  pdf,
  fdf: startsWith(/^%FDF-1\./),
  mp4: media,
  mov: media,
  mkv: media,
  webm: media,
  avi: media,
  wmv: media,
  flv: media,
  mpeg: media,
  mpegts: media,
  '3gp': media,
  ogv: media,
  mp3: media,
  m4a: media,
  aac: media,
  wav: media,
  flac: media,
  ogg: media,
  opus: media,
  aiff: media,
  wma: media,
  amr: media,
  ac3: media,
  srt: subtitles,
  vtt: subtitles,
  ass: subtitles,
  sub: subtitles,
  ttml: xml,
  docx: document('docx'),
  odt: document('odt'),
  rtf: document('rtf'),
  xlsx: workbook,
  ods: zip,
  pptx: presentation,
  odp: zip,
  epub: book,
  mobi: kindleBook,
  azw3: kindleBook,
  zip,
  cbz: zip,
  tar: async (path) => ({ entries: lines(await say('tar', '-tf', path)) }),
  '7z': tested('bsdtar', '-tf'),
  gz: tested('gzip', '-t'),
  xz: tested('xz', '-t'),
  zst: tested('zstd', '-tq'),
  bz2: tested('bzip2', '-t'),
  br: brotli,
  age: startsWith(/^age-encryption\.org\/v1\n-> scrypt /),
  // A packet of a key made of a passphrase, by RFC 9580.
  gpg: startsWith(/^(-----BEGIN PGP MESSAGE|\x8c|\xc3)/),
  json,
  ndjson: jsonLines,
  parquet,
  xml,
  hocr: xml,
  html: text,
  csv: text,
  tsv: text,
  txt: text,
  md: text,
  yaml: text,
  css: text,
  js: text,
  typescript: text,
  json5: text,
  sql: text,
  patch: text,
  ttf: font,
  otf: font,
  woff: font,
  woff2: font,
};
