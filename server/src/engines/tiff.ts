import { open, readFile } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { Failure } from '../lib/failure.ts';
import { assertDecodable, brokenImage, type NamedFile } from './image-failure.ts';
import { colorChannels, type Raster, rasterToTiff } from './raster.ts';
import { openWithSharp } from './sharp.ts';
import { readTiffPages, type TiffPage } from './tiff-pages.ts';

const photometrics = { minIsWhite: 0, minIsBlack: 1, rgb: 2, separated: 5, yCbCr: 6, cieLab: 8, iccLab: 9, ituLab: 10 };
const jpegCompressions = [6, 7];
const sampleFormats = { unsigned: 1, signed: 2, float: 3, complexInteger: 5, complex: 6 };

/** More than any scanner fills. */
const maxPages = 1000;

/**
 * Opens a page of a TIFF, the first unless told. What libvips does not know, or takes for other colours than it is, is converted
 * here: CIE Lab of 8 bits, YCbCr without JPEG, integers of 32 bits, and grey of floating-point numbers.
 *
 * @throws Failure `invalid_input` for samples of a kind that no one here reads
 */
export async function openTiff(path: string, named: NamedFile, shown?: TiffPage): Promise<Sharp> {
  const page = shown ?? (await directoriesOf(path, 1)).pages[0];
  if (page === undefined) return openWithSharp(path);
  const { number } = page;
  const unreadable = whyUnreadable(page);
  if (unreadable !== undefined) throw refuse(named, `holds ${unreadable}, which cannot be opened here`);
  const convert = converterOf(page);
  if (convert === undefined) return openWithSharp(path, { page: number });
  const input = convert.reads === 'bytes' ? await withoutColorSpace(path, page) : path;
  const stored = await openWithSharp(input, { page: number, ignoreIcc: true });
  const { width, height, autoOrient, density, icc } = await stored.metadata();
  assertDecodable(named, { width, height });
  const samples = await samplesOf(stored, convert.reads, page);
  const raster = convert.raster(samples, page, named);
  const further = samples.channels - colorChannels[raster.color];
  if (further > 1) throw refuse(named, 'holds more than colours and transparency, which cannot be opened here');
  const profile = convert.reads === 'bytes' ? {} : { icc };
  return openWithSharp(rasterToTiff({ ...raster, ...profile, ...autoOrient, dpi: density, hasAlpha: further === 1 }));
}

/**
 * The pages of a TIFF: the first directory, and all that are no small copies or masks of others. One that is not known, to
 * be opened as it comes, for what cannot be followed.
 *
 * @throws Failure `resource_limit` for more than 1000, `invalid_input` when there are more than can be found.
 */
export async function tiffPages(file: NamedFile & { path: string }): Promise<(TiffPage | undefined)[]> {
  const directories = await directoriesOf(file.path);
  const pages = directories.pages.filter(({ number, isAddition }) => number === 0 || !isAddition);
  if (pages.length === 0) return [undefined];
  if (!directories.isWhole) throw brokenImage(file, `the directory after page ${pages.length} cannot be read`);
  if (pages.length <= maxPages) return pages;
  const message = `"${file.filename}" has ${pages.length} pages; the limit is ${maxPages}.`;
  throw new Failure('resource_limit', message, { file: file.filename });
}

async function directoriesOf(path: string, limit?: number) {
  await using file = await open(path);
  return await readTiffPages(file, limit);
}

function refuse({ filename }: NamedFile, problem: string): Failure {
  return new Failure('invalid_input', `"${filename}" ${problem}.`, { file: filename });
}

function whyUnreadable({ bitsPerSample, sampleFormat, photometric, isFullColor, ...page }: TiffPage) {
  const { signed, complexInteger, complex } = sampleFormats;
  if (sampleFormat === complex || sampleFormat === complexInteger) return 'complex numbers';
  if (bitsPerSample > 32) return `${bitsPerSample} bits a sample`;
  if (sampleFormat === signed && photometric !== photometrics.cieLab) return 'numbers with a sign instead of colours';
  if (photometric === photometrics.ituLab) return 'ITU Lab colours';
  if (photometric === photometrics.iccLab && bitsPerSample !== 8) return 'ICC Lab colours of more than 8 bits';
  if (isPlainYCbCr({ photometric, ...page }) && !(isFullColor && bitsPerSample === 8))
    return 'YCbCr colours with fewer samples for colour than for brightness';
  return undefined;
}

function isPlainYCbCr({ photometric, compression }: Pick<TiffPage, 'photometric' | 'compression'>): boolean {
  return photometric === photometrics.yCbCr && !jpegCompressions.includes(compression);
}

function isGrey({ photometric }: TiffPage): boolean {
  return photometric === photometrics.minIsBlack || photometric === photometrics.minIsWhite;
}

type Samples = { data: Buffer; channels: number };
type Converted = Pick<Raster, 'color' | 'bits' | 'data'>;

interface Converter {
  /** What the samples are read as, before they are converted. */
  reads: 'bytes' | 'integers' | 'floats';
  raster(samples: Samples, page: TiffPage, named: NamedFile): Converted;
}

