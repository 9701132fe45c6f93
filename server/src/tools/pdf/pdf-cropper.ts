import { cropPage, shownSize } from '../../engines/pdf-edit.ts';
import { pdfLib, type PdfFile } from '../../engines/pdf-lib.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { visibleArea, VisibleArea } from '../../engines/visible-area.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { pageRanges } from '../page-ranges.ts';
import { flag, json, type Json, type Values } from '../settings.ts';
import { chosenPages, editEach, password, pointsPerMm } from './edit-pdf.ts';

const sides = ['top', 'right', 'bottom', 'left'] as const;
type Side = (typeof sides)[number];
type Margins = { [side: string]: number };

/** The largest page readers accept, in millimetres. */
const maxMargin = 5080;
const marginSchema = { type: 'number', minimum: 0, maximum: maxMargin };

const settings = {
  margins_mm: json<Margins>({
    describe:
      'Millimetres to cut off, one number or {"top":10,"right":5,"bottom":10,"left":5}; with auto, what to leave around the content.',
    schema: {
      oneOf: [
        marginSchema,
        {
          type: 'object',
          properties: Object.fromEntries(sides.map((side) => [side, marginSchema])),
          additionalProperties: false,
        },
      ],
    },
    check: readMargins,
  }),
  auto: flag({ describe: 'Cut off the empty space around what shows; blank pages stay as they are.', default: false }),
  same_for_all: flag({
    describe: 'With auto: cut the same off every page, so much that nothing of any page is lost.',
    default: false,
  }),
  pages: pageRanges({ describe: 'The pages to crop; the others stay as they are.', default: 'all' }),
  password,
};
type Settings = Values<typeof settings>;

function readMargins(value: Json): { value: Margins } | { problem: string } {
  const given = typeof value === 'number' ? Object.fromEntries(sides.map((side) => [side, value])) : value;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { problem: 'must be a number or an object' };
  const margins: Margins = {};
  for (const [side, margin] of Object.entries(given)) {
    if (!sides.includes(side as Side)) return { problem: `"${side}" is not one of ${sides.join(', ')}` };
    if (typeof margin !== 'number' || !(margin >= 0 && margin <= maxMargin)) {
      return { problem: `"${side}" must be a number between 0 and ${maxMargin}` };
    }
    margins[side] = margin;
  }
  return { value: margins };
}

export default defineTool({
  slug: 'pdf-cropper',
  name: 'PDF Cropper',
  category: 'pdf',
  description: 'Cuts the margins of PDF pages, by size or as much as is empty. What is cut off is hidden, not deleted.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [pdfLib, pdfium, qpdf],
  settings,
  check({ margins_mm, auto, same_for_all }) {
    if (margins_mm === undefined && !auto) return { margins_mm: ['is required unless auto is true'] };
    return same_for_all && !auto ? { same_for_all: ['is only for auto'] } : {};
  },
  run: (context) =>
    editEach(context, async (file, input) => {
      const pages = [...new Set(chosenPages(context.settings.pages, file))];
      const areas = context.settings.auto
        ? await contentAreas(input, file, pages, context)
        : new Map(pages.map((page) => [page, whole]));
      for (const [page, area] of areas) await crop(file, page, area, context.settings);
    }),
});

const whole = new VisibleArea(0, 0, 1, 1);

/** The content of each page that has any. */
async function contentAreas(
  input: InputFile,
  file: PdfFile,
  pages: readonly number[],
  { inputs, scratch, settings: { password: secret, same_for_all }, signal, progress }: ToolContext<Settings>,
): Promise<Map<number, VisibleArea>> {
  const { path, filename } = input;
  const before = inputs.indexOf(input);
  const areas = new Map<number, VisibleArea>();
  await readPdf({ path, filename, scratch, password: secret }, (reader) => {
    if (reader.pageCount !== file.pages.length) {
      throw new Failure('invalid_input', `${filename} is damaged: its pages cannot be told apart.`, { file: filename });
    }
    for (const [done, page] of pages.entries()) {
      signal.throwIfAborted();
      progress(((before + (done / pages.length) * 0.9) / inputs.length) * 100);
      const area = visibleArea(reader, page);
      if (area !== undefined) areas.set(page, area);
    }
    return Promise.resolve();
  });
  if (!same_for_all) return areas;
  const all = [...areas.values()];
  const common = new VisibleArea(
    Math.min(...all.map(({ left }) => left)),
    Math.min(...all.map(({ bottom }) => bottom)),
    Math.max(...all.map(({ right }) => right)),
    Math.max(...all.map(({ top }) => top)),
  );
  return all.length === 0 ? areas : new Map(pages.map((page) => [page, common]));
}

async function crop(
  file: PdfFile,
  page: number,
  area: VisibleArea,
  { auto, margins_mm: margins = {} }: Settings,
): Promise<void> {
  const { width, height } = await shownSize(file, page);
  const direction = auto ? -1 : 1;
  const cut = (side: Side) => (margins[side] ?? 0) * pointsPerMm * direction;
  const kept = {
    left: Math.max(0, area.left * width + cut('left')),
    bottom: Math.max(0, area.bottom * height + cut('bottom')),
    right: Math.min(width, area.right * width - cut('right')),
    top: Math.min(height, area.top * height - cut('top')),
  };
  if (kept.right - kept.left < 1 || kept.top - kept.bottom < 1) {
    const message = `Nothing would be left of page ${page + 1} of ${file.filename}: the margins are larger than it.`;
    throw new Failure('invalid_input', message, { file: file.filename });
  }
  await cropPage(file, page, kept);
}
