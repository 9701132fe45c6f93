import { PDFContext, PDFDict, type PDFRef } from '@cantoo/pdf-lib';
import { createCopier } from './copy.ts';
import type { PdfFile } from './document.ts';
import { mergeLayers } from './layers.ts';
import { resolve } from './objects.ts';
import { operands, pageFrame, rounded } from './page-frame.ts';
import { pageMark, type Mark } from './stamp.ts';

export interface Imposition {
  /** Pages side by side and above each other on a sheet. */
  columns: number;
  rows: number;
  /** Points. */
  sheet: { width: number; height: number };
  /** Points to the edges of the sheet and between pages. */
  margin: number;
  /** Draw a thin frame around every page. */
  frame: boolean;
}

/** True when most pages are wider than high. */
export function isMostlyLandscape(file: PdfFile): boolean {
  const wide = file.pages.keys().reduce((count, page) => {
    const { width, height } = pageFrame(file, page);
    return count + (width > height ? 1 : 0);
  }, 0);
  return wide > file.pages.length / 2;
}

/**
 * A new PDF of sheets, each with several pages made smaller or larger to fit: text stays text and lines stay lines. Links,
 * bookmarks and fields do not come along.
 *
 * @param order pages, 0-based, row by row and sheet by sheet; undefined leaves a place empty.
 */
export function impose(file: PdfFile, order: readonly (number | undefined)[], layout: Imposition): PDFContext {
  const target = PDFContext.create();
  const pagesRoot = target.nextRef();
  const catalog = target.obj({ Type: 'Catalog', Pages: pagesRoot });
  target.trailerInfo.Root = target.register(catalog);
  target.header = file.context.header;
  const copier = createCopier(file, target, new Map(), new Map());
  const marks = new Map<number, Mark>();
  const sheets: PDFRef[] = [];
  const places = layout.columns * layout.rows;
  for (let start = 0; start < order.length; start += places) {
    const drawn = order.slice(start, start + places).map((page) => {
      if (page === undefined) return undefined;
      const mark = marks.get(page) ?? pageMark(page, copier);
      marks.set(page, mark);
      return mark;
    });
    sheets.push(addSheet(target, pagesRoot, drawn, layout));
  }
  target.assign(pagesRoot, target.obj({ Type: 'Pages', Count: sheets.length, Kids: sheets }));
  mergeLayers(target, catalog, [copier]);
  const info = resolve(file.context, file.context.trailerInfo.Info);
  if (info instanceof PDFDict) target.trailerInfo.Info = target.register(copier.copy(info));
  copier.finish();
  return target;
}

function addSheet(
  target: PDFContext,
  pagesRoot: PDFRef,
  marks: readonly (Mark | undefined)[],
  { columns, rows, sheet, margin, frame }: Imposition,
): PDFRef {
  const room = {
    width: (sheet.width - margin * (columns + 1)) / columns,
    height: (sheet.height - margin * (rows + 1)) / rows,
  };
  const objects: Record<string, PDFRef> = {};
  const drawings = marks.flatMap((mark, index) => {
    if (mark === undefined) return [];
    const scale = Math.min(room.width / mark.width, room.height / mark.height);
    const [width, height] = [mark.width * scale, mark.height * scale];
    const column = index % columns;
    const row = rows - 1 - Math.floor(index / columns);
    const x = margin + column * (room.width + margin) + (room.width - width) / 2;
    const y = margin + row * (room.height + margin) + (room.height - height) / 2;
    objects[`P${index}`] = mark.form;
    const line = frame ? [`q 0.5 w ${operands(x, y, width, height)} re S Q`] : [];
    return [`q ${operands(scale, 0, 0, scale, x, y)} cm /P${index} Do Q`, ...line];
  });
  return target.register(
    target.obj({
      Type: 'Page',
      Parent: pagesRoot,
      MediaBox: [0, 0, rounded(sheet.width), rounded(sheet.height)],
      Resources: { XObject: objects },
      Contents: target.register(target.stream(drawings.join('\n'))),
    }),
  );
}
