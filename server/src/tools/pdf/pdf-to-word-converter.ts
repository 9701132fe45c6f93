import { join } from 'node:path';
import { convertOffice, libreoffice } from '../../engines/libreoffice.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { assertLanguages, tesseract } from '../../engines/tesseract.ts';
import { writeWord } from '../../engines/word-document.ts';
import { defineTool } from '../define.ts';
import { language } from '../ocr/language.ts';
import { pageRanges } from '../page-ranges.ts';
import { choice, flag, text } from '../settings.ts';
import { readStructure } from './read-structure.ts';

export default defineTool({
  slug: 'pdf-to-word-converter',
  name: 'PDF to Word Converter',
  category: 'pdf',
  description: 'Turns a PDF into a document that can be edited, with headings, lists, tables and pictures.',
  accepts: ['pdf'],
  produces: ['docx', 'odt', 'rtf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [pdfium, sharpEngine],
  optionalEngines: [tesseract, libreoffice],
  enginesFor: ({ ocr, format }) => [...(ocr ? [tesseract] : []), ...(format === 'docx' ? [] : [libreoffice])],
  settings: {
    format: choice({ describe: 'The format of the document.', of: ['docx', 'odt', 'rtf'], default: 'docx' }),
    pages: pageRanges({ describe: 'Pages to convert, such as 1-3,8.', default: 'all' }),
    ocr: flag({ describe: 'Recognise the text of pages that are scans.', default: false }),
    language,
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run(context) {
    const { inputs, settings, output, progress, scratch, signal } = context;
    const { ocr, format } = settings;
    if (ocr) await assertLanguages(settings.language);
    for (const [index, input] of inputs.entries()) {
      const { filename, stem } = input;
      const document = await readStructure(input, context, {
        tables: 'auto',
        pictures: true,
        drawings: true,
        ocrLanguage: ocr ? settings.language : undefined,
        onProgress: (fraction) => progress(((index + fraction * 0.9) / inputs.length) * 100),
      });
      const target = output(`${stem}.${format}`);
      const docx = format === 'docx' ? target : join(scratch, 'converted.docx');
      await writeWord(document, docx);
      if (format === 'docx') continue;
      await convertOffice({ path: docx, filename, type: 'docx' }, { format, target, scratch, signal });
    }
  },
});
