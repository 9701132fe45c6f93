import { Failure } from '../../lib/failure.ts';
import { recognisePicture, renderForRecognition } from '../pdf-ocr.ts';
import { cutPicture, shownPicture, type PictureFile } from '../pdf-pictures.ts';
import type { Box, PageContent } from '../pdfium-content.ts';
import type { PdfReader } from '../pdfium.ts';
import { drawingsOf } from './drawings.ts';
import { structurePage, type TableMode } from './page.ts';
import {
  type DocumentStructure,
  type PageStructure,
  type Paragraph,
  type Picture,
  type Word,
  blocksOf,
  textOf,
} from './types.ts';
import { recognisedWords, wordsOf } from './words.ts';

export interface StructureOptions {
  /** 0-based indexes, in the order wanted. */
  pages: readonly number[];
  filename: string;
  tables: TableMode;
  pictures: boolean;
  /** Vector drawings become pictures behind the text, at their place. */
  drawings?: boolean;
  /** False: pages that are only pictures are a result too. */
  needsText?: boolean;
  /** Recognises pages without text in this language. */
  ocrLanguage?: string | undefined;
  scratch: string;
  signal: AbortSignal;
  onProgress(fraction: number): void;
}

/** All pictures of a document together may take this many bytes. */
const maxPictureBytes = 512 * 1024 * 1024;
/** Smaller pictures are lines and dots of a drawing. */
const minPicturePoints = 4;

/**
 * Headings, paragraphs, lists, tables and pictures of a PDF in reading order.
 *
 * @throws Failure `invalid_input` when no page has text and none is to be recognised; `resource_limit`.
 */
export async function structureDocument(reader: PdfReader, options: StructureOptions): Promise<DocumentStructure> {
  const pages: PageStructure[] = [];
  const pictureFiles = new Map<string, PictureFile>();
  for (const [done, index] of options.pages.entries()) {
    options.signal.throwIfAborted();
    pages.push(await readPage(reader, index, options, pictureFiles));
    options.onProgress((done + 1) / options.pages.length);
  }
  const hasText = pages.some((page) => blocksOf(page).some(({ kind }) => kind !== 'picture'));
  if (!hasText && options.needsText !== false) throw noText(options);
  moveRunningLines(pages);
  nameHeadings(pages);
  levelLists(pages);
  return { pages };
}

function noText({ filename, ocrLanguage }: StructureOptions): Failure {
  const message =
    ocrLanguage === undefined
      ? `${filename} has no text: its pages are scans or empty. Set ocr=true, where the tool has it, or recognise its text first.`
      : `No text was found in ${filename}.`;
  return new Failure('invalid_input', message, { file: filename });
}

async function readPage(
  reader: PdfReader,
  index: number,
  options: StructureOptions,
  pictureFiles: Map<string, PictureFile>,
): Promise<PageStructure> {
  const content = reader.content(index, { wantsImage: () => options.pictures });
  let words: { upright: Word[]; tilted: Word[] } = wordsOf(content);
  let pictures = await picturesOf(content, pictureFiles);
  if (words.upright.length + words.tilted.length === 0 && options.ocrLanguage !== undefined) {
    const rendered = renderForRecognition(reader, index);
    const recognition = await recognisePicture(rendered, { ...options, language: options.ocrLanguage });
    words = { upright: recognisedWords(recognition.words, rendered.dpi), tilted: [] };
  }
  const isScan = words.upright.every(({ style }) => !style.isVisible) || content.characters.length === 0;
  // The picture of a scan shows the same words again.
  if (words.upright.length > 0 && isScan) {
    pictures = pictures.filter(
      (picture) =>
        (picture.right - picture.left) * (picture.bottom - picture.top) < 0.6 * content.width * content.height,
    );
  }
  const page = structurePage({ index, content, words, pictures, tables: options.tables });
  if (options.drawings === true) {
    const tables = blocksOf(page).filter(({ kind }) => kind === 'table');
    const places = drawingsOf(content, [...words.upright, ...words.tilted], tables);
    page.drawings = await drawnPictures(reader, index, places);
  }
  return page;
}

/** Fine enough for print. */
const drawingDpi = 200;
/** A page larger than A3 is drawn coarser. */
const maxDrawnPixels = 16_000_000;

async function drawnPictures(reader: PdfReader, page: number, places: readonly Box[]): Promise<Picture[]> {
  if (places.length === 0) return [];
  const { width, height } = reader.pageSize(page);
  const dpi = Math.min(drawingDpi, 72 * Math.sqrt(maxDrawnPixels / (width * height)));
  const drawn = reader.render(page, { dpi, transparent: true, drawingsIn: places });
  const pictures: Picture[] = [];
  for (const box of places) {
    const file = await cutPicture(drawn, box, dpi);
    if (file !== undefined) pictures.push({ kind: 'picture', ...box, file });
  }
  return pictures.toSorted((a, b) => a.top - b.top);
}

