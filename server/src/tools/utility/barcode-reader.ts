import { writeFile } from 'node:fs/promises';
import { readableTypes, readBarcodes, zxing, type FoundBarcode } from '../../engines/barcodes.ts';
import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { pagesOf } from '../../engines/image-pages.ts';
import { type ImageFile, imagePrograms, openImage, rasterTypes, readPixels } from '../../engines/images.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { pageRanges, selectPages } from '../page-ranges.ts';
import { flag, list, text, type Values } from '../settings.ts';

/** Fine enough for the small print codes of parcels and tickets. */
const pdfDpi = 200;

const settings = {
  formats: list({ of: readableTypes, default: 'all', describe: 'Kinds of codes to look for, separated by commas.' }),
  try_harder: flag({ default: true, describe: 'Also find turned, inverted and blurred codes; slower.' }),
  pages: pageRanges({ default: 'all', describe: 'Pages of a PDF or TIFF to look at, such as 1-3,8.' }),
  password: text({ max: 127, secret: true, describe: 'The password of encrypted PDFs.' }),
};

export default defineTool({
  slug: 'barcode-reader',
  name: 'QR & Barcode Reader',
  category: 'utility',
  description: 'Reads QR codes and bar codes in pictures and PDFs.',
  accepts: [...rasterTypes, 'svg', 'pdf'],
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [zxing, sharpEngine, pdfium],
  optionalEngines: [cameraRawDecoder],
  enginesFor: (_settings, inputs) => imagePrograms(inputs, 'png'),
  settings,
  run: (context) =>
    eachInput(context, async (input) => {
      const codes = await readCodes(input, context);
      const report = { filename: input.filename, count: codes.length, codes };
      await writeFile(context.output(`${input.stem}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
    }),
});

type Context = ToolContext<Values<typeof settings>>;

/** A picture that is no document has no page numbers. */
type Codes = (FoundBarcode & { page?: number })[];

async function readCodes(input: InputFile, context: Context): Promise<Codes> {
  if (input.type === 'pdf') return readPages(input, context);
  const pages = await pagesOf<ImageFile>(input);
  if (pages.length === 1) return readImage(input, context);
  const found: Codes = [];
  for (const page of selectPages(context.settings.pages, pages.length, input.filename)) {
    context.signal.throwIfAborted();
    const codes = await readImage(pages[page]!, context);
    found.push(...codes.map((code) => ({ page: page + 1, ...code })));
  }
  return found;
}

async function readImage(input: ImageFile, context: Context): Promise<FoundBarcode[]> {
  const image = await openImage(input, context, { animated: false, dpi: pdfDpi });
  const { width, height, data } = await readPixels(image, (pipeline) => pipeline.flatten({ background: '#ffffff' }));
  return readBarcodes({ width, height, channels: 4, pixels: data }, wanted(context));
}

async function readPages(input: InputFile, context: Context): Promise<Codes> {
  const { password, pages } = context.settings;
  return readPdf({ ...input, password, scratch: context.scratch }, async (reader) => {
    const found: Codes = [];
    for (const page of selectPages(pages, reader.pageCount, input.filename)) {
      context.signal.throwIfAborted();
      const codes = await readBarcodes(reader.render(page, { dpi: pdfDpi, transparent: false }), wanted(context));
      found.push(...codes.map((code) => ({ page: page + 1, ...code })));
    }
    return found;
  });
}

function wanted({ settings: { formats, try_harder } }: Context) {
  return { types: formats, tryHarder: try_harder };
}
