import type { Engine } from '../engines/engine.ts';
import type { Tool } from './define.ts';
import { archiveTools } from './archive/archive-tools.ts';
import { audioTools } from './audio/audio-tools.ts';
import { dataTools } from './data/data-tools.ts';
import { documentTools } from './document/document-tools.ts';
import { ebookTools } from './ebook/ebook-tools.ts';
import { fontTools } from './font/font-tools.ts';
import { imageTools } from './image/image-tools.ts';
import { ocrTools } from './ocr/ocr-tools.ts';
import { pdfTools } from './pdf/pdf-tools.ts';
import { subtitleTools } from './subtitle/subtitle-tools.ts';
import { textTools } from './text/text-tools.ts';
import { utilityTools } from './utility/utility-tools.ts';
import { videoTools } from './video/video-tools.ts';

/**
 * Every tool there is, in the order they are listed. The one source of validation, `GET /tools`, OpenAPI, docs, forms and
 * command-line help. Explicit: nothing is found by scanning folders.
 */
export const tools = [
  ...imageTools,
  ...pdfTools,
  ...documentTools,
  ...videoTools,
  ...audioTools,
  ...archiveTools,
  ...dataTools,
  ...textTools,
  ...ocrTools,
  ...fontTools,
  ...ebookTools,
  ...subtitleTools,
  ...utilityTools,
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
