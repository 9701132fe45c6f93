import type { Engine } from '../engines/engine.ts';
import type { Tool } from './define.ts';
import archiveCreator from './archive/archive-creator.ts';
import csvToJsonConverter from './data/csv-to-json-converter.ts';
import wordToPdfConverter from './document/word-to-pdf-converter.ts';
import imageCompressor from './image/image-compressor.ts';
import imageConverter from './image/image-converter.ts';
import imageCropper from './image/image-cropper.ts';
import imageResizer from './image/image-resizer.ts';
import imageRotator from './image/image-rotator.ts';
import imageWatermarker from './image/image-watermarker.ts';
import pdfCompressor from './pdf/pdf-compressor.ts';
import pdfMerger from './pdf/pdf-merger.ts';
import pdfSplitter from './pdf/pdf-splitter.ts';
import pdfTextExtractor from './pdf/pdf-text-extractor.ts';
import pdfToImageConverter from './pdf/pdf-to-image-converter.ts';
import qrCodeGenerator from './utility/qr-code-generator.ts';

/**
 * Every tool there is, in the order they are listed. The one source of validation, `GET /tools`, OpenAPI, docs, forms and
 * command-line help. Explicit: nothing is found by scanning folders.
 */
export const tools = [
  imageCompressor,
  imageResizer,
  imageConverter,
  imageCropper,
  imageRotator,
  imageWatermarker,
  pdfMerger,
  pdfSplitter,
  pdfCompressor,
  pdfToImageConverter,
  pdfTextExtractor,
  wordToPdfConverter,
  archiveCreator,
  csvToJsonConverter,
  qrCodeGenerator,
] as unknown as readonly Tool[];

/** Settings nobody may have: they say where inputs come from. */
export const reservedFields = ['files[]', 'files', 'urls[]', 'from_run', 'uploads[]'] as const;

const bySlug = new Map(tools.map((tool) => [tool.slug, tool]));

export function findTool(slug: string): Tool | undefined {
  return bySlug.get(slug);
}

/** Every engine any tool names, once; those only some settings need are found by their own `optionalEngines`. */
export function allEngines(): Engine[] {
  const engines = new Map<string, Engine>();
  for (const tool of tools) {
    for (const engine of [...tool.engines, ...(tool.optionalEngines ?? [])]) engines.set(engine.id, engine);
  }
  return [...engines.values()];
}
