import { createRequire } from 'node:module';
import { readFile, stat } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { Sharp } from 'sharp';
import type { PluginConfig } from 'svgo';
import { errorCode } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import { brokenImage, imageFailure, type NamedFile } from './image-failure.ts';
import { installedVersion, loadSharp, openWithSharp } from './sharp.ts';

export const svgoEngine: Engine = {
  id: 'svgo',
  name: 'SVGO',
  license: 'MIT',
  version: async () => installedVersion('svgo'),
};

const maxSvgBytes = 10 * 1024 * 1024;
/** SVG is drawn at 96 CSS pixels an inch; libvips calls that scale 72. */
const dpiToDensity = 72 / 96;

const gzipMark = 0x1f8b;

/**
 * The drawing as XML, unpacked where it is compressed.
 *
 * @throws Failure `resource_limit` for a drawing too large to parse.
 */
async function readSvg(path: string, named: NamedFile): Promise<Buffer> {
  const { filename } = named;
  const tooLarge = () =>
    new Failure('resource_limit', `"${filename}" is larger than the 10 MB an SVG drawing may have.`, {
      file: filename,
    });
  if ((await stat(path)).size > maxSvgBytes) throw tooLarge();
  const bytes = await readFile(path);
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== gzipMark) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxSvgBytes });
  } catch (error) {
    throw errorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : brokenImage(named, String(error));
  }
}