/** How a page becomes what libvips knows; undefined when it knows the page as it is. */
function converterOf(page: TiffPage): Converter | undefined {
  const { photometric, bitsPerSample, sampleFormat } = page;
  const { cieLab, iccLab } = photometrics;
  if (photometric === iccLab) return { reads: 'bytes', raster: convertInPlace(iccLabToRgb) };
  if (photometric === cieLab && bitsPerSample === 8) return { reads: 'bytes', raster: convertInPlace(labToRgb) };
  if (isPlainYCbCr(page)) return { reads: 'bytes', raster: convertInPlace(yCbCrToRgb) };
  if (sampleFormat === sampleFormats.unsigned && bitsPerSample === 32)
    return { reads: 'integers', raster: halveIntegers };
  if (sampleFormat === sampleFormats.float && isGrey(page)) return { reads: 'floats', raster: scaleFloats };
  return undefined;
}

/** The file with a page that says RGB of three bytes that are something else: libvips then hands them out as they are. */
async function withoutColorSpace(path: string, { photometricAt, isLittleEndian }: TiffPage): Promise<Buffer> {
  const file = await readFile(path);
  if (isLittleEndian) file.writeUInt16LE(photometrics.rgb, photometricAt);
  else file.writeUInt16BE(photometrics.rgb, photometricAt);
  return file;
}

async function samplesOf(image: Sharp, reads: Converter['reads'], page: TiffPage): Promise<Samples> {
  const depth = ({ bytes: 'uchar', integers: 'uint', floats: 'float' } as const)[reads];
  const pixels = isGrey(page) ? image.toColourspace('b-w') : image; // Otherwise three samples come for one.
  const { data, info } = await pixels.autoOrient().raw({ depth }).toBuffer({ resolveWithObject: true });
  return { data, channels: info.channels };
}

/** Overwrites the three bytes at `at` with red, green and blue. */
type ToRgb = (pixels: Buffer, at: number) => void;

function convertInPlace(toRgb: ToRgb): Converter['raster'] {
  return ({ data, channels }) => {
    for (let at = 0; at < data.length; at += channels) toRgb(data, at);
    return { color: 'rgb', bits: 8, data };
  };
}

/** The coding of TIFF 6.0: lightness from 0 to 255, the others with a sign. */
const labToRgb: ToRgb = (pixels, at) => writeLab(pixels, at, pixels.readInt8(at + 1), pixels.readInt8(at + 2));

/** The coding of ICC profiles: 128 is neither red nor green. */
const iccLabToRgb: ToRgb = (pixels, at) => writeLab(pixels, at, byte(pixels, at + 1) - 128, byte(pixels, at + 2) - 128);

/** Relative to white, whatever white is: a page that is white in Lab is white on the screen. */
function writeLab(pixels: Buffer, at: number, a: number, b: number): void {
  const middle = ((byte(pixels, at) / 255) * 100 + 16) / 116;
  const x = 0.950_47 * uncompressed(middle + a / 500);
  const y = uncompressed(middle);
  const z = 1.088_83 * uncompressed(middle - b / 200);
  pixels[at] = gammaByte(3.2406 * x - 1.5372 * y - 0.4986 * z);
  pixels[at + 1] = gammaByte(-0.9689 * x + 1.8758 * y + 0.0415 * z);
  pixels[at + 2] = gammaByte(0.0557 * x - 0.204 * y + 1.057 * z);
}

/** The inverse of the cube root that CIE Lab compresses with. */
function uncompressed(value: number): number {
  return value > 6 / 29 ? value ** 3 : 3 * (6 / 29) ** 2 * (value - 4 / 29);
}

/** sRGB's own curve. */
function gammaByte(linear: number): number {
  return clampedByte(255 * (linear <= 0.003_130_8 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055));
}

/** By ITU-R BT.601 over the whole range, as JPEG does. */
const yCbCrToRgb: ToRgb = (pixels, at) => {
  const [y, cb, cr] = [byte(pixels, at), byte(pixels, at + 1) - 128, byte(pixels, at + 2) - 128];
  pixels[at] = clampedByte(y + 1.402 * cr);
  pixels[at + 1] = clampedByte(y - 0.344_136 * cb - 0.714_136 * cr);
  pixels[at + 2] = clampedByte(y + 1.772 * cb);
};

function byte(pixels: Buffer, at: number): number {
  return pixels[at] ?? 0;
}

function clampedByte(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)));
}

/** The upper 16 of 32 bits. */
const halveIntegers: Converter['raster'] = ({ data, channels }, { photometric }) => {
  const halved = Buffer.alloc(data.length / 2);
  for (let at = 0; at < halved.length; at += 2) halved.writeUInt16BE(data.readUInt32LE(at * 2) >>> 16, at);
  const color = photometric === photometrics.separated ? 'cmyk' : channels < 3 ? 'grey' : 'rgb';
  return { color, bits: 16, data: halved };
};

/** What floating-point numbers mean as white: nothing in a TIFF says it, but programs write one of these. */
const whites = [1, 255, 65_535];

const scaleFloats: Converter['raster'] = ({ data }, _page, named) => {
  let highest = 0;
  for (let at = 0; at < data.length; at += 4) highest = Math.max(highest, data.readFloatLE(at) || 0);
  const white = whites.find((value) => highest <= value);
  if (white === undefined) throw refuse(named, 'holds numbers that do not say which of them is white');
  const scaled = Buffer.alloc(data.length / 2);
  for (let at = 0; at < scaled.length; at += 2) {
    const value = Math.max(0, data.readFloatLE(at * 2) || 0); // Not a number is black.
    scaled.writeUInt16BE(Math.round((value / white) * 65_535), at);
  }
  return { color: 'grey', bits: 16, data: scaled };
};
