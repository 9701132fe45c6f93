import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ghostscript, toGray } from '../../engines/ghostscript.ts';
import { openPdf, pdfLib, refuseDamage, savePdf, shrinkPdf, type PdfFile } from '../../engines/pdf-lib.ts';
import { linearizePdf, qpdf } from '../../engines/qpdf.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFile } from '../define.ts';
import { choice, flag, int } from '../settings.ts';

/** Resolution and JPEG quality of images, as Ghostscript's presets of the same names mean them. */
const presets = {
  screen: { dpi: 72, quality: 60 },
  ebook: { dpi: 150, quality: 75 },
  printer: { dpi: 300, quality: 85 },
  prepress: { dpi: 300, quality: 92 },
} as const;

interface Settings {
  preset: keyof typeof presets;
  image_dpi: number | undefined;
  image_quality: number | undefined;
  grayscale: boolean;
  remove_metadata: boolean;
  linearize: boolean;
}

export default defineTool({
  slug: 'pdf-compressor',
  name: 'PDF Compressor',
  category: 'pdf',
  description:
    'Makes a PDF smaller: its images, its streams and what it holds twice. Never returns a larger file, unless it has to be made grey or lose its metadata.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [pdfLib, qpdf],
  optionalEngines: [ghostscript],
  enginesFor: ({ grayscale }) => (grayscale ? [ghostscript] : []),
  settings: {
    preset: choice({
      describe: 'What it is for: screen (72 dpi, quality 60), ebook (150, 75), printer (300, 85), prepress (300, 92).',
      of: ['screen', 'ebook', 'printer', 'prepress'],
      default: 'ebook',
    }),
    image_dpi: int({
      describe: 'Pixels per inch that images keep at most; without it the value of the preset (ebook: 150).',
      min: 36,
      max: 600,
    }),
    image_quality: int({
      describe: 'JPEG quality of images; without it the value of the preset (ebook: 75).',
      min: 1,
      max: 100,
    }),
    grayscale: flag({ describe: 'Turn every colour to grey; form fields become part of the page.', default: false }),
    remove_metadata: flag({ describe: 'Remove title, author, dates and other properties.', default: false }),
    linearize: flag({ describe: 'Arrange for fast web view.', default: true }),
  },
  async run({ inputs, settings, output, progress, scratch, signal, log }) {
    for (const [index, input] of inputs.entries()) {
      signal.throwIfAborted();
      const onProgress = (fraction: number) => progress(((index + fraction * 0.9) / inputs.length) * 100);
      const directory = join(scratch, String(index));
      await compress(input, settings, { output: output(`${input.stem}.pdf`), directory, signal, onProgress, log });
      await rm(directory, { recursive: true, force: true });
    }
  },
});

interface Work {
  output: string;
  directory: string;
  signal: AbortSignal;
  onProgress(fraction: number): void;
  log(message: string): void;
}

async function compress(input: InputFile, settings: Settings, work: Work): Promise<void> {
  await mkdir(work.directory);
  const file = await openInput(input, settings, work);
  const { dpi, quality } = presets[settings.preset];
  const result = await shrinkPdf(file, {
    dpi: settings.image_dpi ?? dpi,
    quality: settings.image_quality ?? quality,
    removeMetadata: settings.remove_metadata,
    onProgress: work.onProgress,
  });
  work.log(`${result.shrunk} of ${result.images} images made smaller`);
  const plain = join(work.directory, 'plain.pdf');
  await savePdf(file.context, plain);
  await deliver(input, plain, settings, work);
}

/** Grey first, so that the images are judged as they will be. */
async function openInput(input: InputFile, { grayscale }: Settings, work: Work): Promise<PdfFile> {
  const { path, filename } = input;
  const file = await openPdf({ path, filename, scratch: work.directory });
  await refuseDamage(file);
  if (!grayscale) return file;
  const [readable, gray] = [join(work.directory, 'readable.pdf'), join(work.directory, 'gray.pdf')];
  await savePdf(file.context, readable);
  await toGray(file, { input: readable, output: gray, filename, scratch: work.directory, signal: work.signal });
  const result = await openPdf({ path: gray, filename, scratch: work.directory });
  if (result.pages.length !== file.pages.length)
    throw new Failure('engine_failed', `${filename} lost pages while it was made grey.`, { file: filename });
  return result;
}

/** The best of what was made that is not larger than the input; else the input itself. */
async function deliver(input: InputFile, plain: string, settings: Settings, work: Work): Promise<void> {
  const mustChange = settings.remove_metadata || settings.grayscale;
  if (settings.linearize) {
    const linear = await arranged(input, plain, work);
    if (linear !== undefined && (await stat(linear)).size <= input.sizeBytes) return rename(linear, work.output);
  }
  if (mustChange || (await stat(plain)).size <= input.sizeBytes) return rename(plain, work.output);
  work.log('nothing made it smaller: the input is returned');
  await copyFile(input.path, work.output);
}

/** Undefined when it cannot be arranged: qpdf does not believe a small file that its objects have high numbers. */
async function arranged({ filename }: InputFile, plain: string, work: Work): Promise<string | undefined> {
  const linear = join(work.directory, 'linear.pdf');
  try {
    await linearizePdf({ input: plain, output: linear, filename });
    return linear;
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'engine_failed') throw error;
    work.log(`not arranged for fast web view: ${error.log ?? error.message}`);
    return undefined;
  }
}