async function picturesOf(content: PageContent, files: Map<string, PictureFile>): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const image of content.images) {
    const { left, top, right, bottom, hash, matrix } = image;
    if (right - left < minPicturePoints || bottom - top < minPicturePoints) continue;
    if (right < 0 || bottom < 0 || left > content.width || top > content.height) continue;
    const key = `${hash} ${matrix.slice(0, 4).map(Math.sign).join(' ')}`;
    const file = files.get(key) ?? (await shownPicture(image));
    files.set(key, file);
    pictures.push({ kind: 'picture', left, top, right, bottom, file });
  }
  const bytes = [...files.values()].reduce((sum, { data }) => sum + data.length, 0);
  if (bytes > maxPictureBytes)
    throw new Failure('resource_limit', 'The pictures of the document are too large together. Choose fewer pages.');
  return pictures;
}

/** The part of a page's height in which headers and footers stand. */
const marginShare = 0.12;
const fewestPages = 3;

/** Takes lines that stand on most pages (with another number on each) out of the text. */
function moveRunningLines(pages: readonly PageStructure[]): void {
  if (pages.length < fewestPages) return;
  const counts = new Map<string, number>();
  const candidates = pages.map((page) =>
    blocksOf(page).flatMap((block) => {
      if (block.kind !== 'paragraph' || block.lineCount > 2) return [];
      const place =
        block.bottom < page.height * marginShare
          ? 'header'
          : block.top > page.height * (1 - marginShare)
            ? 'footer'
            : undefined;
      if (place === undefined) return [];
      const key = `${place} ${textOf(block).replaceAll(/\d+/g, '#')}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return [{ block, place, key }];
    }),
  );
  const needed = Math.max(fewestPages, Math.ceil(pages.length * 0.5));
  for (const [index, page] of pages.entries()) {
    const moved = new Set<unknown>();
    for (const { block, place, key } of candidates[index] ?? []) {
      if ((counts.get(key) ?? 0) < needed) continue;
      page[place as 'header' | 'footer'].push(block);
      moved.add(block);
    }
    for (const band of page.bands)
      for (const column of band.columns) column.blocks = column.blocks.filter((block) => !moved.has(block));
  }
}

function paragraphsIn(pages: readonly PageStructure[]): Paragraph[] {
  return pages.flatMap((page) => blocksOf(page).filter((block) => block.kind === 'paragraph'));
}

const maxHeadingLetters = 200;

/** Headings are short and larger than the usual text, or stand alone in bold. */
function nameHeadings(pages: readonly PageStructure[]): void {
  const paragraphs = paragraphsIn(pages);
  const letters = new Map<number, number>();
  let [bold, all] = [0, 0];
  for (const paragraph of paragraphs) {
    const { length } = textOf(paragraph);
    const size = Math.round(paragraph.size * 2) / 2;
    letters.set(size, (letters.get(size) ?? 0) + length);
    all += length;
    if (isBold(paragraph)) bold += length;
  }
  const usual = [...letters].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 10;
  const isShort = (paragraph: Paragraph) => {
    const text = textOf(paragraph);
    return paragraph.lineCount <= 3 && text.length <= maxHeadingLetters && /\p{L}/u.test(text);
  };
  const isLarge = (paragraph: Paragraph) =>
    paragraph.size > usual * 1.12 && isShort(paragraph) && paragraph.list?.ordered !== false;
  const sizes: number[] = [];
  for (const { size } of paragraphs.filter(isLarge).toSorted((a, b) => b.size - a.size)) {
    if (sizes.length === 0 || size < (sizes.at(-1) ?? 0) * 0.95) sizes.push(size);
  }
  for (const paragraph of paragraphs) {
    if (isLarge(paragraph)) {
      paragraph.heading = Math.min(5, sizes.findIndex((size) => paragraph.size > size * 0.95) + 1);
    } else if (
      bold < all * 0.4 &&
      isBold(paragraph) &&
      isShort(paragraph) &&
      paragraph.lineCount === 1 &&
      paragraph.size >= usual * 0.97 &&
      !/[.,;:]$/.test(textOf(paragraph))
    ) {
      paragraph.heading = Math.min(6, sizes.length + 1);
    } else continue;
    if (paragraph.list !== undefined) restoreMarker(paragraph, paragraph.list);
    delete paragraph.list;
  }
}

/** `1. Introduction` is a heading with a number, not the first item of a list. */
function restoreMarker(paragraph: Paragraph, { ordered, marker, left }: NonNullable<Paragraph['list']>): void {
  const [first, ...rest] = paragraph.runs;
  if (!ordered || first === undefined) return;
  paragraph.runs = [{ ...first, text: `${marker} ${first.text}` }, ...rest];
  paragraph.left = left;
}

function isBold({ runs }: Paragraph): boolean {
  return runs.every(({ style, text }) => style.bold || text.trim() === '');
}

/** How deep an item is: by where it stands among the items around it. */
function levelLists(pages: readonly PageStructure[]): void {
  for (const page of pages) {
    for (const { columns } of page.bands) {
      for (const { blocks } of columns) {
        const items = blocks.filter((block) => block.kind === 'paragraph' && block.list !== undefined) as Paragraph[];
        const lefts: number[] = [];
        for (const left of items.map((item) => item.left).toSorted((a, b) => a - b)) {
          if (left > (lefts.at(-1) ?? -Infinity) + 7) lefts.push(left);
        }
        for (const item of items)
          if (item.list !== undefined)
            item.list.level = Math.min(
              7,
              Math.max(
                0,
                lefts.findLastIndex((left) => item.left >= left - 0.01),
              ),
            );
      }
    }
  }
}
