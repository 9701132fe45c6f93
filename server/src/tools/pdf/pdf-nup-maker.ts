import { isMostlyLandscape, writeSheets } from '../../engines/pdf-edit.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, num } from '../settings.ts';
import { openInput, password, pointsPerMm } from './edit-pdf.ts';

/** Columns and rows of upright pages. */
const grids = { 2: [2, 1], 4: [2, 2], 6: [3, 2], 8: [4, 2], 9: [3, 3], 16: [4, 4] } as const;

/** Points, upright. */
const sizes = {
  a3: [841.89, 1190.55],
  a4: [595.28, 841.89],
  a5: [419.53, 595.28],
  letter: [612, 792],
  legal: [612, 1008],
  tabloid: [792, 1224],
} as const;

export default defineTool({
  slug: 'pdf-nup-maker',
  name: 'PDF N-up Maker',
  category: 'pdf',
  description: 'Puts several pages of a PDF on each sheet, or two in the order of a folded booklet.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    per_sheet: choice({ describe: 'Pages on a sheet.', of: ['2', '4', '6', '8', '9', '16'], default: '2' }),
    page_size: choice({
      describe: 'The size of a sheet; it is turned so that the pages fit best.',
      of: ['a3', 'a4', 'a5', 'letter', 'legal', 'tabloid'],
      default: 'a4',
    }),
    booklet: flag({
      describe:
        'Order two pages a sheet for printing on both sides and folding; blank pages fill up to a multiple of 4.',
      default: false,
    }),
    margin_mm: num({
      describe: 'Millimetres to the edges of the sheet and between pages.',
      min: 0,
      max: 20,
      default: 5,
    }),
    frame: flag({ describe: 'Draw a thin frame around every page.', default: false }),
    password,
  },
  check: ({ booklet, per_sheet }) => (booklet && per_sheet !== '2' ? { per_sheet: ['must be 2 for a booklet'] } : {}),
  run: (context) =>
    eachInput(context, async (input) => {
      const { per_sheet, page_size, booklet, margin_mm, frame } = context.settings;
      const file = await openInput(input, context);
      const [across, down] = grids[per_sheet];
      // A booklet is two pages side by side, whatever their shape.
      const isTurned = !booklet && (await isMostlyLandscape(file));
      const [columns, rows] = isTurned ? [down, across] : [across, down];
      const [short, long] = sizes[page_size];
      const isWide = columns === rows ? isTurned : columns > rows;
      const sheet = isWide ? { width: long, height: short } : { width: short, height: long };
      const order = booklet ? bookletOrder(file.pages.length) : [...file.pages.keys()];
      const layout = { columns, rows, sheet, margin: margin_mm * pointsPerMm, frame };
      await writeSheets(file, order, layout, context.output(`${input.stem}.pdf`));
    }),
});

/** Left and right page of each side, front and back by turns: 8 1, 2 7, 6 3, 4 5. */
function bookletOrder(pages: number): (number | undefined)[] {
  const total = Math.ceil(pages / 4) * 4;
  return Array.from({ length: total / 2 }, (_, side) => {
    const [low, high] = [side, total - 1 - side];
    return side % 2 === 0 ? [high, low] : [low, high];
  })
    .flat()
    .map((page) => (page < pages ? page : undefined));
}
