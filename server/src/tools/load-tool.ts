import type { Category, Tool } from './define.ts';

/** The tools of a category, loaded when the first of them is needed. */
const loaders: Record<Category, () => Promise<readonly unknown[]>> = {
  image: async () => (await import('./image/image-tools.ts')).imageTools,
  pdf: async () => (await import('./pdf/pdf-tools.ts')).pdfTools,
  document: async () => (await import('./document/document-tools.ts')).documentTools,
  video: async () => (await import('./video/video-tools.ts')).videoTools,
  audio: async () => (await import('./audio/audio-tools.ts')).audioTools,
  archive: async () => (await import('./archive/archive-tools.ts')).archiveTools,
  data: async () => (await import('./data/data-tools.ts')).dataTools,
  text: async () => (await import('./text/text-tools.ts')).textTools,
  ocr: async () => (await import('./ocr/ocr-tools.ts')).ocrTools,
  font: async () => (await import('./font/font-tools.ts')).fontTools,
  ebook: async () => (await import('./ebook/ebook-tools.ts')).ebookTools,
  subtitle: async () => (await import('./subtitle/subtitle-tools.ts')).subtitleTools,
  utility: async () => (await import('./utility/utility-tools.ts')).utilityTools,
};

/**
 * One tool without the whole registry: a tool host runs a few of them in its life, and some five hundred files would cost
 * half a second of processor time at each start.
 */
export async function loadTool(category: Category, slug: string): Promise<Tool | undefined> {
  const tools = (await loaders[category]()) as readonly Tool[];
  return tools.find((tool) => tool.slug === slug);
}