const declaredEncoding = /^(<\?xml[^>]*?)\s+encoding\s*=\s*["']([\w.:-]+)["']/;

/** The drawing as text, in whatever encoding its file is; its XML declaration names none any more. */
export async function readSvgText(path: string, named: NamedFile): Promise<string> {
  const bytes = await readSvg(path, named);
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const declared = declaredEncoding.exec(bytes.toString('latin1', 0, 200).replace(/^\xef\xbb\xbf/, ''))?.[2];
  const encoding = isUtf16 ? (first === 0xff ? 'utf-16le' : 'utf-16be') : (declared ?? 'utf-8');
  try {
    return new TextDecoder(encoding).decode(bytes).replace(declaredEncoding, '$1');
  } catch (error) {
    throw brokenImage(named, String(error));
  }
}

/** CSS pixels in one of each unit of length (CSS Values and Units, section 6.2). */
const unitPixels: Record<string, number> = { in: 96, cm: 96 / 2.54, mm: 96 / 25.4, q: 96 / 101.6, pt: 96 / 72, pc: 16 };
const lengths = /(?<![\w.#-])([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)(in|cm|mm|q|pt|pc)\b/gi;
const startTags = /<[a-z](?:"[^"<]*"|'[^'<]*'|[^'"<>])*>/gi;
const lengthAttributes =
  /(\s(?:width|height|[xyr]|[xy][12]|[cdfr][xy]|ref[xy]|marker(?:width|height)|style|font-size|stroke-width|stroke-dash(?:array|offset)|(?:letter|word)-spacing|textlength|startoffset)\s*=\s*)("[^"]*"|'[^']*')/gi;
const styleSheets = /(<style\b[^<>]*>\s*(?:<!\[CDATA\[)?)([^<]*)/gi;

/**
 * The drawing with its lengths in pixels: libvips takes an inch for 72 of them instead of 96, so what is measured in points or
 * millimetres would come out too small beside what is not, and cut off where there is no view box.
 */
function withPixelLengths(source: string): string {
  const inPixels = (text: string) =>
    text.replace(lengths, (_, value: string, unit: string) => {
      return `${Number((Number(value) * (unitPixels[unit.toLowerCase()] ?? 1)).toFixed(6))}px`;
    });
  return source
    .replace(startTags, (tag) =>
      tag.replace(lengthAttributes, (_, name: string, value: string) => name + inPixels(value)),
    )
    .replace(styleSheets, (_, tag: string, rules: string) => tag + inPixels(rules));
}

/** What libvips is given. */
async function readDrawing(path: string, named: NamedFile): Promise<Buffer> {
  return Buffer.from(withPixelLengths(await readSvgText(path, named)));
}

/**
 * Opens a drawing for rasterising, at its own size in CSS pixels or scaled to `dpi`. Handed over as bytes, never by path:
 * without a base address the renderer resolves no reference to another file.
 */
export async function openSvg(path: string, named: NamedFile, dpi = 96): Promise<Sharp> {
  await provideFont();
  return openWithSharp(await readDrawing(path, named), { density: Math.max(1, dpi * dpiToDensity) });
}

/** The finest libvips draws. */
const maxDensity = 100_000;

/** The resolution at which a drawing of this size in CSS pixels has `side` pixels along its longer side. */
export function dpiForSide({ width, height }: { width: number; height: number }, side: number): number {
  return Math.min((96 * side) / Math.max(width, height), maxDensity / dpiToDensity);
}

export const fontPath = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');

let fontProvided: Promise<unknown> | undefined;

/**
 * Makes the font we ship known to libvips for the rest of the process: on a machine without any font, text in a drawing
 * would silently come out blank. Fonts of the machine stay preferred where the drawing names them.
 */
function provideFont(): Promise<unknown> {
  fontProvided ??= loadSharp().then((sharp) =>
    sharp({ text: { text: 'A', font: 'DejaVu Sans 8', fontfile: fontPath, dpi: 72 } })
      .raw()
      .toBuffer(),
  );
  return fontProvided;
}

export interface SvgOptimization {
  /** Digits behind the decimal point of coordinates, 0 to 8; more are kept where fewer would show. */
  precision: number;
  /** Repeat until it gets no smaller. */
  multipass: boolean;
  /** Without it a drawing that has a width and a height no longer scales. */
  keepViewBox: boolean;
  /** On lines with indents. */
  pretty: boolean;
}

const usualOptimization: SvgOptimization = { precision: 3, multipass: true, keepViewBox: true, pretty: false };

/** Digits that are tried when fewer would show. */
const finerDigits = 2;

/**
 * A smaller drawing that looks the same, by SVGO, whose parser bounds how deep entities expand and reads no external
 * ones. Both drawings are rasterised and compared: where the usual steps would show, finer ones are taken, and in the end
 * only those that leave out what is never drawn. Ids stay, they may be referred to from outside. Nothing is executed.
 */
export async function optimizeSvg(
  path: string,
  named: NamedFile,
  options: SvgOptimization = usualOptimization,
): Promise<string> {
  const source = await readSvgText(path, named);
  const before = await rasterize(source);
  // What moves, reacts or is only drawn from elsewhere does not show in a picture of it.
  const isStill =
    before !== undefined && !/<script|<animate|<set\b|@keyframes|:hover|<symbol|display:\s*none/i.test(source);
  const digits = [options.precision, Math.min(8, options.precision + finerDigits), 8];
  for (const precision of isStill ? new Set(digits) : []) {
    const optimized = await runSvgo(source, named, { ...options, precision }, usualPlugins(options));
    if (looksLike(before, await rasterize(optimized))) return optimized;
  }
  const safe = await runSvgo(source, named, { ...options, precision: 8 }, safePlugins);
  return !isStill || looksLike(before, await rasterize(safe)) ? safe : source;
}

/** Leaves out what is never drawn. */
const safePlugins: PluginConfig[] = [
  'removeXMLProcInst',
  'removeComments',
  'removeMetadata',
  'removeEditorsNSData',
  'cleanupAttrs',
];

function usualPlugins({ keepViewBox }: SvgOptimization): PluginConfig[] {
  const preset: PluginConfig = { name: 'preset-default', params: { overrides: { cleanupIds: false } } };
  return keepViewBox ? [preset] : [preset, 'removeViewBox'];
}

async function runSvgo(
  source: string,
  named: NamedFile,
  { precision, multipass, pretty }: SvgOptimization,
  plugins: PluginConfig[],
): Promise<string> {
  const { optimize } = await import('svgo');
  try {
    const js2svg = { pretty, indent: 2 };
    const { data } = optimize(source, { multipass, floatPrecision: precision, plugins, js2svg });
    // Of a drawing that ends inside its first tag nothing is left, without an error.
    if (data !== '') return data;
  } catch (error) {
    throw brokenImage(named, String(error));
  }
  throw brokenImage(named, 'SVGO found no element');
}

/** Longer side of the pictures that are compared. */
const comparedSide = 512;

/** RGBA, premultiplied; undefined for a drawing that has no size or cannot be drawn. */
async function rasterize(source: string): Promise<{ width: number; pixels: Buffer } | undefined> {
  await provideFont();
  const bytes = Buffer.from(source);
  try {
    const { width, height } = await (await openWithSharp(bytes)).metadata();
    const density = Math.max(1, dpiForSide({ width, height }, comparedSide) * dpiToDensity);
    const { data, info } = await (
      await openWithSharp(bytes, { density })
    )
      .flatten({ background: '#c8a0e0' })
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, pixels: data };
  } catch {
    return undefined;
  }
}

/** Differences of one pixel's brightness that nobody sees, and the part of all pixels that may differ more. */
const unseen = 40;
const unseenShare = 0.0005;

function looksLike(one: Awaited<ReturnType<typeof rasterize>>, other: Awaited<ReturnType<typeof rasterize>>): boolean {
  if (one === undefined || other === undefined) return false;
  if (one.width !== other.width || one.pixels.length !== other.pixels.length) return false;
  let seen = 0;
  for (let at = 0; at < one.pixels.length; at++) {
    if (Math.abs((one.pixels[at] ?? 0) - (other.pixels[at] ?? 0)) > unseen) seen++;
  }
  return seen <= one.pixels.length * unseenShare;
}

export const rsvgConvert: Engine = {
  id: 'rsvg-convert',
  name: 'librsvg (draws SVG into PDF)',
  license: 'LGPL-2.1-or-later',
  install: 'apt-get install -y --no-install-recommends librsvg2-bin',
  async version() {
    const result = await runProgram('rsvg-convert', ['--version'], { timeoutMs: 5000 }).catch(() => undefined);
    return /version ([\d.]+)/.exec(result?.stdout ?? '')?.[1];
  },
};

/** The size of a drawing in CSS pixels. */
export async function drawingSize(path: string, named: NamedFile): Promise<{ width: number; height: number }> {
  try {
    // No pixel is made here: what it is drawn at decides whether that is too many.
    const options = { density: 96 * dpiToDensity, limitInputPixels: false };
    const drawing = await openWithSharp(await readDrawing(path, named), options);
    const { width, height } = await drawing.metadata();
    if (width > 0 && height > 0) return { width, height };
    throw brokenImage(named, `size ${width} x ${height}`);
  } catch (error) {
    throw imageFailure(error, named);
  }
}

export interface SvgPage {
  /** Of the page, in CSS pixels. */
  width: number;
  height: number;
  /** The drawing on it. */
  drawing: { left: number; top: number; width: number; height: number };
  /** Undefined: the page has no background. */
  background: string | undefined;
}

/**
 * Writes a drawing as a PDF of one page. It goes in by standard input, so that it has no address from which other files
 * could be reached.
 */
export async function writeSvgPdf(
  path: string,
  named: NamedFile,
  page: SvgPage,
  run: { path: string; signal: AbortSignal },
): Promise<void> {
  const px = (value: number) => `${value.toFixed(3)}px`;
  const { drawing, background } = page;
  const args = [
    ...['--format=pdf', '--dpi-x=96', '--dpi-y=96'],
    ...[`--page-width=${px(page.width)}`, `--page-height=${px(page.height)}`],
    ...[`--left=${px(drawing.left)}`, `--top=${px(drawing.top)}`],
    ...[`--width=${px(drawing.width)}`, `--height=${px(drawing.height)}`],
    ...(background === undefined ? [] : [`--background-color=${background}`]),
    `--output=${run.path}`,
  ];
  try {
    await runProgram('rsvg-convert', args, { stdin: await readSvgText(path, named), signal: run.signal });
  } catch (error) {
    throw error instanceof Failure && error.code === 'engine_failed' ? brokenImage(named, error.log ?? '') : error;
  }
}
