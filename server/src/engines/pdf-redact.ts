import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { boxesOf, pageWords, searchableText } from './page-search.ts';
import { flattenPages } from './pdf-edit.ts';
import { openImageAsPdf, openPdf, savePdf, type PdfFile } from './pdf-lib.ts';
import type { Box, ContentCharacter } from './pdfium-content.ts';
import { readPdf, type PdfReader } from './pdfium.ts';
import { searchFor, type RedactionTargets, type Search } from './redaction-patterns.ts';
import { loadSharp } from './sharp.ts';

export interface RedactOptions extends RedactionTargets {
  /** `#rrggbb` */
  color: string;
  dpi: number;
  path: string;
  filename: string;
  password: string | undefined;
  scratch: string;
  signal: AbortSignal;
  onProgress(fraction: number): void;
}

export interface Redaction {
  /** Places on pages that were covered. */
  places: number;
  pages: number;
  /** Bookmarks, properties and the like that were changed. */
  texts: number;
  /** Pages on which there is no text that could be searched. */
  unread: number;
}

/** Around the letters, in points: nothing of their edges may be left to guess from. */
const padding = 1;
/** Shorter texts also stand in numbers and operators, where they mean nothing. */
const rawLength = 6;

/**
 * Writes a copy in which what is searched for is gone, not covered: a page that has it becomes a picture with boxes over
 * the places, and the words that are left are laid over it invisibly. Fields and comments become part of the pages first.
 * The result is read again; it counts only when nothing is found any more.
 *
 * @throws Failure `invalid_input` when nothing is found, `engine_failed` when something is left; as `openPdf`.
 */
export async function redactPdf(options: RedactOptions, output: string): Promise<Redaction> {
  const { filename, scratch, signal } = options;
  const search = searchFor(options);
  const directory = await mkdtemp(join(scratch, 'redacted-'));
  const file = await openPdf(options);
  await flattenPages(file, { forms: true, annotations: true, pages: file.pages.keys() });
  const flat = join(directory, 'flat.pdf');
  await savePdf(file.context, flat);
  const { replacePage, cleanDocument } = await import('./pdf/redaction.ts');
  const { openTypeface } = await import('./pdf/typeface.ts');
  const typeface = await openTypeface(file.context);
  const found = new Set<string>();
  const result = { places: 0, pages: 0, unread: 0, texts: 0 };
  await readPdf({ path: flat, filename, scratch }, async (reader) => {
    const scanned = file.pages.map((_, page) => findOn(reader, page, search));
    for (const { texts } of scanned) for (const text of texts) found.add(text);
    for (const [page, { hits, characters, width, places }] of scanned.entries()) {
      signal.throwIfAborted();
      if (!characters.some(({ text }) => text.trim() !== '')) result.unread += 1;
      if (hits.size === 0) continue;
      const boxes = boxesOf(
        characters,
        [...hits].toSorted((a, b) => a - b),
      );
      const picture = await paint(reader, page, boxes, directory, options);
      const words = pageWords(
        characters.filter(({ angle }, index) => !hits.has(index) && Math.abs(Math.sin(angle)) < 0.05),
      );
      replacePage(file, { page, picture, boxes, width, words: untouched(words, boxes) }, typeface);
      result.places += places;
      result.pages += 1;
      options.onProgress((page + 1) / scanned.length);
    }
  });
  typeface.finish();
  result.texts = cleanDocument(file, (text) => blackened(text, search));
  if (result.pages === 0 && result.texts === 0) throw nothingFound(filename, result.unread === file.pages.length);
  await savePdf(file.context, output);
  await verify(output, [...found], search, options);
  await rm(directory, { recursive: true });
  return result;
}

/** A word that is redacted only in part is none any more. */
function untouched(words: ReturnType<typeof pageWords>, boxes: readonly Box[]) {
  const meets = (a: Box, b: Box) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
  const slightly = (box: Box): Box => ({
    left: box.left + 0.2,
    right: box.right - 0.2,
    top: box.top + 2,
    bottom: box.bottom - 2,
  });
  return words.filter((word) => !word.boxes.some((box) => boxes.some((black) => meets(slightly(box), black))));
}

