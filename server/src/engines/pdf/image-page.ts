import { readFile } from 'node:fs/promises';
import { PDFContext, PDFRawStream, type PDFRef, type PDFStream } from '@cantoo/pdf-lib';
import type { Metadata, Sharp } from 'sharp';
import { imageFailure } from '../image-failure.ts';
import { type ImageFile, type Workspace, openImage } from '../images.ts';
import { assertNoJpegDamage } from '../jpeg-damage.ts';
import { pngContents } from '../png.ts';
import { openWithSharp } from '../sharp.ts';
import { openTiff, tiffPages } from '../tiff.ts';
import type { PdfFile } from './document.ts';
import { jpegFacts } from './jpeg-facts.ts';

/** How images go on their pages. Lengths in points (1/72 inch). */
export interface ImagePageLayout {
  /** Undefined: each page is as large as its image, margins added. */
  page: { width: number; height: number } | undefined;
  /** `auto` turns the page the way the image lies. */
  orientation: 'auto' | 'portrait' | 'landscape';
  margin: number;
  /** `cover` fills the page between the margins and cuts off what stands out. */
  fit: 'contain' | 'cover';
}

const ownSize: ImagePageLayout = { page: undefined, orientation: 'auto', margin: 0, fit: 'contain' };

/** Assumed where an image does not say how large a pixel is: what browsers and img2pdf assume. */
const defaultDpi = 96;
/** The smallest and the largest page readers accept, in points. */
const minPagePoints = 3;
const maxPagePoints = 14_400;
/** For photographs in a format PDF does not hold: no loss that shows. */
const photoQuality = 92;

/** One picture, coded as PDF holds it. */
export interface Picture {
  /** Pixels as they are stored. */
  width: number;
  height: number;
  /** EXIF's: how the stored pixels are turned and mirrored to stand upright. */
  orientation: number;
  dpi: number;
  data: Buffer;
  /** The entries of the image dictionary that say how `data` is coded. */
  coding: Record<string, unknown>;
  /** The colour profile the pixels are in, where that is not the device's colour space. */
  icc?: { profile: Buffer; channels: number };
  opacity?: Buffer;
}

/**
 * A PDF whose pages are the images of a file at their own size.
 *
 * @throws Failure `invalid_input`, `resource_limit`
 */
export async function imageAsPdf(file: ImageFile, workspace: Workspace): Promise<PdfFile> {
  const builder = createImagePdf(ownSize, (dict, data) => PDFRawStream.of(dict, data));
  for await (const picture of picturesOf(file, workspace)) await builder.add(picture);
  const { context, pages } = builder.finish();
  const catalog = context.lookup(context.trailerInfo.Root) as PdfFile['catalog'];
  return { filename: file.filename, context, catalog, pages, wasEncrypted: false };
}

/** Makes the stream of a picture's data: held in memory, or to be read when it is written. */
type StreamOf = (dict: PDFRawStream['dict'], data: Buffer) => PDFStream | Promise<PDFStream>;

/** A PDF in the making, one picture a page. */
export function createImagePdf(layout: ImagePageLayout, streamOf: StreamOf) {
  const context = PDFContext.create();
  const pagesRoot = context.nextRef();
  const pages: PDFRef[] = [];
  const profiles = new Map<string, PDFRef>();
  return {
    async add(picture: Picture): Promise<void> {
      const image = context.register(await imageStream(context, picture, profiles, streamOf));
      pages.push(addPage(context, pagesRoot, image, picture, layout));
    },
    finish() {
      context.assign(pagesRoot, context.obj({ Type: 'Pages', Count: pages.length, Kids: pages }));
      context.trailerInfo.Root = context.register(context.obj({ Type: 'Catalog', Pages: pagesRoot }));
      return { context, pages };
    },
  };
}

