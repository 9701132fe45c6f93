import { PDFDict, PDFHexString, PDFName, PDFRawStream, PDFStream, PDFString } from '@cantoo/pdf-lib';
import type { Description, DocumentProperties } from './document-properties.ts';
import type { PdfFile } from './document.ts';
import { entry, resolve, textOf } from './objects.ts';
import { decodeStream } from './streams.ts';
import { removeMetadata } from './tidy.ts';
import { updateXmp, xmpDate, xmpText } from './xmp.ts';

const infoKeys = {
  title: 'Title',
  author: 'Author',
  subject: 'Subject',
  keywords: 'Keywords',
  creator: 'Creator',
  producer: 'Producer',
} as const;

/** From the document information, and from XMP where that says nothing. */
export function readProperties(file: PdfFile): DocumentProperties {
  const info = infoOf(file);
  const xmp = readXmp(file);
  const text = (key: keyof typeof infoKeys) =>
    (info && nonEmpty(textOf(entry(info, infoKeys[key])))) ??
    (xmp === undefined ? undefined : nonEmpty(xmpText(xmp, key)));
  const date = (key: 'created' | 'modified', name: string) =>
    (info && isoDate(textOf(entry(info, name)))) ?? (xmp === undefined ? undefined : xmpDate(xmp, key));
  return {
    title: text('title'),
    author: text('author'),
    subject: text('subject'),
    keywords: text('keywords'),
    creator: text('creator'),
    producer: text('producer'),
    created: date('created', 'CreationDate'),
    modified: date('modified', 'ModDate'),
  };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

function infoOf(file: PdfFile): PDFDict | undefined {
  const info = resolve(file.context, file.context.trailerInfo.Info);
  return info instanceof PDFDict ? info : undefined;
}

/** Larger packets are no description of a document. */
const maxXmpBytes = 1024 * 1024;

/** The XMP packet of the whole file as text. */
export function readXmp(file: PdfFile): string | undefined {
  const stream = entry(file.catalog, 'Metadata');
  const bytes = stream instanceof PDFStream ? decodeStream(stream) : undefined;
  if (bytes === undefined || bytes.length > maxXmpBytes) return undefined;
  const encoding =
    bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/** `D:20240102030405+02'00'` as ISO 8601; undefined for what is no date. */
export function isoDate(text: string | undefined): string | undefined {
  const match = /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?/.exec(
    text?.trim() ?? '',
  );
  if (match === null) return undefined;
  const [
    ,
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    utc,
    sign,
    zoneHour,
    zoneMinute = '00',
  ] = match;
  const zone = sign === undefined ? (utc ?? '') : `${sign}${zoneHour}:${zoneMinute}`;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
  return Number.isNaN(Date.parse(iso)) ? undefined : iso;
}

/** `D:20240102030405Z` */
function pdfDate(iso: string): string {
  const [date, zone] = [iso.slice(0, 19), iso.slice(19)];
  const offset = zone === '' || zone === 'Z' ? zone : `${zone.slice(0, 3)}'${zone.slice(4, 6)}'`;
  return `D:${date.replaceAll(/\D/g, '')}${offset}`;
}

/**
 * Changes what a file says of itself, the same in the document information and in XMP; what is not given stays. With
 * `clear` everything goes first, down to thumbnails and the private data of programs, and a file about which nothing is
 * said is left with neither.
 *
 * @param now the time of the change, ISO 8601.
 */
export function writeProperties(
  file: PdfFile,
  given: Description,
  { clear, now }: { clear: boolean; now: string },
): void {
  const isGiven = Object.values(given).some((value) => value !== undefined);
  const before = clear ? undefined : readProperties(file);
  const xmp = clear ? undefined : readXmp(file);
  if (clear) removeMetadata(file);
  if (!isGiven) return;
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const properties: DocumentProperties = { ...nothing, ...before, ...said, modified: now };
  writeInfo(file, properties);
  const stream = file.context.obj({ Type: 'Metadata', Subtype: 'XML' });
  const packet = PDFRawStream.of(stream, Buffer.from(updateXmp(xmp, properties)));
  file.catalog.set(PDFName.of('Metadata'), file.context.register(packet));
}

const nothing: DocumentProperties = {
  title: undefined,
  author: undefined,
  subject: undefined,
  keywords: undefined,
  creator: undefined,
  producer: undefined,
  created: undefined,
  modified: undefined,
};

function writeInfo(file: PdfFile, properties: DocumentProperties): void {
  const info = infoOf(file)?.clone() ?? file.context.obj({});
  const keys = Object.entries(infoKeys) as [keyof typeof infoKeys, string][];
  for (const [key, name] of keys) {
    const value = properties[key];
    if (value !== undefined) info.set(PDFName.of(name), PDFHexString.fromText(value));
  }
  if (properties.created !== undefined) info.set(PDFName.of('CreationDate'), PDFString.of(pdfDate(properties.created)));
  if (properties.modified !== undefined) info.set(PDFName.of('ModDate'), PDFString.of(pdfDate(properties.modified)));
  file.context.trailerInfo.Info = file.context.register(info);
}
