import { PDFArray, PDFBool, PDFName, PDFNumber, PDFRawStream, PDFString, PDFHexString } from '@cantoo/pdf-lib';
import type { PDFObject, PDFDict, PDFRef } from '@cantoo/pdf-lib';
import type { Sharp } from 'sharp';
import type { PdfFile } from './document.ts';
import { pngData } from './image-page.ts';
import { maskOf, shownSizes, type ShownSize } from './image-uses.ts';
import { arrayEntry, entry, nameText, numberEntry, resolve, streamEntry } from './objects.ts';
import { decodeParameters, decodeStream, filtersOf } from './streams.ts';

export interface ImageTargets {
  /** Images that show more pixels an inch than this are made smaller. */
  dpi: number;
  /** JPEG quality, 1 to 100. */
  quality: number;
}

/** Images a little above the target keep their pixels: making them smaller would cost more than it saves. */
const dpiTolerance = 1.25;
/** A JPEG is only coded again when that saves this much: every time costs quality. */
const worthwhile = 0.9;
/** Lossless is preferred while it is not much larger: drawings and screenshots stay sharp. */
const losslessAllowance = 1.25;
const minPixels = 16 * 16;
const maxPixels = 150_000_000;

/** Pixels that can be worked on: 8 bits, one or three channels, in the image's own colours (never converted). */
interface Pixels {
  image: Sharp;
  channels: 1 | 3;
  width: number;
  height: number;
  /** From a lossy original: a lossless copy of it is never smaller. */
  isLossy: boolean;
  /** Set when the pixels are in another colour space than the image's entry says: an unfolded palette. */
  colorSpace?: PDFObject;
}

/**
 * Makes the images of a file smaller, in place: fewer pixels where more are drawn than `dpi`, and JPEG where that is
 * smaller. What would not shrink, and kinds that would suffer (masks, fax, JPEG 2000, CMYK, spot colours), stay as they
 * are. Transparency masks are kept and shrink with their image.
 */
export async function shrinkImages(
  file: PdfFile,
  targets: ImageTargets,
  step: (fraction: number) => void,
): Promise<{ shrunk: number; images: number }> {
  const sizes = shownSizes(file);
  const images = imagesOf(file);
  let shrunk = 0;
  for (const [index, [ref, stream]] of images.entries()) {
    const replacement = await shrink(stream, sizes.get(ref), targets).catch(() => undefined); // Unreadable: left alone.
    if (replacement !== undefined) {
      file.context.assign(ref, replacement);
      shrunk += 1;
    }
    step((index + 1) / images.length);
  }
  return { shrunk, images: images.length };
}

/** Images and no masks: a mask is handled with the image it belongs to. */
function imagesOf(file: PdfFile): [PDFRef, PDFRawStream][] {
  const images = new Map<PDFRef, PDFRawStream>();
  const masks = new Set<PDFRef>();
  for (const [ref, object] of file.context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFRawStream) || nameText(entry(object.dict, 'Subtype')) !== 'Image') continue;
    images.set(ref, object);
    const mask = maskOf(object.dict);
    if (mask !== undefined) masks.add(mask.ref);
  }
  return [...images].filter(([ref]) => !masks.has(ref));
}

async function shrink(
  stream: PDFRawStream,
  shown: ShownSize | undefined,
  { dpi, quality }: ImageTargets,
): Promise<PDFRawStream | undefined> {
  if (!canBeShrunk(stream.dict)) return undefined;
  const pixels = await readPixels(stream);
  if (pixels === undefined) return undefined;
  const scale = scaleFor(pixels, shown, dpi);
  const [width, height] = [pixels.width, pixels.height].map((side) => Math.max(1, Math.round(side * scale))) as [
    number,
    number,
  ];
  const resized = scale === 1 ? pixels.image : pixels.image.resize(width, height, { fit: 'fill', kernel: 'lanczos3' });
  const best = await smallest(resized, pixels, quality);
  const limit = pixels.isLossy && scale === 1 ? stream.contents.length * worthwhile : stream.contents.length;
  if (best.data.length >= limit) return undefined;
  const replacement = imageOf(stream.dict, best, width, height, pixels);
  if (scale !== 1) await shrinkMask(stream.dict, replacement.dict, width, height);
  return replacement;
}