/** The pictures of an image file: one, or one a page for TIFF. */
export async function* picturesOf(file: ImageFile, workspace: Workspace): AsyncGenerator<Picture> {
  try {
    if (file.type === 'tiff') {
      for (const page of await tiffPages(file)) {
        workspace.signal.throwIfAborted();
        yield await encodedPicture((await openTiff(file.path, file, page)).autoOrient(), 'lossless');
      }
      return;
    }
    const jpeg = file.type === 'jpeg' ? await jpegPicture(file) : undefined;
    if (jpeg !== undefined) return yield jpeg;
    const { pipeline } = await openImage(file, workspace, { animated: false });
    yield await encodedPicture(pipeline, lossyTypes.includes(file.type) ? 'lossy' : 'lossless');
  } catch (error) {
    throw imageFailure(error, file);
  }
}

/** Formats that mostly hold photographs; the others hold what was drawn. */
const lossyTypes: readonly string[] = ['jpeg', 'webp', 'avif', 'heic', 'jxl'];

function dpiOf({ density }: Metadata): number {
  return density !== undefined && density >= 36 && density <= 4800 ? density : defaultDpi;
}

const jpegColors: Record<number, { space: string; profile: string }> = {
  1: { space: 'DeviceGray', profile: 'GRAY' },
  3: { space: 'DeviceRGB', profile: 'RGB ' },
  4: { space: 'DeviceCMYK', profile: 'CMYK' },
};

/** Taken as it is: no re-encoding, no loss. Undefined for a kind of JPEG that PDF does not hold. */
async function jpegPicture(file: ImageFile): Promise<Picture | undefined> {
  const { path } = file;
  const data = await readFile(path);
  const facts = jpegFacts(data);
  const image = await openWithSharp(path);
  const metadata = await image.metadata();
  const colors = jpegColors[metadata.channels];
  if (facts === undefined || !facts.isCommon || colors === undefined) return undefined;
  // Nothing else decodes it on this way: a file that is cut short must not become a page that is.
  await image.resize(16).raw().toBuffer();
  await assertNoJpegDamage(file);
  const { width, height, channels, orientation = 1, icc } = metadata;
  const isProfileOfColors = icc?.toString('latin1', 16, 20) === colors.profile;
  // Adobe's programs store CMYK inverted, and say so by their marker alone.
  const inverted = channels === 4 && facts.hasAdobeMarker ? { Decode: [1, 0, 1, 0, 1, 0, 1, 0] } : {};
  const coding = { Filter: 'DCTDecode', ColorSpace: colors.space, ...inverted };
  const picture = { width, height, orientation, dpi: dpiOf(metadata), data, coding };
  return isProfileOfColors && icc !== undefined ? { ...picture, icc: { profile: icc, channels } } : picture;
}

async function encodedPicture(image: Sharp, kind: 'lossy' | 'lossless'): Promise<Picture> {
  const metadata = await image.metadata();
  const isGrey = metadata.space === 'b-w' || metadata.space === 'grey16';
  const color = image
    .clone()
    .removeAlpha()
    .toColourspace(isGrey ? 'b-w' : 'srgb');
  const shared = { orientation: 1, dpi: dpiOf(metadata) };
  if (kind === 'lossy' && !metadata.hasAlpha) {
    const { data, info } = await color
      .jpeg({ quality: photoQuality, chromaSubsampling: '4:4:4' })
      .toBuffer({ resolveWithObject: true });
    const coding = { Filter: 'DCTDecode', ColorSpace: info.channels === 1 ? 'DeviceGray' : 'DeviceRGB' };
    return { ...shared, width: info.width, height: info.height, data, coding };
  }
  const { data, info } = await color.png({ palette: false }).toBuffer({ resolveWithObject: true });
  const picture = { ...shared, width: info.width, height: info.height, ...pngCoding(data, info) };
  if (!metadata.hasAlpha) return picture;
  const alpha = image.clone().extractChannel('alpha').toColourspace('b-w').png({ palette: false });
  return { ...picture, opacity: pngData(await alpha.toBuffer()) };
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
  return Buffer.concat(pngContents(png, 'IDAT'));
}

interface Box {
  width: number;
  height: number;
}

