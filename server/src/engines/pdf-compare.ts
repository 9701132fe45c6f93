import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { pageWords } from './page-search.ts';
import type { Box } from './pdfium-content.ts';
import { readPdf, type PdfReader, type RenderedPage } from './pdfium.ts';
import { writeImagesAsPdf } from './pdf-lib.ts';
import { loadSharp } from './sharp.ts';

export interface ComparedFile {
  path: string;
  filename: string;
}

export interface PdfComparison {
  dpi: number;
  /** How far apart two colours may be, 0 to 1. */
  threshold: number;
  password: string | undefined;
  scratch: string;
  signal: AbortSignal;
  onProgress(fraction: number): void;
}

/** More pages than this are not looked at by anybody. */
const maxComparedPages = 1000;
/** In milliseconds: beyond it, two texts have so little in common that their differences help nobody. */
const longestComparison = 60_000;

/** A page of either file, painted. */
type Side = RenderedPage | undefined;

interface PageReport {
  /** From 1. */
  page: number;
  in: 'both' | 'first' | 'second';
  same_size: boolean;
  /** The part of the page's pixels that differ, 0 to 1. */
  changed_share: number;
}

/**
 * Compares how two files look, page by page, and writes a PDF to `path` with the pages of both side by side and the
 * differences in red on the second.
 *
 * @returns a report for JSON
 * @throws Failure `resource_limit` for too many pages; as `readPdf`.
 */
export async function compareLooks(one: ComparedFile, other: ComparedFile, path: string, options: PdfComparison) {
  const { default: pixelmatch } = await import('pixelmatch');
  return withBoth(one, other, path, options, async (first, second, show) => {
    const pages: PageReport[] = [];
    for (let page = 0; page < Math.max(first.pageCount, second.pageCount); page++) {
      const [left, right] = [paint(first, page, options.dpi), paint(second, page, options.dpi)];
      if (left === undefined || right === undefined) {
        pages.push({ page: page + 1, in: left ? 'first' : 'second', same_size: false, changed_share: 1 });
        await show(left, right);
        continue;
      }
      const width = Math.min(left.width, right.width);
      const height = Math.min(left.height, right.height);
      const mask = Buffer.alloc(width * height * 4);
      const both = [left, right].map((side) => cut(side, width, height)) as [Buffer, Buffer];
      const { threshold } = options;
      const counted = pixelmatch(...both, mask, width, height, {
        threshold,
        diffMask: true,
        diffColor: [255, 0, 0],
        aaColor: [0, 0, 0],
      });
      // A pixel more or less comes of rounding.
      const sameSize = Math.abs(left.width - right.width) <= 1 && Math.abs(left.height - right.height) <= 1;
      const alone = sameSize ? 0 : left.width * left.height + right.width * right.height - 2 * width * height;
      const share = (counted + alone) / (width * height + alone);
      // Never rounded to nothing: one pixel is a difference.
      const shown = share === 0 ? 0 : Math.max(0.000001, Number(share.toFixed(6)));
      pages.push({ page: page + 1, in: 'both', same_size: sameSize, changed_share: shown });
      markPixels(right, mask, width, height);
      await show(left, right);
    }
    return {
      equal: pages.every(({ changed_share: share }) => share === 0),
      mode: 'visual',
      dpi: options.dpi,
      first: { file: one.filename, pages: first.pageCount },
      second: { file: other.filename, pages: second.pageCount },
      changed_pages: pages.filter(({ changed_share: share }) => share > 0).map(({ page }) => page),
      pages,
    };
  });
}

interface Word {
  text: string;
  /** 0-based. */
  page: number;
  boxes: Box[];
}

/**
 * Compares the words of two files from beginning to end, so that text which only moved to another page is no difference.
 * Writes a PDF to `path` with the pages side by side: removed words red on the first, added ones green on the second.
 *
 * @returns a report for JSON
 * @throws Failure `invalid_input` when neither has text; `resource_limit`; as `readPdf`.
 */
export async function compareTexts(one: ComparedFile, other: ComparedFile, path: string, options: PdfComparison) {
  const { diffArrays } = await import('diff');
  return withBoth(one, other, path, options, async (first, second, show) => {
    const [before, after] = [readWords(first), readWords(second)];
    if (before.length === 0 && after.length === 0) {
      const message = `Neither ${one.filename} nor ${other.filename} has text; compare how they look instead.`;
      throw new Failure('invalid_input', message, { file: one.filename });
    }
    const parts = diffArrays(before, after, {
      comparator: (a, b) => a.text === b.text,
      timeout: longestComparison,
    }) as ReturnType<typeof diffArrays<Word>> | undefined;
    if (parts === undefined) throw new Failure('resource_limit', 'The two files differ in too much to be compared.');
    const changes: { removed: Word[]; added: Word[] }[] = [];
    let isOpen = false;
    for (const { added, removed, value } of parts) {
      if (!added && !removed) {
        isOpen = false;
        continue;
      }
      if (!isOpen) changes.push({ removed: [], added: [] });
      isOpen = true;
      changes.at(-1)?.[removed ? 'removed' : 'added'].push(...value);
    }
    for (let page = 0; page < Math.max(first.pageCount, second.pageCount); page++) {
      const [left, right] = [paint(first, page, options.dpi), paint(second, page, options.dpi)];
      const boxes = (kind: 'removed' | 'added') =>
        changes.flatMap((change) => change[kind].filter((word) => word.page === page).flatMap((word) => word.boxes));
      if (left) tint(left, boxes('removed'), options.dpi, [255, 150, 150]);
      if (right) tint(right, boxes('added'), options.dpi, [140, 230, 140]);
      await show(left, right);
    }
    const text = (words: readonly Word[]) => words.map((word) => word.text).join(' ');
    const pageOf = (words: readonly Word[]) => (words[0] === undefined ? null : words[0].page + 1);
    return {
      equal: changes.length === 0,
      mode: 'text',
      first: { file: one.filename, pages: first.pageCount, words: before.length },
      second: { file: other.filename, pages: second.pageCount, words: after.length },
      words_removed: changes.reduce((sum, { removed }) => sum + removed.length, 0),
      words_added: changes.reduce((sum, { added }) => sum + added.length, 0),
      changes: changes.map(({ removed, added }) => ({
        kind: removed.length === 0 ? 'added' : added.length === 0 ? 'removed' : 'replaced',
        removed: text(removed),
        added: text(added),
        first_page: pageOf(removed),
        second_page: pageOf(added),
      })),
    };
  });
}

