import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import { Failure } from '../lib/failure.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { readHead } from '../lib/read-head.ts';
import { decodeApng, writeApng } from './apng.ts';
import { encodeBmp, decodeBmp } from './bmp.ts';
import { cameraRawDecoder, developCameraRaw } from './camera-raw.ts';
import type { Engine } from './engine.ts';
import { copyExif, exifImages, exiftool } from './exiftool.ts';
import { isGifCutShort, withClearingFrames } from './gif.ts';
import { decodeHeic, encodeHeic, heicEncoder } from './heic.ts';
import { encodeIco, iconSizes, largestIconPicture } from './ico.ts';
import { assertDecodable, imageFailure, type NamedFile } from './image-failure.ts';
import { eraseThumbnail, hasThumbnail } from './image-metadata.ts';
import { assertNoJpegDamage } from './jpeg-damage.ts';
import { decodeJxl, encodeJxl } from './jxl.ts';
import { pngWithGammaProfile } from './png-gamma.ts';
import { decodePsd } from './psd.ts';
import { rasterToTiff } from './raster.ts';
import { loadSharp, maxPixels, openWithSharp } from './sharp.ts';
import { openSvg } from './svg.ts';
import { openTiff } from './tiff.ts';
import type { TiffPage } from './tiff-pages.ts';

/** Formats the image tools read as pixels; drawings (SVG) only where a tool says so. */
export const rasterTypes = [
  'jpeg',
  'png',
  'webp',
  'avif',
  'heic',
  'gif',
  'tiff',
  'bmp',
  'ico',
  'jxl',
  'psd',
  'raw',
] as const satisfies readonly FileTypeId[];

/** Formats the image tools write. */
export const imageFormats = ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff', 'bmp', 'ico', 'heic', 'jxl'] as const;
export type ImageFormat = (typeof imageFormats)[number];

const animatedFormats: readonly FileTypeId[] = ['gif', 'webp'];

/** The format a file keeps: its own, or the usual one for what nobody writes (a drawing, a Photoshop file, a raw photo). */
export function keptFormat(type: FileTypeId): ImageFormat {
  if (type === 'raw') return 'jpeg';
  return imageFormats.find((format) => format === type) ?? 'png';
}

/** Programs beyond npm that reading these inputs and writing this format need. */
export function imagePrograms(
  inputs: readonly { type: FileTypeId }[],
  format: ImageFormat | 'keep',
): readonly Engine[] {
  const programs: Engine[] = [];
  if (inputs.some(({ type }) => type === 'raw')) programs.push(cameraRawDecoder);
  const writesHeic = format === 'keep' ? inputs.some(({ type }) => type === 'heic') : format === 'heic';
  if (writesHeic) programs.push(heicEncoder);
  return programs;
}

/** The same for tools whose results still say what the photo says: camera, date, place. */
export function photoPrograms(
  inputs: readonly { type: FileTypeId }[],
  format: ImageFormat | 'keep',
): readonly Engine[] {
  const copies = inputs.some(({ type }) => type === 'raw') && (format === 'keep' || holdsExif(format));
  return [...imagePrograms(inputs, format), ...(copies ? [exiftool] : [])];
}

/** Everything `photoPrograms` may name. */
export const photoEngines: readonly Engine[] = [heicEncoder, cameraRawDecoder, exiftool];

function holdsExif(format: ImageFormat): boolean {
  return exifImages.some((type) => type === format);
}

export interface ImageFile extends NamedFile {
  path: string;
  /** Which page of a TIFF is meant; the first unless told. */
  page?: TiffPage | undefined;
}

/** Where a run may write, and how it is told to stop: a tool context is one. */
export interface Workspace {
  readonly scratch: string;
  readonly signal: AbortSignal;
}

