import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { type SlidesPerPage, writeHandout } from './handout.ts';
import { type DocumentPart, type OfficeDocument, toPageRange, withDocument } from './libreoffice.ts';

export interface SlideOptions {
  target: string;
  /** The slides to write, as 0-based indexes in order. May throw. */
  selectSlides: (slides: readonly DocumentPart[]) => number[];
  /** Notes pages, each with a small slide and its notes, instead of slides. */
  notes?: boolean;
  /** Several slides on a page of paper. */
  perPage?: SlidesPerPage | undefined;
  password?: string | undefined;
  /** An existing private directory. */
  scratch: string;
  signal: AbortSignal;
}

/**
 * Writes slides of a presentation as PDF. Returns the indexes of the slides.
 *
 * @throws Failure `invalid_input` also for a presentation without slides; else as `withDocument`.
 */
export async function printSlides(document: OfficeDocument, options: SlideOptions): Promise<number[]> {
  const { target, selectSlides, notes = false, perPage, password, scratch, signal } = options;
  const slidesPdf = perPage === undefined ? target : join(scratch, 'slides.pdf');
  const selected = await withDocument(document, { module: 'impress', password, scratch, signal }, async (opened) => {
    const slides = selectSlides(opened.parts);
    if (slides.length === 0) {
      throw new Failure('invalid_input', `${document.filename} has no slides to show.`, { file: document.filename });
    }
    const range = { PageRange: toPageRange(slides), ExportHiddenSlides: true };
    const pages = notes ? { ExportNotesPages: true, ExportOnlyNotesPages: true } : {};
    await opened.store({ format: 'pdf', target: slidesPdf, data: { ...range, ...pages } });
    return slides;
  });
  if (perPage !== undefined) {
    await writeHandout(slidesPdf, target, perPage);
    await rm(slidesPdf, { force: true });
  }
  return selected;
}