/** Entries that give single pixel values or bits a meaning, which new pixels would break. */
function canBeShrunk(dict: PDFDict): boolean {
  if (entry(dict, 'ImageMask') === PDFBool.True) return false;
  if (entry(dict, 'Decode') !== undefined || entry(dict, 'Mask') !== undefined) return false;
  const mask = streamEntry(dict, 'SMask');
  if (mask !== undefined && entry(mask.dict, 'Matte') !== undefined) return false;
  const pixels = (numberEntry(dict, 'Width') ?? 0) * (numberEntry(dict, 'Height') ?? 0);
  return (numberEntry(dict, 'SMaskInData') ?? 0) === 0 && pixels >= minPixels && pixels <= maxPixels;
}

/** Never enlarges; undefined sizes (shown by something that was not followed) keep their pixels. */
function scaleFor({ width, height }: Pixels, shown: ShownSize | undefined, dpi: number): number {
  if (shown === undefined || shown.width < 1 || shown.height < 1) return 1;
  const current = Math.min(width / (shown.width / 72), height / (shown.height / 72));
  return current > dpi * dpiTolerance ? dpi / current : 1;
}

async function readPixels(stream: PDFRawStream): Promise<Pixels | undefined> {
  const filters = filtersOf(stream.dict);
  const channels = channelsOf(stream.dict, entry(stream.dict, 'ColorSpace'));
  if (filters.at(-1) === 'DCTDecode') return channels === undefined ? undefined : readJpeg(stream, filters, channels);
  if (numberEntry(stream.dict, 'BitsPerComponent') !== 8) return undefined;
  const samples = decodeStream(stream);
  if (samples === undefined) return undefined;
  if (channels !== undefined) return rawPixels(stream.dict, samples, channels);
  return unfoldPalette(stream.dict, samples);
}

async function readJpeg(stream: PDFRawStream, filters: string[], channels: 1 | 3): Promise<Pixels | undefined> {
  if (filters.length !== 1 || decodeParameters(stream.dict) !== undefined) return undefined;
  const { default: sharp } = await import('sharp');
  // PDF ignores the profile and the orientation inside a JPEG.
  const image = sharp(stream.contents, { ignoreIcc: true, limitInputPixels: maxPixels, failOn: 'error' });
  const metadata = await image.metadata();
  if (metadata.channels !== channels || metadata.space === 'cmyk') return undefined;
  const isDeclared =
    metadata.width === numberEntry(stream.dict, 'Width') && metadata.height === numberEntry(stream.dict, 'Height');
  return isDeclared ? { image, channels, width: metadata.width, height: metadata.height, isLossy: true } : undefined;
}

async function rawPixels(dict: PDFDict, samples: Uint8Array, channels: 1 | 3): Promise<Pixels | undefined> {
  const [width, height] = [numberEntry(dict, 'Width') ?? 0, numberEntry(dict, 'Height') ?? 0];
  const bytes = width * height * channels;
  if (samples.length < bytes) return undefined;
  const { default: sharp } = await import('sharp');
  const image = sharp(samples.subarray(0, bytes), { raw: { width, height, channels }, limitInputPixels: maxPixels });
  return { image, channels, width, height, isLossy: false };
}

/** The channels of a colour space whose values may be averaged: grey or RGB, device or by profile. */
function channelsOf(dict: PDFDict, space: PDFObject | undefined): 1 | 3 | undefined {
  const name = nameText(space);
  if (name === 'DeviceGray' || name === 'G') return 1;
  if (name === 'DeviceRGB' || name === 'RGB') return 3;
  if (!(space instanceof PDFArray)) return undefined;
  const kind = nameText(resolve(dict.context, space.get(0)));
  if (kind === 'CalGray') return 1;
  if (kind === 'CalRGB') return 3;
  const profile = resolve(dict.context, space.get(1));
  if (kind !== 'ICCBased' || !(profile instanceof PDFRawStream)) return undefined;
  const count = numberEntry(profile.dict, 'N');
  return count === 1 || count === 3 ? count : undefined;
}

