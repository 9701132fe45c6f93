import { open } from 'node:fs/promises';
import { layoutText, readingText } from '../../engines/page-text.ts';
import { pdfium, readPdf, type PageSize } from '../../engines/pdfium.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { pageRanges, selectPages } from '../page-ranges.ts';
import { choice, flag, text } from '../settings.ts';

/** A page of the JSON output. */
interface PageText {
  /** Counted from 1. */
  page: number;
  /** Points (1/72 inch). */
  width: number;
  height: number;
  text: string;
}

export default defineTool({
  slug: 'pdf-text-extractor',
  name: 'PDF Text Extractor',
  category: 'pdf',
  description: 'Takes the text out of a PDF, in reading order or as it stands on the page.',
  accepts: ['pdf'],
  produces: ['txt', 'json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [pdfium],
  settings: {
    layout: flag({ describe: 'Keep columns and gaps as they stand on the page.', default: false }),
    pages: pageRanges({ describe: 'Pages to read, such as 1-3,8.', default: 'all' }),
    format: choice({
      describe: 'Text (pages end with a form feed) or JSON (a list of pages with size and text).',
      of: ['txt', 'json'],
      default: 'txt',
    }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    for (const [index, { path, filename, stem }] of inputs.entries()) {
      await readPdf({ path, filename, password: settings.password, scratch }, async (reader) => {
        const pages = selectPages(settings.pages, reader.pageCount, filename);
        await using writer = await openWriter(output(`${stem}.${settings.format}`), settings.format);
        let hasText = false;
        for (const [done, page] of pages.entries()) {
          signal.throwIfAborted();
          const text = settings.layout ? layoutText(reader.characters(page)) : readingText(reader.text(page));
          hasText ||= text.trim() !== '';
          await writer.page({ page: page + 1, ...roundSize(reader.pageSize(page)), text });
          progress(((index + (done + 1) / pages.length) / inputs.length) * 100);
        }
        await writer.end();
        if (!hasText) throw noText(filename);
      });
    }
  },
});

function noText(file: string): Failure {
  const message = `${file} has no text layer. If its pages are scans, text recognition (OCR) can make one.`;
  return new Failure('invalid_input', message, { file });
}

function roundSize({ width, height }: PageSize): PageSize {
  return { width: Math.round(width * 100) / 100, height: Math.round(height * 100) / 100 };
}

/** Writes page by page: a long document never stands in memory whole. */
async function openWriter(path: string, format: 'txt' | 'json') {
  const handle = await open(path, 'w');
  let count = 0;
  return {
    async page(page: PageText) {
      if (format === 'txt') await handle.appendFile(`${page.text}\f`);
      else await handle.appendFile(`${count === 0 ? '{"pages":[\n' : ',\n'}${JSON.stringify(page)}`);
      count += 1;
    },
    async end() {
      if (format === 'json') await handle.appendFile('\n]}\n');
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}
