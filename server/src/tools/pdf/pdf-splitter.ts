import {
  measureSelection,
  openPdf,
  pdfLib,
  topBookmarks,
  writeSelection,
  type PdfFile,
} from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { pageRanges, selectPageGroups } from '../page-ranges.ts';
import { choice, int, num, text } from '../settings.ts';

/** A part of a file: its pages, 0-based, and what its name says after the stem. */
interface Part {
  pages: number[];
  label: string;
}

/** More outputs of one run than this help nobody. */
const maxParts = 5000;

export default defineTool({
  slug: 'pdf-splitter',
  name: 'PDF Splitter',
  category: 'pdf',
  description: 'Splits a PDF into parts: by page ranges, every few pages, by size or by bookmarks.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [pdfLib, qpdf],
  settings: {
    mode: choice({
      describe: 'How to split: ranges (one part a range), every (parts of equal length), max_size, or bookmarks.',
      of: ['ranges', 'every', 'max_size', 'bookmarks'],
      default: 'every',
    }),
    ranges: pageRanges({ describe: 'For mode ranges: one part for each, such as 1-3,8,9-last.' }),
    every: int({ describe: 'For mode every: pages in a part.', min: 1, max: 1000, default: 1 }),
    max_size_mb: num({
      describe: 'For mode max_size: the largest part in megabytes (1 000 000 bytes).',
      min: 0.01,
      max: 2000,
    }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  check(settings) {
    const errors: FieldErrors = {};
    if (settings.mode === 'ranges' && settings.ranges === undefined) errors['ranges'] = ['is required for mode ranges'];
    if (settings.mode === 'max_size' && settings.max_size_mb === undefined) {
      errors['max_size_mb'] = ['is required for mode max_size'];
    }
    return errors;
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    for (const [index, { path, filename, stem }] of inputs.entries()) {
      const file = await openPdf({ path, filename, scratch, password: settings.password });
      const parts = await divide(file, settings);
      if (parts.length > maxParts) {
        throw new Failure('resource_limit', `${filename} would become more than ${maxParts} files.`, {
          file: filename,
        });
      }
      for (const [done, { pages, label }] of parts.entries()) {
        signal.throwIfAborted();
        await writeSelection([{ file, pages }], output(`${stem}-${label}.pdf`));
        progress(((index + (done + 1) / parts.length) / inputs.length) * 100);
      }
    }
  },
});

interface DivideSettings {
  mode: 'ranges' | 'every' | 'max_size' | 'bookmarks';
  ranges: string | undefined;
  every: number;
  max_size_mb: number | undefined;
}

async function divide(file: PdfFile, settings: DivideSettings): Promise<Part[]> {
  const count = file.pages.length;
  switch (settings.mode) {
    case 'ranges':
      return partsOfRanges(file, settings.ranges ?? 'all');
    case 'every':
      return cutAt(count, (page) => page % settings.every === 0);
    case 'max_size':
      return partsOfSize(file, (settings.max_size_mb ?? 0) * 1_000_000);
    case 'bookmarks':
      return partsOfBookmarks(file);
  }
}

function partsOfRanges(file: PdfFile, ranges: string): Part[] {
  return selectPageGroups(ranges, file.pages.length, file.filename).map(({ text, pages }) => ({
    pages,
    label: text === 'odd' || text === 'even' ? text : spanLabel(pages),
  }));
}

/** `4` or `1-3`, as people count. */
function spanLabel(pages: readonly number[]): string {
  const [first = 0, last = 0] = [pages[0], pages.at(-1)];
  return pages.length === 1 ? String(first + 1) : `${first + 1}-${last + 1}`;
}

/** Cuts before every page (but the first) for which `startsPart` is true. */
function cutAt(count: number, startsPart: (page: number) => boolean): Part[] {
  const groups: number[][] = [];
  for (let page = 0; page < count; page++) {
    const group = groups.at(-1);
    if (group === undefined || startsPart(page)) groups.push([page]);
    else group.push(page);
  }
  return groups.map((pages) => ({ pages, label: spanLabel(pages) }));
}

async function partsOfBookmarks(file: PdfFile): Promise<Part[]> {
  const bookmarks = await topBookmarks(file);
  if (bookmarks.length === 0) {
    throw new Failure('invalid_input', `${file.filename} has no bookmarks to split at.`, { file: file.filename });
  }
  const titles = new Map(bookmarks.toReversed().map(({ page, title }) => [page, title]));
  return cutAt(file.pages.length, (page) => titles.has(page)).map(({ pages, label }) => {
    const title = fileNamePart(titles.get(pages[0] ?? 0) ?? '');
    return { pages, label: title === '' ? label : title };
  });
}

/** A bookmark's title as a part of a file name. */
function fileNamePart(title: string): string {
  return title
    .replaceAll(/[\p{Cc}\p{Cf}<>:"/\\|?*]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 80);
}

/** As many pages in each part as fit; pages share fonts and images, so a part is measured, not added up. */
async function partsOfSize(file: PdfFile, maxBytes: number): Promise<Part[]> {
  const parts: Part[] = [];
  const count = file.pages.length;
  for (let start = 0; start < count;) {
    const length = await longestFit(file, start, maxBytes);
    if (length === 0) throw pageTooLarge(file, start, await sizeOf(file, start, 1), maxBytes);
    const pages = Array.from({ length }, (_, index) => start + index);
    parts.push({ pages, label: spanLabel(pages) });
    start += length;
  }
  return parts;
}

function sizeOf(file: PdfFile, start: number, length: number): Promise<number> {
  return measureSelection([{ file, pages: Array.from({ length }, (_, index) => start + index) }]);
}

/** The most pages from `start` that stay within `maxBytes`: doubling, then halving the step. */
async function longestFit(file: PdfFile, start: number, maxBytes: number): Promise<number> {
  const available = file.pages.length - start;
  let fits = 0;
  let tooMany = available + 1;
  for (let attempt = 1; fits + 1 < tooMany;) {
    if ((await sizeOf(file, start, attempt)) <= maxBytes) fits = attempt;
    else tooMany = attempt;
    attempt = tooMany > available ? Math.min(available, attempt * 2) : Math.floor((fits + tooMany) / 2);
  }
  return fits;
}

function pageTooLarge(file: PdfFile, page: number, size: number, maxBytes: number): Failure {
  const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(2);
  return new Failure(
    'invalid_input',
    `Page ${page + 1} of ${file.filename} alone is ${megabytes(size)} MB, more than the ${megabytes(maxBytes)} MB allowed.`,
    { file: file.filename },
  );
}