/** Pixels of a palette image in the colours the palette is made of. */
async function unfoldPalette(dict: PDFDict, samples: Uint8Array): Promise<Pixels | undefined> {
  const space = arrayEntry(dict, 'ColorSpace');
  if (space === undefined || nameText(resolve(dict.context, space.get(0))) !== 'Indexed') return undefined;
  const base = space.get(1);
  const channels = channelsOf(dict, resolve(dict.context, base));
  const table = resolve(dict.context, space.get(3));
  const colors = table instanceof PDFRawStream ? decodeStream(table) : stringBytes(table);
  if (channels === undefined || colors === undefined || base === undefined) return undefined;
  const count = (numberEntry(dict, 'Width') ?? 0) * (numberEntry(dict, 'Height') ?? 0);
  if (samples.length < count) return undefined;
  const unfolded = Buffer.alloc(count * channels);
  for (let pixel = 0; pixel < count; pixel++) {
    for (let channel = 0; channel < channels; channel++) {
      unfolded[pixel * channels + channel] = colors[(samples[pixel] ?? 0) * channels + channel] ?? 0;
    }
  }
  const pixels = await rawPixels(dict, unfolded, channels);
  return pixels && { ...pixels, colorSpace: base };
}

function stringBytes(value: PDFObject | undefined): Uint8Array | undefined {
  return value instanceof PDFString || value instanceof PDFHexString ? value.asBytes() : undefined;
}

interface Coded {
  data: Buffer;
  filter: 'DCTDecode' | 'FlateDecode';
}

async function smallest(image: Sharp, { channels, isLossy }: Pixels, quality: number): Promise<Coded> {
  const space = channels === 1 ? 'b-w' : 'srgb';
  const jpeg = await image.clone().toColourspace(space).jpeg({ quality, mozjpeg: true }).toBuffer();
  if (isLossy) return { data: jpeg, filter: 'DCTDecode' };
  const png = await image.clone().toColourspace(space).png({ palette: false, compressionLevel: 9 }).toBuffer();
  const lossless = pngData(png);
  if (lossless.length <= jpeg.length * losslessAllowance) return { data: lossless, filter: 'FlateDecode' };
  return { data: jpeg, filter: 'DCTDecode' };
}

function imageOf(original: PDFDict, coded: Coded, width: number, height: number, pixels: Pixels): PDFRawStream {
  const dict = original.clone();
  const set = (key: string, value: PDFObject) => dict.set(PDFName.of(key), value);
  for (const key of ['DecodeParms', 'Metadata', 'Alternates']) dict.delete(PDFName.of(key));
  set('Width', PDFNumber.of(width));
  set('Height', PDFNumber.of(height));
  set('BitsPerComponent', PDFNumber.of(8));
  set('Filter', PDFName.of(coded.filter));
  if (pixels.colorSpace !== undefined) set('ColorSpace', pixels.colorSpace);
  if (coded.filter === 'FlateDecode') {
    set('DecodeParms', dict.context.obj({ Predictor: 15, Colors: pixels.channels, Columns: width }));
  }
  return PDFRawStream.of(dict, coded.data);
}

/** Shared masks are not changed in place: another image may still need the larger one. */
async function shrinkMask(original: PDFDict, replacement: PDFDict, width: number, height: number): Promise<void> {
  const mask = maskOf(original);
  if (mask === undefined || !canBeShrunk(mask.stream.dict)) return;
  const pixels = await readPixels(mask.stream).catch(() => undefined);
  if (pixels?.channels !== 1 || pixels.width <= width || pixels.height <= height) return;
  const resized = pixels.image.resize(width, height, { fit: 'fill', kernel: 'lanczos3' });
  const png = await resized.toColourspace('b-w').png({ palette: false, compressionLevel: 9 }).toBuffer();
  const coded: Coded = { data: pngData(png), filter: 'FlateDecode' };
  if (coded.data.length >= mask.stream.contents.length) return;
  const smaller = imageOf(mask.stream.dict, coded, width, height, pixels);
  replacement.set(PDFName.of('SMask'), replacement.context.register(smaller));
}
