import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { toGray } from './ghostscript.ts';
import { flattenPages, shownSize } from './pdf-edit.ts';
import { openPdf, refuseDamage, shrinkPdf, writeSelection, type PdfFile } from './pdf-lib.ts';

/** Photos come back from Ghostscript without compression; this quality shows no loss. */
const photoQuality = 92;
/** Every image keeps its pixels. */
const anyDpi = 1_000_000;

/**
 * Makes pages of an open file grey, in place; the others stay as they are. Form fields and comments of these pages become
 * part of them, links stay.
 *
 * @throws Failure `invalid_input` for pages that Ghostscript cannot draw, `resource_limit` for one that no reader shows.
 */
export async function grayPages(
  file: PdfFile,
  pages: readonly number[],
  { scratch, signal }: { scratch: string; signal: AbortSignal },
): Promise<void> {
  const { grayAnnotations, replaceContent, withPlainPages } = await import('./pdf/replace-content.ts');
  const chosen = [...new Set(pages)];
  for (const page of chosen) refuseHuge(await shownSize(file, page), page, file.filename);
  await refuseDamage(file, chosen);
  const directory = await mkdtemp(join(scratch, 'gray-'));
  const [colored, gray] = [join(directory, 'colored.pdf'), join(directory, 'gray.pdf')];
  const { filename } = file;
  await flattenPages(file, { forms: true, annotations: true, pages: chosen });
  await withPlainPages(file, chosen, () => writeSelection([{ file, pages: chosen }], colored));
  const how = { input: colored, output: gray, filename, scratch: directory, signal, pages: chosen };
  await toGray(file, how).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error instanceof Failure ? unreadable(error, filename) : error;
  });
  const source = await openPdf({ path: gray, filename, scratch: directory });
  await shrinkPdf(source, { dpi: anyDpi, quality: photoQuality, removeMetadata: false, onProgress: () => undefined });
  replaceContent(file, chosen, source);
  grayAnnotations(file, chosen);
  await rm(directory, { recursive: true });
}

/** The largest page readers accept, in points. */
const maxPagePoints = 14_400;

function refuseHuge({ width, height }: { width: number; height: number }, page: number, file: string): void {
  if (width <= maxPagePoints && height <= maxPagePoints) return;
  const message = `Page ${page + 1} of ${file} is larger than ${maxPagePoints} points, the largest a page may be.`;
  throw new Failure('resource_limit', message, { file });
}

/** Ghostscript refuses what it cannot draw: the file is at fault, not the service. */
function unreadable(cause: Failure, file: string): Failure {
  if (cause.code !== 'engine_failed') return cause;
  const message = `${file} is damaged: its pages could not be drawn.`;
  return new Failure('invalid_input', message, { file, cause, log: cause.log });
}