/** An image that is open but not decoded yet: facts from its header, and the pipeline that will read it. */
export interface OpenImage {
  readonly file: ImageFile;
  readonly workspace: Workspace;
  /** Turns upright by itself unless the image was opened with `autoOrient: false`. */
  readonly pipeline: Sharp;
  /** Pixels of one frame, upright. */
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  /** Milliseconds a frame, and how often an animation plays (0: for ever). */
  readonly timing: { delay: number[]; loop: number } | undefined;
  readonly hasAlpha: boolean;
  readonly isGrey: boolean;
  readonly is16Bit: boolean;
  readonly hasProfile: boolean;
  /** A small copy of the picture in its EXIF block. */
  readonly hasThumbnail: boolean;
  /** The photo whose EXIF the pipeline does not carry: a camera raw one. */
  readonly exifFrom?: string;
}

export interface OpenOptions {
  /** Keep the frames of a GIF, WebP or animated PNG (true unless told): only for outputs that can move. */
  animated?: boolean;
  /** False: leave the pixels as they are stored and forget the orientation tag. */
  autoOrient?: boolean;
  /** Resolution a drawing is rasterised at; 96 is its own size. */
  dpi?: number | undefined;
}

/**
 * Opens any image: what libvips reads goes by path and is decoded only when the result is written; the other formats are
 * decoded here.
 *
 * @throws Failure `invalid_input` for a broken image, `resource_limit` above the pixel or frame limit.
 */
export async function openImage(file: ImageFile, workspace: Workspace, options: OpenOptions = {}): Promise<OpenImage> {
  try {
    const moving = file.type === 'png' && options.animated !== false ? await openApng(file, workspace) : undefined;
    if (moving !== undefined) return moving;
    const image = await imageFrom(await openPipeline(file, workspace, options), file, workspace, options);
    return file.type === 'raw' ? { ...image, exifFrom: file.path } : image;
  } catch (error) {
    throw imageFailure(error, file);
  }
}

/** The same for a pipeline that something else opened, such as the picture of a page. */
export async function imageFrom(
  pipeline: Sharp,
  file: ImageFile,
  workspace: Workspace,
  options: OpenOptions = {},
): Promise<OpenImage> {
  try {
    const metadata = await pipeline.metadata();
    const frames = options.animated === false ? 1 : (metadata.pageHeight && metadata.pages) || 1;
    const stored = { width: metadata.width, height: metadata.pageHeight ?? metadata.height };
    assertDecodable(file, { ...stored, frames });
    const turns = options.autoOrient !== false && (metadata.orientation ?? 1) > 1;
    const upright = turns ? metadata.autoOrient : stored;
    if (options.autoOrient === false) pipeline.withMetadata({ orientation: 1 });
    return {
      file,
      workspace,
      pipeline: turns ? pipeline.autoOrient() : pipeline,
      width: upright.width,
      height: frames > 1 ? stored.height : upright.height,
      frames,
      timing: frames > 1 ? { delay: metadata.delay ?? [], loop: metadata.loop ?? 0 } : undefined,
      hasAlpha: metadata.hasAlpha,
      isGrey: metadata.space === 'b-w' || metadata.space === 'grey16',
      is16Bit: metadata.depth === 'ushort',
      hasProfile: metadata.hasProfile,
      hasThumbnail: hasThumbnail(metadata.exif),
    };
  } catch (error) {
    throw imageFailure(error, file);
  }
}

async function openPipeline(file: ImageFile, workspace: Workspace, options: OpenOptions): Promise<Sharp> {
  const { path, type } = file;
  switch (type) {
    case 'svg':
    case 'svgz':
      return openSvg(path, file, options.dpi);
    case 'heic':
      return openWithSharp(await decodeHeic(path, file));
    case 'bmp':
      return openWithSharp(rasterToTiff(decodeBmp(await readFile(path), file)));
    case 'ico':
      return openWithSharp(largestIconPicture(await readFile(path), file));
    case 'jxl':
      return openWithSharp(rasterToTiff(await decodeJxl(await readFile(path), file)));
    case 'psd':
      return openWithSharp(rasterToTiff(decodePsd(await readFile(path), file)));
    case 'gif':
      return openGif(file, options);
    case 'png':
      return openWithSharp((await withGammaProfile(path)) ?? path);
    case 'tiff':
      return openTiff(path, file, file.page);
    case 'raw':
      return openWithSharp(await developCameraRaw(path, file, workspace));
    default: {
      const moves = options.animated !== false && type === 'webp';
      return openWithSharp(path, moves ? { pages: -1 } : {});
    }
  }
}