function nothingFound(filename: string, isPicture: boolean): Failure {
  const hint = isPicture ? ' It has no text at all: pictures of text have to be recognised (OCR) first.' : '';
  return new Failure('invalid_input', `Nothing to redact was found in ${filename}.${hint}`, { file: filename });
}

interface Found {
  characters: ContentCharacter[];
  width: number;
  /** Indexes of characters that have to go. */
  hits: Set<number>;
  places: number;
  texts: string[];
}

/** Searches a page as it reads with and without the hyphens at line ends. */
function findOn(reader: PdfReader, page: number, search: Search): Found {
  const { characters, width } = reader.content(page, { wantsImage: () => false });
  const hits = new Set<number>();
  const texts: string[] = [];
  let places = 0;
  for (const keepHyphens of [false, true]) {
    const { text, sources } = searchableText(characters, keepHyphens);
    const ranges = search(text);
    if (!keepHyphens) places = ranges.length;
    for (const { start, end } of ranges) {
      texts.push(text.slice(start, end));
      const [first = 0, last = 0] = [sources[start], sources[end - 1]];
      for (let index = first; index <= last; index++) hits.add(index);
    }
  }
  return { characters, width, hits, places: Math.max(places, hits.size > 0 ? 1 : 0), texts };
}

async function paint(
  reader: PdfReader,
  page: number,
  boxes: readonly Box[],
  directory: string,
  { dpi, color, signal }: RedactOptions,
): Promise<PdfFile> {
  const rendered = reader.render(page, { dpi, transparent: false });
  const { pixels, width, height, channels } = rendered;
  const ink = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const pixel = (points: number) => (points * dpi) / 72;
  for (const { left, top, right, bottom } of boxes) {
    const [x0, x1] = [
      Math.max(0, Math.floor(pixel(left - padding))),
      Math.min(width, Math.ceil(pixel(right + padding))),
    ];
    const [y0, y1] = [
      Math.max(0, Math.floor(pixel(top - padding))),
      Math.min(height, Math.ceil(pixel(bottom + padding))),
    ];
    for (let y = y0; y < y1; y++) {
      for (let x = x0; x < x1; x++) pixels.set(ink, (y * width + x) * channels);
    }
  }
  const path = join(directory, `page-${page}.png`);
  const sharp = await loadSharp();
  await sharp(pixels, { raw: { width, height, channels } }).png({ compressionLevel: 6 }).toFile(path);
  return openImageAsPdf({ path, filename: 'page.png', type: 'png' }, { scratch: directory, signal });
}

/** The text with a block for every letter that has to go; undefined when there is none. */
function blackened(text: string, search: Search): string | undefined {
  const hits = search(text);
  if (hits.length === 0) return undefined;
  const units = [...text.split('')];
  for (const { start, end } of hits) units.fill('█', start, end);
  return units.join('');
}

/** @throws Failure `engine_failed` */
async function verify(
  path: string,
  found: readonly string[],
  search: Search,
  { filename, scratch }: RedactOptions,
): Promise<void> {
  const left = (where: string) =>
    new Failure('engine_failed', `${filename} could not be redacted: something is still found in it.`, {
      file: filename,
      log: where,
    });
  await readPdf({ path, filename, scratch }, (reader) => {
    for (let page = 0; page < reader.pageCount; page++) {
      if (findOn(reader, page, search).hits.size > 0) throw left(`the text of page ${page + 1}`);
    }
    return Promise.resolve();
  });
  const { holdsText } = await import('./pdf/redaction.ts');
  const raw = found.filter((text) => text.length >= rawLength && /[\p{L}@]/u.test(text));
  if (holdsText(await openPdf({ path, filename, scratch }), raw)) throw left('the data of an object');
}
