import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageFile, Workspace } from './images.ts';
import { readingText } from './page-text.ts';
import { openImageAsPdf, openPdf, savePdf, shrinkPdf, type PdfFile } from './pdf-lib.ts';
import { readPdf, type PdfReader, type RenderedPage } from './pdfium.ts';
import { loadSharp } from './sharp.ts';
import { blankRecognition, noTextFound, recognise, type Recognition, type RecognisedWord } from './tesseract.ts';

export type OcrMode = 'skip_text' | 'force' | 'redo';

export interface PdfOcrOptions {
  /** The given name, for messages. */
  filename: string;
  password?: string | undefined;
  language: string;
  mode: OcrMode;
  /** Turn pages whose lines are not level. */
  deskew: boolean;
  /** 0 leaves the file as it is written; 1 repacks it without loss; 2 and 3 also make pictures smaller. */
  optimize: number;
  scratch: string;
  signal: AbortSignal;
  onProgress(fraction: number): void;
}

export interface PdfOcrResult {
  file: PdfFile;
  /** The text of each page: what was recognised, or what the page had already. */
  texts: string[];
}

/** Scanners' usual resolution for text; more is read no better. */
const recognitionDpi = 300;
/** A page larger than A3 at 300 dpi is drawn coarser. */
const maxPagePixels = 18_000_000;
/** Lines are level enough below the first; beyond the second it is not a page that lay crooked in a scanner. */
const [leastTurn, mostTurn] = [0.15, 15].map((degrees) => (degrees * Math.PI) / 180) as [number, number];

/**
 * Gives the pages of a PDF a layer of invisible text that can be searched and copied. What pages show stays as it is,
 * except with `force`, which turns every page into a picture.
 *
 * @throws Failure `password_required`, `invalid_input` for a damaged file and when there is no text at all.
 */
export async function addTextToPdf(path: string, options: PdfOcrOptions): Promise<PdfOcrResult> {
  const { filename, password, mode, scratch, signal } = options;
  const file = await openPdf({ path, filename, password, scratch });
  const source = mode === 'redo' ? await withoutEarlierText(file, scratch) : path;
  const texts = await readPdf({ path: source, filename, password, scratch }, async (reader) => {
    const done: string[] = [];
    for (const [page] of file.pages.entries()) {
      signal.throwIfAborted();
      done.push(await addTextToPage(file, reader, page, options));
      options.onProgress((page + 1) / file.pages.length);
    }
    return done;
  });
  if (texts.every((text) => text.trim() === '')) throw noTextFound(filename);
  await optimizePdf(file, options.optimize);
  return { file, texts };
}

/** The pictures of an image file as a PDF in the scratch directory, a page each. */
export async function imageToPdf(image: ImageFile, workspace: Workspace): Promise<string> {
  const { context } = await openImageAsPdf(image, workspace);
  const target = join(await mkdtemp(join(workspace.scratch, 'pictures-')), 'pictures.pdf');
  await savePdf(context, target);
  return target;
}

async function withoutEarlierText(file: PdfFile, scratch: string): Promise<string> {
  const { removeInvisibleText } = await import('./pdf/invisible-text.ts');
  const seen = new Set<PdfFile['pages'][number]>();
  for (const page of file.pages) removeInvisibleText(file, page, seen);
  const path = join(await mkdtemp(join(scratch, 'stripped-')), 'stripped.pdf');
  await savePdf(file.context, path);
  return path;
}

/** @returns the text of the page. */
async function addTextToPage(file: PdfFile, reader: PdfReader, page: number, options: PdfOcrOptions): Promise<string> {
  const { mode } = options;
  const present = readingText(reader.text(page));
  const hasText = present.trim() !== '';
  if (mode === 'skip_text' && hasText) return present;
  if (mode === 'redo' && hasText && !hasPictures(reader, page)) return present;
  // Text that is printed on a scan, such as a stamp or a page number, is text already: only the rest is recognised.
  const rendered = renderForRecognition(reader, page, { withoutText: mode === 'redo' && hasText });
  const { recognition, layer } = await recognisePage(rendered, options);
  const ref = file.pages[page];
  if (ref === undefined) return present;
  const { addTextLayer, hasAnnotations, replaceByPicture } = await import('./pdf/ocr-layer.ts');
  if (mode === 'force') replaceByPicture(file, ref, await pictureOf(rendered, options));
  const mayTurn = options.deskew && (mode === 'force' || (!hasText && !hasAnnotations(file, ref)));
  if (layer !== undefined) addTextLayer(file, ref, { layer, turn: mayTurn ? levelTurn(recognition.words) : 0 });
  return [...(hasText && mode === 'redo' ? [present.trim()] : []), recognition.text.trim(), ''].join('\n');
}

