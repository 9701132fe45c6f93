import { heicDecoder } from '../../engines/heic.ts';
import { type ImagePageLayout, pdfLib, writeImagesAsPdf } from '../../engines/pdf-lib.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { choice, flag, num, type Values } from '../settings.ts';

const pointsPerMm = 72 / 25.4;
/** Points. */
const pages = {
  a4: { width: 210 * pointsPerMm, height: 297 * pointsPerMm },
  a3: { width: 297 * pointsPerMm, height: 420 * pointsPerMm },
  letter: { width: 612, height: 792 },
  legal: { width: 612, height: 1008 },
};

const settings = {
  page_size: choice({
    of: ['auto', 'a4', 'a3', 'letter', 'legal'],
    default: 'auto',
    describe: 'Size of the pages; auto makes each as large as its image.',
  }),
  orientation: choice({
    of: ['auto', 'portrait', 'landscape'],
    default: 'auto',
    describe: 'Which way the pages lie; auto turns each the way its image lies. Needs a page size.',
  }),
  margin_mm: num({ min: 0, max: 100, default: 0, describe: 'Millimetres left free on each side.' }),
  fit: choice({
    of: ['contain', 'cover'],
    default: 'contain',
    describe: 'Show the whole image, or fill the page and cut off what stands out (cover).',
  }),
  merge: flag({ default: true, describe: 'One PDF of all images; false makes one of each.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'image-to-pdf-converter',
  name: 'Image to PDF Converter',
  category: 'image',
  description: 'Puts images on the pages of a PDF, JPEG photos without any loss.',
  accepts: ['jpeg', 'png', 'webp', 'tiff', 'heic', 'avif', 'gif', 'bmp'],
  produces: ['pdf'],
  files: { min: 1, max: 200 },
  timeoutSeconds: 900,
  engines: [pdfLib, sharpEngine, heicDecoder],
  settings,
  check({ page_size, orientation }) {
    if (page_size !== 'auto' || orientation === 'auto') return {};
    return { orientation: ['needs a page_size: with auto the page lies as its image does'] };
  },
  async run(context) {
    const { inputs, settings: chosen } = context;
    const groups = chosen.merge ? [[...inputs]] : inputs.map((input) => [input]);
    let done = 0;
    for (const group of groups) {
      await convert(group, context, (count) => context.progress(((done + count) / inputs.length) * 100));
      done += group.length;
    }
  },
});

async function convert(
  group: readonly InputFile[],
  context: ToolContext<Settings>,
  onFile: (count: number) => void,
): Promise<void> {
  const { page_size, orientation, margin_mm, fit } = context.settings;
  const page = page_size === 'auto' ? undefined : pages[page_size];
  const layout: ImagePageLayout = { page, orientation, margin: margin_mm * pointsPerMm, fit };
  const path = context.output(`${group[0]?.stem ?? 'images'}.pdf`);
  await writeImagesAsPdf(group, path, layout, { workspace: context, onFile });
}
