import { structureDocument } from '../../engines/page-structure/document.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { createSlides } from '../../engines/slides.ts';
import { defineTool } from '../define.ts';
import { pageRanges, selectPages } from '../page-ranges.ts';
import { flag, int, text } from '../settings.ts';

export default defineTool({
  slug: 'pdf-to-powerpoint-converter',
  name: 'PDF to PowerPoint Converter',
  category: 'pdf',
  description: 'Turns each page of a PDF into a slide, as a picture or as text boxes that can be edited.',
  accepts: ['pdf'],
  produces: ['pptx'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [pdfium, sharpEngine],
  settings: {
    dpi: int({ describe: 'Pixels per inch of pages that become pictures.', min: 36, max: 600, default: 150 }),
    editable: flag({
      describe: 'Write text boxes, pictures and shapes instead of one picture a page.',
      default: false,
    }),
    pages: pageRanges({ describe: 'Pages to convert, such as 1-3,8.', default: 'all' }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    const { dpi, editable, password } = settings;
    for (const [index, { path, filename, stem }] of inputs.entries()) {
      await readPdf({ path, filename, password, scratch }, async (reader) => {
        const pages = selectPages(settings.pages, reader.pageCount, filename);
        const onProgress = (fraction: number) => progress(((index + fraction) / inputs.length) * 100);
        const deck = await createSlides(reader.pageSize(pages[0] ?? 0));
        if (editable) {
          const what = { pages, filename, tables: 'auto', pictures: true, needsText: false } as const;
          const document = await structureDocument(reader, { ...what, scratch, signal, onProgress });
          for (const page of document.pages) await deck.addEditable(reader, page);
        } else {
          for (const [done, page] of pages.entries()) {
            signal.throwIfAborted();
            await deck.addPicture(reader, page, dpi);
            onProgress((done + 1) / pages.length);
          }
        }
        await deck.write(output(`${stem}.pptx`));
      });
    }
  },
});