type Show = (left: Side, right: Side) => Promise<void>;

/** Opens both files, and gathers the pictures of their pages into one PDF. */
async function withBoth<T>(
  one: ComparedFile,
  other: ComparedFile,
  path: string,
  options: PdfComparison,
  compare: (first: PdfReader, second: PdfReader, show: Show) => Promise<T>,
): Promise<T> {
  const { scratch, password, signal, onProgress } = options;
  const directory = await mkdtemp(join(scratch, 'compared-'));
  const pictures: { path: string; filename: string; type: 'jpeg' }[] = [];
  const report = await readPdf({ ...one, password, scratch }, (first) =>
    readPdf({ ...other, password, scratch }, async (second) => {
      const count = Math.max(first.pageCount, second.pageCount);
      if (count > maxComparedPages) {
        throw new Failure('resource_limit', `At most ${maxComparedPages} pages are compared, not ${count}.`);
      }
      return compare(first, second, async (left, right) => {
        signal.throwIfAborted();
        const picture = join(directory, `${pictures.length}.jpg`);
        await drawSides(left, right, options.dpi, picture);
        pictures.push({ path: picture, filename: 'page.jpg', type: 'jpeg' });
        onProgress(pictures.length / count);
      });
    }),
  );
  const layout = { page: undefined, orientation: 'auto', margin: 0, fit: 'contain' } as const;
  await writeImagesAsPdf(pictures, path, layout, { workspace: { scratch, signal }, onFile: () => undefined });
  await rm(directory, { recursive: true });
  return report;
}

function paint(reader: PdfReader, page: number, dpi: number): Side {
  return page < reader.pageCount ? reader.render(page, { dpi, transparent: false }) : undefined;
}

function readWords(reader: PdfReader): Word[] {
  return Array.from({ length: reader.pageCount }, (_, page) => {
    const { characters } = reader.content(page, { wantsImage: () => false });
    return pageWords(characters).map((word): Word => ({ ...word, page }));
  }).flat();
}

/** The upper left part of a page as RGBA. */
function cut({ pixels, width: full, channels }: RenderedPage, width: number, height: number): Buffer {
  const part = Buffer.alloc(width * height * 4, 255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels.copy(part, (y * width + x) * 4, (y * full + x) * channels, (y * full + x) * channels + 3);
    }
  }
  return part;
}

/** Makes a page pale and paints what the mask marks red. */
function markPixels(
  { pixels, width: full, channels }: RenderedPage,
  mask: Buffer,
  width: number,
  height: number,
): void {
  for (let at = 0; at < pixels.length; at++) pixels[at] = 128 + ((pixels[at] ?? 0) >> 1);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 4;
      // Edges that are only smoothed another way are black in the mask.
      if ((mask[from + 3] ?? 0) === 0 || (mask[from] ?? 0) === 0) continue;
      const at = (y * full + x) * channels;
      [pixels[at], pixels[at + 1], pixels[at + 2]] = [230, 0, 0];
    }
  }
}

/** Lays a colour over boxes (points from the upper left corner) as a marker pen does: what is dark stays. */
function tint(page: RenderedPage, boxes: readonly Box[], dpi: number, color: readonly [number, number, number]): void {
  const pixel = (points: number) => Math.round((points * dpi) / 72);
  const { pixels, width, height, channels } = page;
  for (const { left, top, right, bottom } of boxes) {
    for (let y = Math.max(0, pixel(top)); y < Math.min(height, pixel(bottom)); y++) {
      for (let x = Math.max(0, pixel(left)); x < Math.min(width, pixel(right)); x++) {
        const at = (y * width + x) * channels;
        for (const [index, value] of color.entries()) pixels[at + index] = Math.min(pixels[at + index] ?? 0, value);
      }
    }
  }
}

/** Both pages beside each other; the place of a page that is missing stays grey. */
async function drawSides(left: Side, right: Side, dpi: number, path: string): Promise<void> {
  const sharp = await loadSharp();
  const sides = [left, right].filter((side) => side !== undefined);
  const width = Math.max(...sides.map((side) => side.width));
  const height = Math.max(...sides.map((side) => side.height));
  const gap = Math.max(4, Math.round(dpi / 10));
  const placed = [left, right].flatMap((side, index) =>
    side === undefined
      ? []
      : [
          {
            input: side.pixels,
            raw: { width: side.width, height: side.height, channels: side.channels },
            left: gap + index * (width + gap),
            top: gap,
          },
        ],
  );
  await sharp({ create: { width: 2 * width + 3 * gap, height: height + 2 * gap, channels: 3, background: '#9aa0a6' } })
    .composite(placed)
    .withMetadata({ density: dpi })
    .jpeg({ quality: 85, chromaSubsampling: '4:4:4' })
    .toFile(path);
}
