import { readFile } from 'node:fs/promises';
import type { PDFRef } from '@cantoo/pdf-lib';
import { PDFContext, PDFRawStream } from '@cantoo/pdf-lib';
import type { Metadata, Sharp } from 'sharp';
import { Failure } from '../../lib/failure.ts';
import type { PdfFile } from './document.ts';

export interface ImagePageOptions {
  path: string;
  /** The given name, for messages. */
  filename: string;
}

/** Assumed where an image does not say how large a pixel is: what browsers and img2pdf assume. */
const defaultDpi = 96;
/** The largest page readers accept, in points. */
const maxPagePoints = 14_400;
/** For photographs in a format PDF does not hold: no loss that shows. */
const photoQuality = 92;
/** A TIFF with more pages than this is not a scan. */
const maxImagePages = 1000;

interface Picture {
  width: number;
  height: number;
  data: Buffer;
  /** The entries of the image dictionary that say how `data` is coded. */
  coding: Record<string, unknown>;
  opacity?: Buffer;
}

/**
 * A PDF whose pages are the images of a file at their own size.
 *
 * @throws Failure `invalid_input`
 */
export async function imageAsPdf({ path, filename }: ImagePageOptions): Promise<PdfFile> {
  const context = PDFContext.create();
  const pagesRoot = context.nextRef();
  const pages: PDFRef[] = [];
  try {
    const { default: sharp } = await import('sharp');
    const metadata = await sharp(path).metadata();
    const count = metadata.format === 'tiff' ? Math.min(metadata.pages ?? 1, maxImagePages) : 1;
    for (let page = 0; page < count; page++) {
      const picture = await readPicture(sharp(path, { page, autoOrient: true }), metadata, path);
      pages.push(addPage(context, pagesRoot, picture, dpiOf(metadata)));
    }
  } catch (cause) {
    throw new Failure('invalid_input', `${filename} is not an image that can be read.`, { file: filename, cause });
  }
  context.assign(pagesRoot, context.obj({ Type: 'Pages', Count: pages.length, Kids: pages }));
  const catalog = context.obj({ Type: 'Catalog', Pages: pagesRoot });
  context.trailerInfo.Root = context.register(catalog);
  return { filename, context, catalog, pages, wasEncrypted: false };
}

function dpiOf({ density }: Metadata): number {
  return density !== undefined && density >= 36 && density <= 4800 ? density : defaultDpi;
}

async function readPicture(image: Sharp, metadata: Metadata, path: string): Promise<Picture> {
  if (isPlainJpeg(metadata)) {
    const coding = { Filter: 'DCTDecode', ColorSpace: metadata.channels === 1 ? 'DeviceGray' : 'DeviceRGB' };
    return { width: metadata.width, height: metadata.height, data: await readFile(path), coding };
  }
  const { hasAlpha } = metadata;
  const color = image.clone().toColourspace('srgb').removeAlpha();
  const lossy = !hasAlpha && (metadata.format === 'webp' || metadata.format === 'jpeg');
  if (lossy) {
    const { data, info } = await color
      .jpeg({ quality: photoQuality, chromaSubsampling: '4:4:4' })
      .toBuffer({ resolveWithObject: true });
    const coding = { Filter: 'DCTDecode', ColorSpace: info.channels === 1 ? 'DeviceGray' : 'DeviceRGB' };
    return { width: info.width, height: info.height, data, coding };
  }
  const { data, info } = await color.png({ palette: false }).toBuffer({ resolveWithObject: true });
  const picture = { width: info.width, height: info.height, ...pngCoding(data, info) };
  if (!hasAlpha) return picture;
  const alpha = await image.clone().extractChannel('alpha').png({ palette: false }).toBuffer();
  return { ...picture, opacity: pngData(alpha) };
}

/** Taken as it is: no re-encoding, no loss. An orientation has to be applied to the pixels. */
function isPlainJpeg({ format, channels, space, orientation }: Metadata): boolean {
  if (format !== 'jpeg' || (orientation ?? 1) !== 1) return false;
  return (channels === 3 && space === 'srgb') || (channels === 1 && space === 'b-w');
}

function pngCoding(png: Buffer, { width, channels }: { width: number; channels: number }) {
  const coding = {
    Filter: 'FlateDecode',
    ColorSpace: channels === 1 ? 'DeviceGray' : 'DeviceRGB',
    DecodeParms: { Predictor: 15, Colors: channels, Columns: width },
  };
  return { data: pngData(png), coding };
}

/** The compressed rows of a PNG: PDF reads them as they are. */
export function pngData(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let offset = 8; offset + 12 <= png.length;) {
    const length = png.readUInt32BE(offset);
    const kind = png.toString('latin1', offset + 4, offset + 8);
    if (kind === 'IDAT') parts.push(png.subarray(offset + 8, offset + 8 + length));
    offset += length + 12;
  }
  return Buffer.concat(parts);
}

function addPage(context: PDFContext, pagesRoot: PDFRef, picture: Picture, dpi: number): PDFRef {
  const scale = Math.min(72 / dpi, maxPagePoints / picture.width, maxPagePoints / picture.height);
  const [width, height] = [round(picture.width * scale), round(picture.height * scale)];
  const image = context.register(imageStream(context, picture));
  const content = context.register(context.stream(`q ${width} 0 0 ${height} 0 0 cm /Image Do Q`));
  return context.register(
    context.obj({
      Type: 'Page',
      Parent: pagesRoot,
      MediaBox: [0, 0, width, height],
      Resources: { XObject: { Image: image } },
      Contents: content,
    }),
  );
}

/** Readers compare page sizes with a tolerance; more digits only make files larger. */
function round(points: number): number {
  return Math.round(points * 1000) / 1000;
}

function imageStream(context: PDFContext, { width, height, data, coding, opacity }: Picture): PDFRawStream {
  const base = { Type: 'XObject', Subtype: 'Image', Width: width, Height: height, BitsPerComponent: 8 };
  const dict = context.obj({ ...base, ...(coding as Record<string, string>) });
  if (opacity !== undefined) {
    const mask = {
      ...base,
      ColorSpace: 'DeviceGray',
      Filter: 'FlateDecode',
      DecodeParms: { Predictor: 15, Colors: 1, Columns: width },
    };
    dict.set(context.obj('SMask'), context.register(PDFRawStream.of(context.obj(mask), opacity)));
  }
  return PDFRawStream.of(dict, data);
}