function hasPictures(reader: PdfReader, page: number): boolean {
  let found = false;
  const wantsImage = () => {
    found = true;
    return false; // It is enough that there is one: none needs to be decoded.
  };
  reader.content(page, { wantsImage });
  return found;
}

interface PagePicture extends RenderedPage {
  dpi: number;
}

/** A page as text recognition wants it. */
export function renderForRecognition(
  reader: PdfReader,
  page: number,
  options: { withoutText: boolean } = { withoutText: false },
): PagePicture {
  const { width, height } = reader.pageSize(page);
  const fitting = 72 * Math.sqrt(maxPagePixels / Math.max(1, width * height));
  const dpi = Math.max(1, Math.min(recognitionDpi, Math.floor(fitting)));
  return { ...reader.render(page, { dpi, transparent: false, ...options }), dpi };
}

type PageOptions = Pick<PdfOcrOptions, 'filename' | 'language' | 'scratch' | 'signal'>;

/** Recognises a page that has been rendered; without words there is no layer. */
async function recognisePage(
  picture: PagePicture,
  options: PageOptions,
): Promise<{ recognition: Recognition; layer?: PdfFile }> {
  const recognition = await recognisePicture(picture, options, true);
  if (recognition.words.length === 0 || recognition.textLayerPath === undefined) return { recognition };
  const { filename, scratch } = options;
  return { recognition, layer: await openPdf({ path: recognition.textLayerPath, filename, scratch }) };
}

/** The text of a rendered page with its places, in pixels of the picture. */
export async function recognisePicture(
  { pixels, width, height, channels, dpi }: PagePicture,
  options: PageOptions,
  textLayer = false,
): Promise<Recognition> {
  const sharp = await loadSharp();
  const directory = await mkdtemp(join(options.scratch, 'page-'));
  const path = join(directory, 'page.png');
  const grey = sharp(pixels, { raw: { width, height, channels } }).removeAlpha().toColourspace('b-w');
  const { channels: shades } = await grey.clone().stats();
  if (shades.every(({ min, max }) => max - min < 16)) return blankRecognition;
  await grey.png({ compressionLevel: 1 }).toFile(path);
  try {
    return await recognise(path, { ...options, psm: 3, dpi, textLayer, scratch: directory });
  } finally {
    await rm(path, { force: true });
  }
}

/** The middle slope of lines of several words: the angle that makes them level. */
function levelTurn(words: readonly RecognisedWord[]): number {
  const lines = new Map<number, RecognisedWord[]>();
  for (const word of words) lines.set(word.line, [...(lines.get(word.line) ?? []), word]);
  const slopes = [...lines.values()].filter((line) => line.length >= 3).map((line) => line[0]?.slope ?? 0);
  if (slopes.length < 2) return 0;
  slopes.sort((a, b) => a - b);
  const turn = Math.atan(slopes[Math.floor(slopes.length / 2)] ?? 0);
  return Math.abs(turn) < leastTurn || Math.abs(turn) > mostTurn ? 0 : turn;
}

async function pictureOf(page: PagePicture, { filename, scratch, signal }: PdfOcrOptions): Promise<PdfFile> {
  const sharp = await loadSharp();
  const path = join(await mkdtemp(join(scratch, 'page-')), 'page.jpg');
  const { width, height, channels, pixels } = page;
  const image = sharp(pixels, { raw: { width, height, channels } }).removeAlpha();
  const shown = isGrey(page) ? image.toColourspace('b-w') : image;
  await shown.jpeg({ quality: 85 }).toFile(path);
  try {
    return await openImageAsPdf({ path, filename, type: 'jpeg' }, { scratch, signal });
  } finally {
    await rm(path, { force: true });
  }
}

function isGrey({ pixels, channels }: RenderedPage): boolean {
  for (let at = 0; at + 2 < pixels.length; at += channels) {
    const [r = 0, g = 0, b = 0] = [pixels[at], pixels[at + 1], pixels[at + 2]];
    if (Math.max(r, g, b) - Math.min(r, g, b) > 8) return false;
  }
  return true;
}

const pictureTargets: Record<number, { dpi: number; quality: number }> = {
  2: { dpi: 300, quality: 75 },
  3: { dpi: 200, quality: 60 },
};

async function optimizePdf(file: PdfFile, level: number): Promise<void> {
  const target = pictureTargets[level];
  if (target !== undefined) await shrinkPdf(file, { ...target, removeMetadata: false, onProgress: () => undefined });
  if (level !== 1) return;
  const { compressStreams, mergeDuplicates } = await import('./pdf/tidy.ts');
  compressStreams(file);
  mergeDuplicates(file.context);
}
