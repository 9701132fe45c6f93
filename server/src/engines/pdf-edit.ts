import { systemClock } from '../lib/clock.ts';
import { readHead } from '../lib/read-head.ts';
import { maxPages, refuseDamage, savePdf } from './pdf-lib.ts';
import type { Attachment } from './pdf/attachments.ts';
import type { PdfFile } from './pdf/document.ts';
import type { Description, DocumentProperties } from './pdf/document-properties.ts';
import type { FlattenOptions } from './pdf/flatten.ts';
import type { Imposition } from './pdf/impose.ts';
import type { Rectangle } from './pdf/page-frame.ts';
import type { PageNumberOptions, WatermarkOptions } from './pdf/placed-marks.ts';

/** Turns pages, 0-based, clockwise by so many degrees, on top of the turn they have. */
export async function rotatePages(file: PdfFile, pages: Iterable<number>, degrees: number): Promise<void> {
  const { rotatePage } = await import('./pdf/page-frame.ts');
  for (const page of new Set(pages)) rotatePage(file, page, degrees);
}

/** Empties the signature fields of a file that has been changed; returns how many were signed. */
export async function dropSignatures(file: PdfFile): Promise<number> {
  const { dropSignatures: drop } = await import('./pdf/fields.ts');
  return drop(file);
}

/** True when form fields stand on a page, 0-based: an empty one may show nothing. */
export async function hasFields(file: PdfFile, page: number): Promise<boolean> {
  const { widgetsOf } = await import('./pdf/fields.ts');
  return widgetsOf(file, page).length > 0;
}

/**
 * The pages that are left of a file whose page tree cannot be followed, without what ties them together.
 *
 * @throws Failure `invalid_input` when there are none.
 */
export async function salvagePdf(path: string, filename: string): Promise<PdfFile> {
  const { salvagePages } = await import('./pdf/salvage.ts');
  return salvagePages(path, filename, maxPages);
}

/** Draws a mark on pages; see `pdf/placed-marks.ts`. */
export async function addWatermark(file: PdfFile, options: WatermarkOptions): Promise<void> {
  const marks = await import('./pdf/placed-marks.ts');
  await marks.addWatermark(file, options);
}

/** Writes a number on pages; see `pdf/placed-marks.ts`. */
export async function addPageNumbers(file: PdfFile, options: PageNumberOptions): Promise<void> {
  const marks = await import('./pdf/placed-marks.ts');
  await marks.addPageNumbers(file, options);
}

/** Makes fields and annotations part of their pages; see `pdf/flatten.ts`. */
export async function flattenPages(file: PdfFile, options: FlattenOptions): Promise<{ drawn: number; kept: number }> {
  const flatten = await import('./pdf/flatten.ts');
  return flatten.flattenPages(file, options);
}

/** How large a page, 0-based, is for its reader, in points. */
export async function shownSize(file: PdfFile, page: number): Promise<{ width: number; height: number }> {
  const { pageFrame } = await import('./pdf/page-frame.ts');
  return pageFrame(file, page);
}

/**
 * Makes a part of a page, 0-based, all that is shown of it; the rest is hidden, not removed.
 *
 * @param area in points from the lower left corner of what the reader saw before.
 */
export async function cropPage(file: PdfFile, page: number, area: Rectangle): Promise<void> {
  const { cropPage: crop } = await import('./pdf/page-frame.ts');
  crop(file, page, area);
}

/** True when most pages are wider than high. */
export async function isMostlyLandscape(file: PdfFile): Promise<boolean> {
  const { isMostlyLandscape: isLandscape } = await import('./pdf/impose.ts');
  return isLandscape(file);
}

/** Writes sheets with several pages each to `path`; see `pdf/impose.ts`. Fields and comments become part of the pages. */
export async function writeSheets(
  file: PdfFile,
  order: readonly (number | undefined)[],
  layout: Imposition,
  path: string,
): Promise<void> {
  const { impose } = await import('./pdf/impose.ts');
  await refuseDamage(file);
  await flattenPages(file, { forms: true, annotations: true, pages: file.pages.keys() });
  await savePdf(impose(file, order, layout), path);
}

/** The files inside a PDF: those of the whole and those on its pages. */
export async function attachmentsOf(file: PdfFile): Promise<Attachment[]> {
  const attachments = await import('./pdf/attachments.ts');
  return attachments.attachmentsOf(file);
}

/** Writes what an attachment holds; see `pdf/attachments.ts`. */
export async function writeAttachment(
  attachment: Attachment,
  path: string,
  options: { filename: string; maxBytes: number; signal: AbortSignal },
): Promise<number> {
  const attachments = await import('./pdf/attachments.ts');
  return attachments.writeAttachment(attachment, path, options);
}

/** Leaves out every file inside a PDF, in place. */
export async function removeAttachments(file: PdfFile): Promise<void> {
  const attachments = await import('./pdf/attachments.ts');
  attachments.removeAttachments(file);
}

/** What a file says of itself. */
export async function readProperties(file: PdfFile): Promise<DocumentProperties> {
  const metadata = await import('./pdf/metadata.ts');
  return metadata.readProperties(file);
}

/** Changes what a file says of itself; see `pdf/metadata.ts`. */
export async function writeProperties(file: PdfFile, given: Description, clear: boolean): Promise<void> {
  const metadata = await import('./pdf/metadata.ts');
  const now = `${systemClock.now().toISOString().slice(0, 19)}Z`;
  metadata.writeProperties(file, given, { clear, now });
}

/** What can be told of an open file, as plain data for JSON; see `pdf/report.ts`. */
export async function reportOf(file: PdfFile): Promise<Record<string, unknown>> {
  const report = await import('./pdf/report.ts');
  return report.reportOf(file);
}

/** True when a file is arranged for fast web view and nothing was added to it since. */
export async function isLinearized(path: string, sizeBytes: number): Promise<boolean> {
  const head = (await readHead(path, 2048)).toString('latin1');
  const length = /\/L\s{0,8}(\d{1,15})/.exec(head)?.[1];
  return head.includes('/Linearized') && Number(length) === sizeBytes;
}