/** As much of a PNG as stands before its pixels, but for a very large colour profile. */
const pngHeadBytes = 65_536;

/** Undefined for a PNG that does not move. */
async function openApng(file: ImageFile, workspace: Workspace): Promise<OpenImage | undefined> {
  if (!(await readHead(file.path, pngHeadBytes)).includes('acTL')) return undefined;
  const decoded = await decodeApng(await readFile(file.path), file, workspace.signal);
  if (decoded === undefined) return undefined;
  const { data, width, height, frames, timing } = decoded;
  const sharp = await loadSharp();
  const raw = { width, height: height * frames, channels: 4, pageHeight: height } as const;
  return {
    file,
    workspace,
    pipeline: sharp(data, { raw, pages: -1, limitInputPixels: maxPixels }),
    ...{ width, height, frames, timing },
    hasAlpha: true,
    isGrey: false,
    is16Bit: false,
    hasProfile: false,
    hasThumbnail: false,
  };
}

/** A gamma stands before the pixels: only a file that says one there is read whole. */
async function withGammaProfile(path: string): Promise<Buffer | undefined> {
  const head = await readHead(path, 4096);
  return head.includes('gAMA') ? pngWithGammaProfile(await readFile(path)) : undefined;
}

async function openGif(file: ImageFile, { animated }: OpenOptions): Promise<Sharp> {
  const bytes = await readFile(file.path);
  const { filename } = file;
  if (isGifCutShort(bytes)) {
    throw new Failure('invalid_input', `"${filename}" ends in the middle of a frame.`, { file: filename });
  }
  return openWithSharp(withClearingFrames(bytes) ?? file.path, animated === false ? {} : { pages: -1 });
}

export interface EncodeOptions {
  /** 1 to 100; for PNG and GIF it is the quality of the palette. Lossless formats ignore it. */
  quality?: number;
  lossless?: boolean;
  /** PNG and GIF: reduce to at most 256 colours. */
  palette?: boolean;
  /** `best` spends several times the time for some per cent of size; `draft` finds the colours of a palette faster. */
  effort?: 'draft' | 'fast' | 'best';
  /** JPEG: in scans from coarse to fine; PNG and GIF: interlaced. */
  progressive?: boolean;
  /** What shows through transparent places in a format without transparency. */
  background?: string;
  /** Stored resolution. */
  dpi?: number | undefined;
  /** Keep EXIF, XMP and the colour profile (true unless told); without them colours are converted to sRGB. */
  keepMetadata?: boolean;
  /** The tool painted on the image: a grey one may have become coloured. */
  painted?: boolean;
}

/**
 * Decodes, transforms and encodes an image into a file, in one pass.
 *
 * @returns the size of the file in bytes.
 * @throws Failure as `openImage`, for what only shows while decoding.
 */
export async function writeImage(
  image: OpenImage,
  path: string,
  format: ImageFormat,
  options: EncodeOptions = {},
): Promise<number> {
  image.workspace.signal.throwIfAborted();
  try {
    await encoders[format](image, path, options);
    await assertNoJpegDamage(image.file);
    if (options.keepMetadata !== false) await finishMetadata(image, path, format);
    return (await stat(path)).size;
  } catch (error) {
    throw imageFailure(error, image.file);
  }
}

async function finishMetadata(image: OpenImage, path: string, format: ImageFormat): Promise<void> {
  const { exifFrom, hasThumbnail: showsMore, workspace } = image;
  if (showsMore) await rewrite(path, eraseThumbnail);
  if (exifFrom !== undefined && holdsExif(format)) await copyExif(exifFrom, path, workspace.signal);
}

