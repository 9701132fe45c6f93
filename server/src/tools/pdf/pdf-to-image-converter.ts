import { encodePage, type PageFormat } from '../../engines/page-image.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { pageRanges, selectPages } from '../page-ranges.ts';
import { choice, flag, int, text } from '../settings.ts';

/** Formats that can hold transparency. */
const transparentFormats: readonly PageFormat[] = ['png', 'webp'];

export default defineTool({
  slug: 'pdf-to-image-converter',
  name: 'PDF to Image Converter',
  category: 'pdf',
  description: 'Turns the pages of a PDF into images, one a page.',
  accepts: ['pdf'],
  produces: ['jpeg', 'png', 'webp', 'tiff'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [pdfium],
  settings: {
    format: choice({ describe: 'The format of the images.', of: ['jpeg', 'png', 'webp', 'tiff'], default: 'jpeg' }),
    dpi: int({ describe: 'Pixels per inch of the page.', min: 36, max: 600, default: 150 }),
    pages: pageRanges({ describe: 'Pages to convert, such as 1-3,8.', default: 'all' }),
    quality: int({ describe: 'For JPEG and WebP: from small (1) to good (100).', min: 1, max: 100, default: 85 }),
    transparent: flag({ describe: 'Leave the paper transparent (PNG and WebP).', default: false }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  check({ format, transparent }) {
    if (!transparent || transparentFormats.includes(format)) return {};
    return { transparent: [`is not possible in ${format}; choose png or webp`] };
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    const { format, dpi, quality, transparent, password } = settings;
    for (const [index, { path, filename, stem }] of inputs.entries()) {
      await readPdf({ path, filename, password, scratch }, async (reader) => {
        const pages = selectPages(settings.pages, reader.pageCount, filename);
        const digits = String(reader.pageCount).length;
        let encoding: Promise<void> = Promise.resolve();
        for (const [done, page] of pages.entries()) {
          signal.throwIfAborted();
          const rendered = reader.render(page, { dpi, transparent });
          // While one page is encoded the next is rendered: never more than two in memory.
          await encoding;
          const name = `${stem}-${String(page + 1).padStart(digits, '0')}.${extensionOf(format)}`;
          encoding = encodePage(rendered, output(name), { format, dpi, quality });
          encoding.catch(() => undefined); // Awaited a page later; until then not unhandled.
          progress(((index + (done + 1) / pages.length) / inputs.length) * 100);
        }
        await encoding;
      });
    }
  },
});
