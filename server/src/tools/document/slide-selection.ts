import type { DocumentPart } from '../../engines/libreoffice.ts';
import { selectPages } from '../page-ranges.ts';

/** The slides a setting names, as 0-based indexes. `all` leaves hidden ones out; a number finds a hidden one too. */
export function selectSlides(ranges: string, slides: readonly DocumentPart[], file: string): number[] {
  if (ranges.trim().toLowerCase() === 'all') return [...slides.keys()].filter((index) => slides[index]?.shown === true);
  return selectPages(ranges, slides.length, file);
}