function addPage(
  context: PDFContext,
  pagesRoot: PDFRef,
  image: PDFRef,
  picture: Picture,
  layout: ImagePageLayout,
): PDFRef {
  const isTurned = picture.orientation >= 5;
  const upright = isTurned
    ? { width: picture.height, height: picture.width }
    : { width: picture.width, height: picture.height };
  const page = pageSize(upright, picture.dpi, layout);
  const room = { width: page.width - 2 * layout.margin, height: page.height - 2 * layout.margin };
  const scales = [room.width / upright.width, room.height / upright.height];
  const scale = layout.fit === 'cover' ? Math.max(...scales) : Math.min(...scales);
  const [width, height] = [upright.width * scale, upright.height * scale];
  const clip = `${numbers(layout.margin, layout.margin, room.width, room.height)} re W n`;
  const place = `1 0 0 1 ${numbers((page.width - width) / 2, (page.height - height) / 2)} cm`;
  const turn = `${numbers(...uprightMatrix(picture.orientation, width, height))} cm`;
  const content = `q ${layout.fit === 'cover' ? `${clip} ` : ''}${place} ${turn} /Image Do Q`;
  return context.register(
    context.obj({
      Type: 'Page',
      Parent: pagesRoot,
      MediaBox: [0, 0, round(page.width), round(page.height)],
      Resources: { XObject: { Image: image } },
      Contents: context.register(context.stream(content)),
    }),
  );
}

function pageSize(image: Box, dpi: number, { page, orientation, margin }: ImagePageLayout): Box {
  if (page === undefined) {
    const most = maxPagePoints - 2 * margin;
    const scale = Math.min(72 / dpi, most / image.width, most / image.height);
    const side = (pixels: number) => Math.max(minPagePoints, pixels * scale + 2 * margin);
    return { width: side(image.width), height: side(image.height) };
  }
  const lies = orientation === 'auto' ? image.width > image.height : orientation === 'landscape';
  const [short, long] = [Math.min(page.width, page.height), Math.max(page.width, page.height)];
  return lies ? { width: long, height: short } : { width: short, height: long };
}

/** Maps the unit square an image fills to an upright box: what each value of EXIF's orientation asks for. */
function uprightMatrix(orientation: number, w: number, h: number): [number, number, number, number, number, number] {
  switch (orientation) {
    case 2:
      return [-w, 0, 0, h, w, 0];
    case 3:
      return [-w, 0, 0, -h, w, h];
    case 4:
      return [w, 0, 0, -h, 0, h];
    case 5:
      return [0, -h, -w, 0, w, h];
    case 6:
      return [0, -h, w, 0, 0, h];
    case 7:
      return [0, h, w, 0, 0, 0];
    case 8:
      return [0, h, -w, 0, w, 0];
    default:
      return [w, 0, 0, h, 0, 0];
  }
}

function numbers(...values: number[]): string {
  return values.map(round).join(' ');
}

/** Readers compare page sizes with a tolerance; more digits only make files larger. */
function round(points: number): number {
  return Math.round(points * 1000) / 1000;
}

async function imageStream(
  context: PDFContext,
  picture: Picture,
  profiles: Map<string, PDFRef>,
  streamOf: StreamOf,
): Promise<PDFStream> {
  const { width, height, data, coding, opacity, icc } = picture;
  const base = { Type: 'XObject', Subtype: 'Image', Width: width, Height: height, BitsPerComponent: 8 };
  const dict = context.obj({ ...base, ...(coding as Record<string, string>) });
  if (icc !== undefined) {
    const key = icc.profile.toString('latin1');
    const alternate = jpegColors[icc.channels]?.space ?? 'DeviceRGB';
    const profile =
      profiles.get(key) ??
      context.register(context.flateStream(icc.profile, { N: icc.channels, Alternate: alternate }));
    profiles.set(key, profile);
    dict.set(context.obj('ColorSpace'), context.obj(['ICCBased', profile]));
  }
  if (opacity !== undefined) {
    const mask = {
      ...base,
      ColorSpace: 'DeviceGray',
      Filter: 'FlateDecode',
      DecodeParms: { Predictor: 15, Colors: 1, Columns: width },
    };
    dict.set(context.obj('SMask'), context.register(await streamOf(context.obj(mask), opacity)));
  }
  return streamOf(dict, data);
}
