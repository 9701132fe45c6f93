import { writeFile } from 'node:fs/promises';
import { toMarkdown } from '../../engines/markdown-document.ts';
import { writePicture, type PictureFile } from '../../engines/pdf-pictures.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { assertLanguages, tesseract } from '../../engines/tesseract.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { language } from '../ocr/language.ts';
import { pageRanges } from '../page-ranges.ts';
import { flag, text } from '../settings.ts';
import { readStructure } from './read-structure.ts';

export default defineTool({
  slug: 'pdf-to-markdown-converter',
  name: 'PDF to Markdown Converter',
  category: 'pdf',
  description: 'Turns a PDF into Markdown with headings, lists, tables and links.',
  accepts: ['pdf'],
  produces: ['md', 'txt', 'jpeg', 'png'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [pdfium, sharpEngine],
  optionalEngines: [tesseract],
  enginesFor: ({ ocr }) => (ocr ? [tesseract] : []),
  settings: {
    pages: pageRanges({ describe: 'Pages to convert, such as 1-3,8.', default: 'all' }),
    ocr: flag({ describe: 'Recognise the text of pages that are scans.', default: false }),
    language,
    tables: flag({ describe: 'Write tables as tables; otherwise as lines of text.', default: true }),
    images: flag({ describe: 'Return the pictures as files that the text refers to.', default: false }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run(context) {
    const { inputs, settings, output, progress } = context;
    const { ocr, images, tables } = settings;
    if (ocr) await assertLanguages(settings.language);
    for (const [index, input] of inputs.entries()) {
      const document = await readStructure(input, context, {
        tables: 'auto',
        pictures: images,
        ocrLanguage: ocr ? settings.language : undefined,
        onProgress: (fraction) => progress(((index + fraction) / inputs.length) * 100),
      });
      const names = new Map<PictureFile, string>();
      const nameOf = (file: PictureFile) => {
        const name = names.get(file) ?? `${input.stem}-${names.size + 1}.${extensionOf(file.format)}`;
        names.set(file, name);
        return name;
      };
      const markdown = toMarkdown(document, { tables, nameOf: images ? nameOf : () => undefined });
      await writeFile(output(`${input.stem}.md`), markdown);
      for (const [file, name] of names) await writePicture(file, output(name));
    }
  },
});
