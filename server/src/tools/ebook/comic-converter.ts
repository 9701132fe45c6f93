import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { yazl } from '../../engines/archives.ts';
import { bsdtar, yauzl } from '../../engines/archive-reading/read-archive.ts';
import { type ComicPage, readComic } from '../../engines/comic.ts';
import { writeCbz, writeComicEpub, writeComicPdf } from '../../engines/comic-writing.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool } from '../define.ts';
import { choice, int } from '../settings.ts';

export default defineTool({
  slug: 'comic-converter',
  name: 'Comic Converter',
  category: 'ebook',
  description:
    'Turns comic books (CBZ, CBR, CB7, PDF) into CBZ, PDF or EPUB, with pages of a size that suits a reader.',
  accepts: ['cbz', 'cbr', 'cb7', 'pdf', 'zip', 'rar', '7z'],
  produces: ['cbz', 'zip', 'pdf', 'epub'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [sharpEngine, yauzl, yazl, pdfLib],
  optionalEngines: [bsdtar, sevenZip, pdfium],
  enginesFor(_settings, inputs) {
    const types = new Set(inputs.map(({ type }) => type));
    return [
      ...((['cbr', 'rar', 'cb7', '7z'] as const).some((type) => types.has(type)) ? [bsdtar] : []),
      ...(types.has('cb7') || types.has('7z') ? [sevenZip] : []),
      ...(types.has('pdf') ? [pdfium] : []),
    ];
  },
  settings: {
    format: choice({ describe: 'The format to write.', of: ['cbz', 'pdf', 'epub'], default: 'cbz' }),
    quality: int({ describe: 'Of the pages, from small (1) to good (100).', min: 1, max: 100, default: 85 }),
    max_height: int({
      describe: 'Pages higher than this many pixels are made smaller.',
      min: 200,
      max: 8000,
      default: 2000,
    }),
  },
  async run({ inputs, settings, output, scratch, signal, progress }) {
    const { format, quality, max_height: maxHeight } = settings;
    const directory = join(scratch, 'comic');
    for (const [index, input] of inputs.entries()) {
      await mkdir(directory, { mode: 0o700 });
      const onPercent = (percent: number) => progress(((index + percent / 110) / inputs.length) * 100);
      const pages: ComicPage[] = await readComic(input, { quality, maxHeight, directory, signal, onPercent });
      const target = output(`${input.stem}.${format}`);
      if (format === 'cbz') await writeCbz(pages, target, signal);
      else if (format === 'pdf') await writeComicPdf(pages, target, signal);
      else await writeComicEpub(pages, target, { title: input.stem, signal });
      await rm(directory, { recursive: true, force: true });
      progress(((index + 1) / inputs.length) * 100);
    }
  },
});
