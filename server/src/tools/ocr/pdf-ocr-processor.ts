import { writeFile } from 'node:fs/promises';
import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { heicDecoder } from '../../engines/heic.ts';
import { imagePrograms, rasterTypes } from '../../engines/images.ts';
import { addTextToPdf, imageToPdf } from '../../engines/pdf-ocr.ts';
import { pdfLib, savePdf } from '../../engines/pdf-lib.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { assertLanguages, tesseract } from '../../engines/tesseract.ts';
import { defineTool } from '../define.ts';
import { choice, flag, int, text } from '../settings.ts';
import { language } from './language.ts';

export default defineTool({
  slug: 'pdf-ocr-processor',
  name: 'PDF OCR Processor',
  category: 'ocr',
  description:
    'Makes scanned PDFs and images searchable: recognises their text and lays it, invisible, over the pages.',
  accepts: ['pdf', ...rasterTypes],
  produces: ['pdf', 'txt'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [tesseract, pdfium, pdfLib, qpdf, sharpEngine],
  optionalEngines: [heicDecoder, cameraRawDecoder],
  enginesFor: (_, inputs) => [
    ...imagePrograms(inputs, 'png'),
    ...(inputs.some(({ type }) => type === 'heic') ? [heicDecoder] : []),
  ],
  settings: {
    language,
    mode: choice({
      describe:
        'Pages that have text: leave them alone (skip_text), turn every page into a picture and recognise it (force), or replace what an earlier recognition left (redo).',
      of: ['skip_text', 'force', 'redo'],
      default: 'skip_text',
    }),
    deskew: flag({ describe: 'Turn scanned pages so that their lines are level.', default: true }),
    output: choice({ describe: 'The searchable PDF, its text, or both.', of: ['pdf', 'txt', 'both'], default: 'pdf' }),
    optimize: int({
      describe: 'Make the file smaller: not at all (0), without loss (1), or with smaller pictures (2, 3).',
      min: 0,
      max: 3,
      default: 1,
    }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    await assertLanguages(settings.language);
    for (const [index, input] of inputs.entries()) {
      const { filename, stem } = input;
      const path = input.type === 'pdf' ? input.path : await imageToPdf(input, { scratch, signal });
      const { file, texts } = await addTextToPdf(path, {
        ...settings,
        filename,
        scratch,
        signal,
        onProgress: (fraction) => progress(((index + fraction) / inputs.length) * 100),
      });
      if (settings.output !== 'txt') await savePdf(file.context, output(`${stem}.pdf`));
      if (settings.output !== 'pdf') await writeFile(output(`${stem}.txt`), texts.map((page) => `${page}\f`).join(''));
    }
  },
});