async function rewrite(path: string, change: (file: Buffer) => void): Promise<void> {
  const file = await readFile(path);
  change(file);
  await writeFile(path, file);
}

type Encoder = (image: OpenImage, path: string, options: EncodeOptions) => Promise<unknown>;

const encoders: Record<ImageFormat, Encoder> = {
  jpeg: (image, path, options) =>
    prepared(image, options, { alpha: false })
      .jpeg({
        quality: options.quality ?? 85,
        progressive: options.progressive ?? false,
        mozjpeg: options.effort === 'best',
      })
      .toFile(path),
  png: (image, path, options) => (image.frames > 1 ? writeMovingPng : writePng)(image, path, options),
  webp: (image, path, options) =>
    prepared(image, options)
      .webp({
        quality: options.quality ?? 85,
        lossless: options.lossless ?? false,
        effort: options.effort === 'best' ? 6 : 4,
        ...image.timing,
      })
      .toFile(path),
  // Effort 2: libvips' default of 4 takes five times as long and 20 seconds for 8 million pixels.
  avif: (image, path, options) =>
    prepared(image, options)
      .avif({
        quality: options.quality ?? 60,
        lossless: options.lossless ?? false,
        effort: options.effort === 'best' ? 4 : 2,
      })
      .toFile(path),
  gif: (image, path, options) =>
    prepared(image, { ...options, keepMetadata: false }) // GIF holds no colour profile: its colours are sRGB.
      .gif({
        progressive: options.progressive ?? false,
        effort: options.effort === 'best' ? 10 : 5,
        ...(options.palette === true ? gifPalette(options.quality ?? 100) : {}),
        ...image.timing,
      })
      .toFile(path),
  tiff: writeTiff,
  bmp: writeBmp,
  ico: writeIco,
  heic: writeHeic,
  jxl: writeJxl,
};

function writePng(image: OpenImage, path: string, options: EncodeOptions): Promise<unknown> {
  return prepared(image, options, { deep: options.palette !== true })
    .png({
      progressive: options.progressive ?? false,
      ...(options.palette === true ? { palette: true, quality: options.quality ?? 100 } : {}),
      ...(options.effort === 'best' ? { effort: 10 } : options.effort === 'draft' ? { effort: 3 } : {}),
      ...(options.effort === 'best' || options.lossless === true ? { compressionLevel: 9 } : {}),
    })
    .toFile(path);
}

/** The frames of an animated PNG, whole and without a palette of their own: one would have to hold for all. */
async function writeMovingPng(image: OpenImage, path: string, options: EncodeOptions): Promise<void> {
  const { frames: count, timing, workspace } = image;
  const strip = prepared(image, { ...options, keepMetadata: false })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw();
  const { data, info } = await strip.toBuffer({ resolveWithObject: true });
  const length = data.length / count;
  const frames = Array.from({ length: count }, (_, index) => ({
    data: data.subarray(index * length, (index + 1) * length),
    width: info.width,
    height: info.height / count,
  }));
  await writeApng(frames, timing ?? { delay: [], loop: 0 }, path, workspace.signal);
}

/** GIF has no quality of its own: fewer colours, and small differences between frames are left out. */
function gifPalette(quality: number): { colours: number; interFrameMaxError: number } {
  return { colours: Math.max(8, Math.round(quality * 2.56)), interFrameMaxError: Math.round((100 - quality) / 10) };
}

