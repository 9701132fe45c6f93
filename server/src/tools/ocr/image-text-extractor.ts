import { writeFile } from 'node:fs/promises';
import { createHocr, type HocrPage } from '../../engines/hocr.ts';
import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { heicDecoder } from '../../engines/heic.ts';
import { imagePrograms, rasterTypes } from '../../engines/images.ts';
import { ocrPictures, type OcrPicture } from '../../engines/ocr-image.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import {
  assertLanguages,
  blankRecognition,
  detectOrientation,
  noTextFound,
  recognise,
  tesseract,
  type Recognition,
} from '../../engines/tesseract.ts';
import { defineTool } from '../define.ts';
import { choice, flag, int } from '../settings.ts';
import { language } from './language.ts';

export default defineTool({
  slug: 'image-text-extractor',
  name: 'Image Text Extractor',
  category: 'ocr',
  description: 'Recognises the text in photos, scans and screenshots.',
  accepts: rasterTypes,
  produces: ['txt', 'json', 'hocr'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [tesseract, sharpEngine, heicDecoder],
  optionalEngines: [cameraRawDecoder],
  enginesFor: (_, inputs) => imagePrograms(inputs, 'png'),
  settings: {
    language,
    format: choice({
      describe: 'Text, JSON (words with their places in pixels and how sure they are) or hOCR.',
      of: ['txt', 'json', 'hocr'],
      default: 'txt',
    }),
    psm: int({
      describe:
        'How the page is laid out: 3 finds out, 6 is one block, 7 one line, 8 one word, 11 scattered text; 0 reports only the orientation.',
      min: 0,
      max: 13,
      default: 3,
    }),
    enhance: flag({ describe: 'Stretch the contrast, even out the light and enlarge small pictures.', default: true }),
  },
  check({ psm, format }) {
    if (psm === 2) return { psm: ['2 is not implemented by Tesseract; use 3'] };
    if (psm === 0 && format !== 'txt') return { psm: ['0 reports only the orientation: choose format txt'] };
    return {};
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    const { psm, enhance, format } = settings;
    await assertLanguages(settings.language, psm);
    for (const [index, input] of inputs.entries()) {
      const { filename, stem } = input;
      const pages: RecognisedPage[] = [];
      for await (const { picture, pageCount } of ocrPictures(input, { scratch, signal }, { enhance })) {
        const options = { language: settings.language, psm, dpi: picture.dpi, filename, scratch, signal };
        if (picture.isBlank) pages.push({ picture, ...blankRecognition });
        else if (psm === 0) pages.push({ picture, orientation: await detectOrientation(picture.path, options) });
        else
          pages.push({
            picture,
            ...(await recognise(picture.path, { ...options, localThreshold: enhance && picture.isRoomy })),
          });
        progress(((index + pages.length / pageCount) / inputs.length) * 100);
      }
      await writeFile(output(`${stem}.${format}`), describePages(pages, format, filename));
    }
  },
});

type RecognisedPage = { picture: OcrPicture } & (Recognition | { orientation: string });

function describePages(pages: readonly RecognisedPage[], format: 'txt' | 'json' | 'hocr', filename: string): string {
  const orientations = pages.flatMap((page) => ('orientation' in page ? [page.orientation] : []));
  if (orientations.length > 0) return orientations.join('\f');
  const recognised = pages.flatMap((page) => ('words' in page ? [page] : []));
  if (recognised.every(({ words }) => words.length === 0)) throw noTextFound(filename);
  if (format === 'txt') return recognised.map(({ text }) => `${text.trim()}\n`).join('\f');
  if (format === 'json') return `${JSON.stringify({ pages: recognised.map(toJson) })}\n`;
  return createHocr(
    recognised.map(({ hocr, picture }): HocrPage => ({ hocr, scale: picture.scale })),
    filename,
  );
}

/** Places are in pixels of the original, as it is shown upright. */
function toJson({ picture, text, words }: { picture: OcrPicture } & Recognition, index: number) {
  const toOriginal = (pixels: number) => Math.round(pixels / picture.scale);
  const mean = words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length);
  return {
    page: index + 1,
    width: picture.width,
    height: picture.height,
    text: text.trim(),
    confidence: Math.round(mean * 10) / 10,
    words: words.map((word) => ({
      text: word.text,
      left: toOriginal(word.left),
      top: toOriginal(word.top),
      width: toOriginal(word.right) - toOriginal(word.left),
      height: toOriginal(word.bottom) - toOriginal(word.top),
      confidence: word.confidence,
      block: word.block,
      paragraph: word.paragraph,
      line: word.line,
    })),
  };
}
