import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Book, calibre, convertBook } from '../../engines/calibre.ts';
import { convertMarkup, pandoc } from '../../engines/pandoc.ts';
import { extensionOf, type FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFile } from '../define.ts';
import { choice, int } from '../settings.ts';

const pictures: readonly FileTypeId[] = ['jpeg', 'png'];

export default defineTool({
  slug: 'ebook-converter',
  name: 'E-book Converter',
  category: 'ebook',
  description: 'Turns books into EPUB, Kindle formats, PDF, Word or text.',
  accepts: ['epub', 'mobi', 'azw3', 'fb2', 'docx', 'html', 'pdf', ...pictures],
  produces: ['epub', 'mobi', 'azw3', 'pdf', 'docx', 'txt'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [calibre],
  optionalEngines: [pandoc],
  enginesFor: (_settings, inputs) => (inputs.some(({ type }) => type === 'html') ? [pandoc] : []),
  settings: {
    format: choice({
      describe: 'The format to write.',
      of: ['epub', 'mobi', 'azw3', 'pdf', 'docx', 'txt'],
      default: 'epub',
    }),
    cover: choice({
      describe: 'Put the last file, a JPEG or PNG image, on the cover of every book.',
      of: ['none', 'last_file'],
      default: 'none',
    }),
    toc_depth: int({
      describe:
        'Levels of headings (up to three are found) in the contents of a book that has none; 0 leaves them out.',
      min: 0,
      max: 6,
      default: 2,
    }),
    font_size: int({ describe: 'Size of the text in points.', min: 6, max: 48, default: 12 }),
  },
  check({ cover }, inputs) {
    const images = inputs.filter(({ type }) => pictures.includes(type)).length;
    if (cover === 'none') return images === 0 ? {} : { cover: ['is last_file when an image is sent'] };
    const lastIsImage = pictures.includes(inputs.at(-1)!.type);
    return inputs.length > 1 && images === 1 && lastIsImage
      ? {}
      : { cover: ['needs the books first, and last one JPEG or PNG image'] };
  },
  async run({ inputs, settings, output, scratch, signal, progress }) {
    const cover = settings.cover === 'none' ? undefined : inputs.at(-1);
    const books = cover === undefined ? inputs : inputs.slice(0, -1);
    for (const [index, input] of books.entries()) {
      const book = input.type === 'html' ? await bindPage(input, scratch, signal) : input;
      await convertBook(book, {
        format: settings.format,
        target: output(`${input.stem}.${extensionOf(settings.format)}`),
        cover,
        tocDepth: settings.toc_depth,
        fontSize: settings.font_size,
        scratch,
        signal,
        onPercent: (percent) => progress(((index + percent / 100) / books.length) * 100),
      });
      if (book !== input) await rm(book.path);
    }
  },
});

/** A page as a book: nothing that it links to is loaded, from this machine or another. */
async function bindPage({ path, filename, stem }: InputFile, scratch: string, signal: AbortSignal): Promise<Book> {
  const target = join(scratch, 'page.epub');
  const page = { path, filename, type: 'html' } as const;
  await convertMarkup(page, { target, format: 'epub', title: stem, toc: false, scratch, signal });
  return { path: target, filename, type: 'epub' };
}