/** What every format needs done to the pixels and the metadata before it is encoded. */
function prepared(image: OpenImage, options: EncodeOptions, target: { alpha?: boolean; deep?: boolean } = {}): Sharp {
  const { background, dpi, keepMetadata = true, painted = false } = options;
  let pipeline = image.pipeline;
  if (target.alpha === false && image.hasAlpha) pipeline = pipeline.flatten({ background: background ?? '#ffffff' });
  const isDeep = image.is16Bit && target.deep === true;
  const isGrey = image.isGrey && !painted;
  if (isGrey) pipeline = pipeline.toColourspace(isDeep ? 'grey16' : 'b-w');
  else if (isDeep) pipeline = pipeline.toColourspace('rgb16');
  if (keepMetadata) {
    // A profile of grey does not fit what becomes RGB on its way: its tones are converted instead, where libvips can.
    const convertsTones = image.isGrey && image.hasProfile && !isDeep;
    pipeline = convertsTones ? pipeline.keepExif().keepXmp() : pipeline.keepMetadata();
  }
  return dpi === undefined ? pipeline : pipeline.withDensity(dpi);
}

/**
 * Lossless by Deflate with a predictor, which every TIFF reader of this century knows. A palette quality asks for JPEG
 * inside, possible only for eight bits without transparency.
 */
async function writeTiff(image: OpenImage, path: string, options: EncodeOptions): Promise<void> {
  const isLossy = options.palette === true && !image.hasAlpha && !image.is16Bit;
  await prepared(image, options, { deep: true })
    .tiff({
      ...(isLossy
        ? { compression: 'jpeg', quality: options.quality ?? 85 }
        : { compression: 'deflate', predictor: 'horizontal' }),
      ...(options.dpi === undefined
        ? {}
        : { xres: options.dpi / 25.4, yres: options.dpi / 25.4, resolutionUnit: 'inch' }),
    })
    .toFile(path);
}

async function writeBmp(image: OpenImage, path: string, options: EncodeOptions): Promise<void> {
  const flat = prepared(image, { ...options, keepMetadata: false, painted: true }, { alpha: false });
  const { data, width, height } = await colorPixels(flat, (pixels) => pixels.removeAlpha());
  await writeFile(path, encodeBmp(data, width, height, options.dpi));
}

/** All usual sizes up to the image's own, each on a transparent square; never enlarged, except to the smallest. */
async function writeIco(image: OpenImage, path: string, options: EncodeOptions): Promise<void> {
  // In two steps: a second size for one pipeline would take the place of the one a tool asked for.
  const whole = await prepared(image, { ...options, keepMetadata: false })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const { data, info } = await (
    await openWithSharp(whole)
  )
    .resize(256, 256, { fit: 'inside', withoutEnlargement: true })
    .png()
    .toBuffer({ resolveWithObject: true });
  const longest = Math.max(info.width, info.height);
  const pictures = [];
  for (const edge of iconSizes.filter((size) => size <= longest || size === iconSizes[0])) {
    const square = (await openWithSharp(data)).resize(edge, edge, { fit: 'contain', background: '#00000000' });
    pictures.push({ edge, png: await square.ensureAlpha().toColourspace('srgb').png().toBuffer() });
  }
  await writeFile(path, encodeIco(pictures));
}

async function writeHeic(image: OpenImage, path: string, options: EncodeOptions): Promise<void> {
  const png = join(image.workspace.scratch, 'heic-source.png');
  await prepared(image, options).png({ compressionLevel: 1 }).toFile(png);
  const { signal } = image.workspace;
  // The program goes by the ending of the name.
  const heic = join(image.workspace.scratch, 'encoded.heic');
  const { quality = 60, lossless = false } = options;
  await encodeHeic(png, heic, { quality, lossless, signal }).catch((error: unknown) => {
    throw heicFailure(error, image);
  });
  await copyFile(heic, path);
}

/** Very long and narrow images HEVC does not hold; its encoder alone knows where that begins. */
function heicFailure(error: unknown, { file: { filename } }: OpenImage): unknown {
  if (!(error instanceof Failure) || !/invalid image size/i.test(error.log ?? '')) return error;
  const message = `"${filename}" is too long and narrow, or too large, to be written as HEIC.`;
  return new Failure('invalid_input', message, { file: filename, log: error.log });
}

