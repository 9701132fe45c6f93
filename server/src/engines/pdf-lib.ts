import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { PDFContext } from '@cantoo/pdf-lib';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import type { PageSelection } from './pdf/assemble.ts';
import type { OpenOptions, PdfFile } from './pdf/document.ts';
import type { EmbeddedFile } from './pdf/embed-files.ts';
import type { ImageFile, Workspace } from './images.ts';
import type { ImagePageLayout } from './pdf/image-page.ts';

export type { PageSelection } from './pdf/assemble.ts';
export type { OpenOptions, PdfFile } from './pdf/document.ts';
export type { ImagePageLayout } from './pdf/image-page.ts';

/** Ten times the longest book; a file of 600 kB can claim 100 000 pages. */
export const maxPages = 20_000;

const require = createRequire(import.meta.url);

/** Takes PDFs apart and puts them together. The library itself is loaded at the first use. */
export const pdfLib: Engine = {
  id: 'pdf-lib',
  name: 'pdf-lib',
  license: 'MIT',
  async version() {
    const manifest = await readFile(require.resolve('@cantoo/pdf-lib').replace(/cjs\/.*$/, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  },
};

/**
 * Reads a PDF into memory. Without a password the empty one is tried, so a file that only its owner's rights protect opens.
 *
 * @throws Failure `password_required`, `invalid_input` when no page can be read, `resource_limit` for too many pages.
 */
export async function openPdf(options: OpenOptions): Promise<PdfFile> {
  const { openPdf: open } = await import('./pdf/document.ts');
  return open(options, maxPages);
}

/**
 * The pages, 0-based, of which some content is lost or can no longer be unpacked; images are not looked at. None where the
 * file cannot be taken apart.
 */
export async function findDamagedPages(options: OpenOptions): Promise<Set<number>> {
  const { damagedPages } = await import('./pdf/damaged-pages.ts');
  try {
    return damagedPages(await openPdf({ ...options, allowsLostContent: true }));
  } catch (error) {
    if (error instanceof Failure) return new Set();
    throw error;
  }
}

/**
 * For tools that make something else of pages, 0-based: what is lost in a page would be missing without a word.
 *
 * @throws Failure `invalid_input` naming the first damaged page.
 */
export async function refuseDamage(file: PdfFile, pages: Iterable<number> = file.pages.keys()): Promise<void> {
  const { damagedPages } = await import('./pdf/damaged-pages.ts');
  const damaged = damagedPages(file);
  for (const page of pages) if (damaged.has(page)) throw damagedPage(file.filename, page);
}

export function damagedPage(filename: string, page: number): Failure {
  const message = `Page ${page + 1} of ${filename} is damaged: its content cannot be read to the end.`;
  return new Failure('invalid_input', message, { file: filename });
}

/** Keeps what can be read of damaged page content, in place; returns how many parts of it lost something. */
export async function keepReadable(file: PdfFile): Promise<number> {
  const { keepReadable: keep } = await import('./pdf/damaged-pages.ts');
  return keep(file);
}

/**
 * An image as a PDF of one page, or one a page for TIFF. JPEG data is taken as it is.
 *
 * @throws Failure `invalid_input` when the image cannot be read.
 */
export async function openImageAsPdf(file: ImageFile, workspace: Workspace): Promise<PdfFile> {
  const { imageAsPdf } = await import('./pdf/image-page.ts');
  return imageAsPdf(file, workspace);
}

/** Writes one PDF of images, one a page; see `pdf/image-files.ts`. */
export async function writeImagesAsPdf(
  files: readonly ImageFile[],
  path: string,
  layout: ImagePageLayout,
  run: { workspace: Workspace; onFile(count: number): void },
): Promise<number> {
  const { writeImagesAsPdf: write } = await import('./pdf/image-files.ts');
  return write(files, path, layout, run);
}

/** Writes a new PDF of selected pages to `path`; returns its size in bytes. See `pdf/assemble.ts` for what comes along. */
export async function writeSelection(selections: readonly PageSelection[], path: string): Promise<number> {
  const [{ assemble }, { writePdf }] = await Promise.all([import('./pdf/assemble.ts'), import('./pdf/write.ts')]);
  return writePdf(assemble(selections), path);
}

/** The size {@link writeSelection} would write, in bytes. */
export async function measureSelection(selections: readonly PageSelection[]): Promise<number> {
  const [{ assemble }, { measurePdf }] = await Promise.all([import('./pdf/assemble.ts'), import('./pdf/write.ts')]);
  return measurePdf(assemble(selections));
}

/** Writes an open file, changed in place, to `path`; returns its size in bytes. */
export async function savePdf(context: PDFContext, path: string): Promise<number> {
  const { writePdf } = await import('./pdf/write.ts');
  return writePdf(context, path);
}

/** Puts files into a PDF that this service made, as its attachments; in place. */
export async function embedInPdf(path: string, files: readonly EmbeddedFile[]): Promise<void> {
  const { embedFiles } = await import('./pdf/embed-files.ts');
  return embedFiles(path, files);
}

/** The pages that bookmarks of the top level lead to: 0-based, ascending, with the titles. */
export async function topBookmarks(file: PdfFile): Promise<{ title: string; page: number }[]> {
  const [{ readOutline, pageIndexOf }, { textOf }] = await Promise.all([
    import('./pdf/destinations.ts'),
    import('./pdf/objects.ts'),
  ]);
  return readOutline(file)
    .flatMap((item) => {
      const page = pageIndexOf(file, item.destination);
      return page === undefined ? [] : [{ title: textOf(item.title) ?? '', page }];
    })
    .toSorted((a, b) => a.page - b.page);
}

export interface ShrinkOptions {
  /** Images that show more pixels an inch are made smaller. */
  dpi: number;
  /** JPEG quality of images, 1 to 100. */
  quality: number;
  removeMetadata: boolean;
  onProgress(fraction: number): void;
}

/**
 * Makes an open file smaller, in place: images, streams, duplicates. Pages, bookmarks, forms and links stay as they are.
 */
export async function shrinkPdf(file: PdfFile, options: ShrinkOptions): Promise<{ images: number; shrunk: number }> {
  const [{ shrinkImages }, tidy] = await Promise.all([import('./pdf/images.ts'), import('./pdf/tidy.ts')]);
  if (options.removeMetadata) tidy.removeMetadata(file);
  tidy.mergeDuplicates(file.context);
  const result = await shrinkImages(file, options, options.onProgress);
  tidy.compressStreams(file);
  tidy.mergeDuplicates(file.context);
  return result;
}
