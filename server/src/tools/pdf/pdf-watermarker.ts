import { gridPositions } from '../../engines/image-geometry.ts';
import { addWatermark, flattenPages } from '../../engines/pdf-edit.ts';
import { openImageAsPdf, openPdf, pdfLib, type PdfFile } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { defineTool, type InputFacts, type InputFile, type ToolContext } from '../define.ts';
import { pageRanges } from '../page-ranges.ts';
import { choice, color, int, num, text, type Values } from '../settings.ts';
import { chosenPages, editEach, password, pointsPerMm } from './edit-pdf.ts';

const settings = {
  text: text({ max: 500, describe: 'The text to write on the pages; required when mark is text.' }),
  mark: choice({
    of: ['text', 'last_file'],
    default: 'text',
    describe: 'What to put on the pages: the text, or the last file sent (an image, or the first page of a PDF).',
  }),
  position: choice({
    of: [...gridPositions, 'tile'],
    default: 'center',
    describe: 'Where the mark goes; tile repeats it all over.',
  }),
  opacity: num({ min: 0, max: 1, default: 0.3, describe: 'From invisible (0) to solid (1).' }),
  rotation: int({
    min: -180,
    max: 180,
    default: 45,
    describe: 'Degrees to turn the mark anticlockwise: 45 rises from the lower left to the upper right.',
  }),
  font_size: int({
    min: 6,
    max: 400,
    default: 48,
    describe: 'Height of the text in points; less where a page is small.',
  }),
  color: color({ default: '#888888', describe: 'Colour of the text.' }),
  scale: num({
    min: 0.01,
    max: 1,
    default: 0.5,
    describe: 'Width of a mark file as a part of the width of the page; text goes by font_size.',
  }),
  margin_mm: num({
    min: 0,
    max: 200,
    default: 10,
    describe: 'Millimetres between the mark and the edges of the page.',
  }),
  layer: choice({
    of: ['over', 'under'],
    default: 'over',
    describe: 'Above the content of the page, or below it, where a filled background hides it.',
  }),
  pages: pageRanges({ describe: 'The pages to mark; the others stay as they are.', default: 'all' }),
  password,
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'pdf-watermarker',
  name: 'PDF Watermarker',
  category: 'pdf',
  description: 'Puts a text, an image or a page on the pages of a PDF.',
  accepts: ['pdf', 'png', 'jpeg'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf, sharpEngine],
  settings,
  check: checkSettings,
  async run(context) {
    const { inputs, settings: values } = context;
    const last = inputs.at(-1);
    const isFile = values.mark === 'last_file' && last !== undefined;
    const mark = isFile
      ? { file: await openMark(last, context), scale: values.scale }
      : { text: values.text ?? '', fontSize: values.font_size, color: values.color };
    const margin = values.margin_mm * pointsPerMm;
    const work = isFile ? inputs.slice(0, -1) : inputs;
    await editEach(
      context,
      (file) => addWatermark(file, { ...values, mark, margin, pages: chosenPages(values.pages, file) }),
      work,
    );
  },
});

function checkSettings({ mark, text: words }: Settings, inputs: readonly InputFacts[]): FieldErrors {
  const marked = mark === 'last_file' ? inputs.slice(0, -1) : inputs;
  const image = marked.findIndex(({ type }) => type !== 'pdf');
  if (image !== -1) return { [`files.${image}`]: ['is an image, which can only be the mark (mark=last_file)'] };
  if (mark === 'text' && (words === undefined || words.trim() === ''))
    return { text: ['is required when mark is text'] };
  if (mark === 'last_file' && inputs.length < 2) {
    return { mark: ['last_file needs at least two files: the PDFs and, as the last one, the mark'] };
  }
  return {};
}

async function openMark(input: InputFile, context: ToolContext<Settings>): Promise<PdfFile> {
  const { path, filename, type } = input;
  if (type !== 'pdf') return openImageAsPdf(input, context);
  const { scratch, settings: values } = context;
  const file = await openPdf({ path, filename, scratch, password: values.password });
  await flattenPages(file, { forms: true, annotations: true, pages: [0] });
  return file;
}