async function writeJxl(image: OpenImage, path: string, options: EncodeOptions): Promise<void> {
  const flat = prepared(image, { ...options, keepMetadata: false, painted: true });
  const { data, width, height } = await colorPixels(flat, (pixels) => pixels.ensureAlpha());
  const { quality = 85, lossless = false, effort } = options;
  await writeFile(path, await encodeJxl(data, width, height, { quality, lossless, best: effort === 'best' }));
}

/** Pixels of three colours, and alpha as told. What was made grey has one, whatever is asked of the same pipeline. */
async function colorPixels(
  image: Sharp,
  withAlpha: (pixels: Sharp) => Sharp,
): Promise<{ data: Buffer; width: number; height: number }> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const sharp = await loadSharp();
  const pixels = sharp(data, { raw: { width, height, channels } }).toColourspace('srgb');
  return { data: await withAlpha(pixels).raw().toBuffer(), width, height };
}

/** The same image with further steps on its pipeline. */
export function withSteps(
  image: OpenImage,
  steps: (pipeline: Sharp) => Sharp,
  changed: Partial<OpenImage> = {},
): OpenImage {
  return { ...image, ...changed, pipeline: steps(image.pipeline) };
}

/**
 * Applies to every frame of an animation by itself what libvips cannot do to all of them at once (turning, for one). Each
 * frame must come out at the same size.
 */
export async function eachFrame(
  image: OpenImage,
  steps: (pipeline: Sharp) => Sharp | Promise<Sharp>,
): Promise<OpenImage> {
  try {
    if (image.frames === 1) return { ...image, pipeline: await steps(image.pipeline) };
    const sharp = await loadSharp();
    const { width, height, frames } = image;
    const strip = await image.pipeline.ensureAlpha().toColourspace('srgb').raw().toBuffer();
    const frameBytes = width * height * 4;
    const done: Buffer[] = [];
    let size = { width, height };
    for (let frame = 0; frame < frames; frame++) {
      image.workspace.signal.throwIfAborted();
      const pixels = strip.subarray(frame * frameBytes, (frame + 1) * frameBytes);
      const single = sharp(pixels, { raw: { width, height, channels: 4 } });
      const { data, info } = await (await steps(single)).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
      size = { width: info.width, height: info.height };
      assertDecodable(image.file, { ...size, frames });
      done.push(data);
    }
    const raw = { width: size.width, height: size.height * frames, channels: 4, pageHeight: size.height } as const;
    return {
      ...image,
      ...size,
      hasAlpha: true,
      pipeline: sharp(Buffer.concat(done), { raw, limitInputPixels: maxPixels }),
    };
  } catch (error) {
    throw imageFailure(error, image.file);
  }
}

/** Decoded pixels: rows of RGBA from the top, 8 bits a sample, sRGB. */
export interface Pixels {
  data: Buffer;
  width: number;
  height: number;
}

/**
 * The pixels of an image, after the given steps. Of an animation, every frame one below the other.
 *
 * @throws Failure as `openImage`, for what only shows while decoding.
 */
export async function readPixels(
  image: OpenImage,
  steps: (pipeline: Sharp) => Sharp = (pipeline) => pipeline,
): Promise<Pixels> {
  image.workspace.signal.throwIfAborted();
  try {
    const pipeline = steps(image.pipeline.clone()).toColourspace('srgb').ensureAlpha().raw();
    const { data, info } = await pipeline.toBuffer({ resolveWithObject: true });
    await assertNoJpegDamage(image.file);
    return { data, width: info.width, height: info.height };
  } catch (error) {
    throw imageFailure(error, image.file);
  }
}

/** Whether places of a picture can be transparent in a format. */
export function canBeClear(format: ImageFormat): boolean {
  return format !== 'jpeg' && format !== 'bmp';
}

/** Whether a file of this type goes on moving in a format. Others become a still PNG: what few programs play is not made unasked. */
export function canMove(format: ImageFormat, from: FileTypeId): boolean {
  return animatedFormats.includes(format) || (format === 'png' && from === 'png');
}
