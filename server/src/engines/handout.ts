import { readFile, writeFile } from 'node:fs/promises';
import type { Color, PDFEmbeddedPage, PDFPage } from '@cantoo/pdf-lib';

/** How many slides stand on a page, and in how many columns and rows. */
const grids = { 2: [1, 2], 4: [2, 2], 6: [2, 3] } as const;
export type SlidesPerPage = keyof typeof grids;

/** A4 upright, in points. */
const paper = { width: 595.28, height: 841.89 };
const margin = 36;
const gap = 18;

/**
 * Places the pages of a PDF that LibreOffice has written on handout pages, each with a thin frame, row by row.
 * Links inside the slides are lost: paper has none.
 */
export async function writeHandout(slides: string, target: string, perPage: SlidesPerPage): Promise<void> {
  const { PDFDocument, grayscale } = await import('@cantoo/pdf-lib');
  const handout = await PDFDocument.create();
  const source = await PDFDocument.load(await readFile(slides));
  const embedded = await handout.embedPages(source.getPages());
  for (let first = 0; first < embedded.length; first += perPage) {
    const page = handout.addPage([paper.width, paper.height]);
    const onPage = embedded.slice(first, first + perPage);
    for (const [index, slide] of onPage.entries()) placeSlide(page, slide, { index, perPage, frame: grayscale(0.5) });
  }
  await writeFile(target, await handout.save());
}

interface Place {
  index: number;
  perPage: SlidesPerPage;
  frame: Color;
}

function placeSlide(page: PDFPage, slide: PDFEmbeddedPage, { index, perPage, frame }: Place): void {
  const [columns, rows] = grids[perPage];
  const cell = {
    width: (paper.width - 2 * margin - (columns - 1) * gap) / columns,
    height: (paper.height - 2 * margin - (rows - 1) * gap) / rows,
  };
  const scale = Math.min(cell.width / slide.width, cell.height / slide.height);
  const width = slide.width * scale;
  const height = slide.height * scale;
  const left = margin + (index % columns) * (cell.width + gap);
  const top = paper.height - margin - Math.floor(index / columns) * (cell.height + gap);
  const x = left + (cell.width - width) / 2;
  const y = top - (cell.height + height) / 2;
  page.drawPage(slide, { x, y, width, height });
  page.drawRectangle({ x, y, width, height, borderWidth: 0.5, borderColor: frame });
}
