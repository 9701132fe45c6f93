import { open, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveEntry } from '../../engines/archive-entry.ts';
import { writeZip, yazl } from '../../engines/archives.ts';
import { backdropOf, htmlEnd, htmlHead, htmlPage } from '../../engines/html-pages.ts';
import { pdfium, readPdf, type PdfReader } from '../../engines/pdfium.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf, mediaTypeOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { pageRanges, selectPages } from '../page-ranges.ts';
import { choice, text } from '../settings.ts';

export default defineTool({
  slug: 'pdf-to-html-converter',
  name: 'PDF to HTML Converter',
  category: 'pdf',
  description: 'Turns a PDF into a web page that looks the same, with text that can be selected and searched.',
  accepts: ['pdf'],
  produces: ['html', 'zip'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [pdfium, sharpEngine, yazl],
  settings: {
    pages: pageRanges({ describe: 'Pages to convert, such as 1-3,8.', default: 'all' }),
    images: choice({
      describe: 'Pictures and drawings within the page (inline), beside it in a ZIP (separate), or left out (none).',
      of: ['inline', 'separate', 'none'],
      default: 'inline',
    }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    const { images, password } = settings;
    for (const [index, { path, filename, stem }] of inputs.entries()) {
      await readPdf({ path, filename, password, scratch }, async (reader) => {
        const pages = selectPages(settings.pages, reader.pageCount, filename);
        const onPage = (done: number) => progress(((index + done / pages.length) / inputs.length) * 100);
        const directory = await mkdtemp(join(scratch, 'html-'));
        const html = images === 'separate' ? join(directory, 'index.html') : output(`${stem}.html`);
        const work = { reader, pages, title: stem, images, directory, signal, onPage };
        const { pictures, hasText } = await writeHtml(html, work);
        if (!hasText && images === 'none') throw noText(filename);
        if (images === 'separate')
          await zipFiles(output(`${stem}.zip`), directory, ['index.html', ...pictures], signal);
      });
    }
  },
});

interface HtmlWork {
  reader: PdfReader;
  pages: readonly number[];
  title: string;
  images: 'inline' | 'separate' | 'none';
  /** Where separate pictures go. */
  directory: string;
  signal: AbortSignal;
  onPage(done: number): void;
}

/** Page by page, so that a long document never stands in memory whole. */
async function writeHtml(path: string, { reader, pages, title, images, directory, signal, onPage }: HtmlWork) {
  const handle = await open(path, 'w');
  const pictures = new Set<string>();
  let hasText = false;
  try {
    await handle.appendFile(htmlHead(title));
    for (const [done, page] of pages.entries()) {
      signal.throwIfAborted();
      const backdrop = images === 'none' ? undefined : await backdropOf(reader, page);
      let address: string | undefined;
      if (backdrop !== undefined && images === 'inline') {
        address = `data:${mediaTypeOf(backdrop.format)};base64,${backdrop.data.toString('base64')}`;
      } else if (backdrop !== undefined) {
        address = `page-${page + 1}.${extensionOf(backdrop.format)}`;
        await writeFile(join(directory, address), backdrop.data);
        pictures.add(address);
      }
      const content = reader.content(page, { wantsImage: () => false });
      hasText ||= content.characters.some((character) => character.text.trim() !== '');
      await handle.appendFile(htmlPage(content, page, address));
      onPage(done + 1);
    }
    await handle.appendFile(htmlEnd);
  } finally {
    await handle.close();
  }
  return { pictures, hasText };
}

async function zipFiles(
  target: string,
  directory: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const entries: ArchiveEntry[] = [];
  for (const name of names) {
    const path = join(directory, name);
    entries.push({ name, path, sizeBytes: (await stat(path)).size });
  }
  await writeZip(target, entries, { level: 6, signal, onBytes: () => undefined });
}

function noText(file: string): Failure {
  const message = `${file} has no text, so nothing is left without its pictures. Set images=inline.`;
  return new Failure('invalid_input', message, { file });
}
