import { storedPicture, writePicture } from '../../engines/pdf-pictures.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { pageRanges, selectPages } from '../page-ranges.ts';
import { int, text } from '../settings.ts';

/** More pictures than this are tiles of a map, not pictures. */
const maxPictures = 5000;

export default defineTool({
  slug: 'pdf-image-extractor',
  name: 'PDF Image Extractor',
  category: 'pdf',
  description: 'Takes the pictures out of a PDF as they are stored in it, each of them once.',
  accepts: ['pdf'],
  produces: ['jpeg', 'png'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [pdfium, sharpEngine],
  settings: {
    min_width: int({ describe: 'Leave out pictures narrower than this, in pixels.', min: 1, max: 10_000, default: 32 }),
    min_height: int({ describe: 'Leave out pictures lower than this, in pixels.', min: 1, max: 10_000, default: 32 }),
    pages: pageRanges({ describe: 'Pages to look at, such as 1-3,8.', default: 'all' }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    const { min_width: minWidth, min_height: minHeight, password } = settings;
    for (const [index, { path, filename, stem }] of inputs.entries()) {
      await readPdf({ path, filename, password, scratch }, async (reader) => {
        const pages = selectPages(settings.pages, reader.pageCount, filename);
        const found = new Set<string>();
        const smaller = new Set<string>();
        for (const [done, page] of pages.entries()) {
          signal.throwIfAborted();
          const { images } = reader.content(page, {
            wantsImage({ hash, width, height }) {
              const isLarge = width >= minWidth && height >= minHeight;
              if (!isLarge) smaller.add(hash);
              return isLarge && !found.has(hash);
            },
          });
          for (const image of images) {
            if (found.has(image.hash)) continue;
            found.add(image.hash);
            if (found.size > maxPictures) throw tooMany(filename);
            const picture = await storedPicture(image);
            const name = `${stem}-${String(found.size).padStart(3, '0')}.${extensionOf(picture.format)}`;
            await writePicture(picture, output(name));
          }
          progress(((index + (done + 1) / pages.length) / inputs.length) * 100);
        }
        if (found.size === 0) throw nothingFound(filename, smaller.size);
      });
    }
  },
});

function nothingFound(file: string, smaller: number): Failure {
  const why =
    smaller === 0 ? '' : ` that are large enough; ${smaller} smaller ${smaller === 1 ? 'was' : 'were'} left out`;
  return new Failure('invalid_input', `${file} has no pictures${why}.`, { file });
}

function tooMany(file: string): Failure {
  return new Failure('resource_limit', `${file} has more than ${maxPictures} pictures. Choose fewer pages.`, { file });
}
