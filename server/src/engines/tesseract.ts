import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';

/** Recognises text in pictures. */
export const tesseract: Engine = {
  id: 'tesseract',
  name: 'Tesseract',
  license: 'Apache-2.0',
  install: 'apt-get install -y --no-install-recommends tesseract-ocr tesseract-ocr-eng',
  async version() {
    try {
      const { stdout, stderrTail } = await runProgram('tesseract', ['--version'], { timeoutMs: 5000 });
      return /tesseract (\d[\w.-]*)/.exec(stdout + stderrTail)?.[1];
    } catch {
      return undefined;
    }
  },
};

/** How languages are named: `eng`, or several as `eng+deu`. */
export const languagePattern = /^[A-Za-z0-9_]{2,40}(\+[A-Za-z0-9_]{2,40}){0,9}$/;

/** Page segmentation modes that find the orientation, for which Tesseract has data of its own. */
const orientationModes: readonly number[] = [0, 1, 12];

/**
 * Refuses languages that are not installed: Tesseract itself goes on without those it cannot load.
 *
 * @throws Failure `invalid_input` that names the languages there are and the package of the missing one.
 */
export async function assertLanguages(language: string, psm = 3): Promise<void> {
  const { stdout } = await runProgram('tesseract', ['--list-langs'], { timeoutMs: 10_000 });
  const installed = stdout
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((name) => name !== '');
  const wanted = [...language.split('+'), ...(orientationModes.includes(psm) ? ['osd'] : [])];
  const missing = wanted.find((name) => !installed.includes(name));
  if (missing === undefined) return;
  const names = installed.filter((name) => name !== 'osd').join(', ');
  throw new Failure(
    'invalid_input',
    `The language "${missing}" is not installed for text recognition. Installed: ${names}. ` +
      `The Debian package tesseract-ocr-${missing.toLowerCase().replaceAll('_', '-')} would add it.`,
  );
}

export interface RecognitionOptions {
  /** As Tesseract names them, joined by `+`; see {@link assertLanguages}. */
  language: string;
  /** Page segmentation mode, 0 to 13 without 2. */
  psm: number;
  /** Pixels an inch, when known. */
  dpi?: number | undefined;
  /** Uneven light: the threshold between ink and paper is found for each place (Sauvola) instead of once. */
  localThreshold?: boolean;
  /** Also writes a PDF that holds nothing but the text, invisible, where it stands. */
  textLayer?: boolean;
  /** The given name of the file, for messages. */
  filename: string;
  /** A private directory. */
  scratch: string;
  signal: AbortSignal;
}

/** One word, in pixels of the picture that was recognised. */
export interface RecognisedWord {
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
  /** 0 to 100. */
  confidence: number;
  /** Counted from 0 through the whole picture. */
  block: number;
  paragraph: number;
  line: number;
  /** Height of the line's letters from the deepest descender to the highest ascender, in pixels. */
  lineHeight: number;
  /** How much the line falls (positive) or rises on its way to the right: pixels down for a pixel right. */
  slope: number;
}

export interface Recognition {
  text: string;
  hocr: string;
  words: RecognisedWord[];
  /** The PDF of {@link RecognitionOptions.textLayer}. */
  textLayerPath?: string;
}

const hocrHead =
  '<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title></title></head>\n<body>';

/** What an empty page says. */
export const blankRecognition: Recognition = {
  text: '',
  words: [],
  hocr: `${hocrHead}<div class='ocr_page' id='page_1' title='image ""; ppageno 0'></div></body></html>`,
};

/** Below this a page may lie on its side or upside down: its letters are then taken for others. */
const doubtfulConfidence = 60;
/** Automatic page segmentation, without and with a look at how the page is turned. */
const [automatic, automaticTurned] = [3, 1];

/**
 * Recognises the text of a picture (PNG, TIFF or JPEG), also of a page that was scanned on its side or upside down when the
 * layout is to be found out; places are those of the picture as it is.
 *
 * @throws Failure `invalid_input` when it cannot be read; `timed_out`, `engine_failed`.
 */
export async function recognise(picture: string, options: RecognitionOptions): Promise<Recognition> {
  const found = await recogniseAs(picture, 'recognised', options);
  const confidence = meanConfidence(found);
  if (options.psm !== automatic || confidence === 0 || confidence >= doubtfulConfidence) return found;
  const turned = await recogniseAs(picture, 'turned', { ...options, psm: automaticTurned });
  return meanConfidence(turned) > confidence ? turned : found;
}

function meanConfidence({ words }: Recognition): number {
  return words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length);
}

async function recogniseAs(picture: string, name: string, options: RecognitionOptions): Promise<Recognition> {
  const base = join(options.scratch, name);
  await runTesseract(picture, base, options, [
    '-c',
    'tessedit_create_txt=1',
    '-c',
    'tessedit_create_hocr=1',
    ...(options.textLayer === true ? ['-c', 'tessedit_create_pdf=1', '-c', 'textonly_pdf=1'] : []),
  ]);
  const [text, hocr] = await Promise.all([readResult(`${base}.txt`, options), readResult(`${base}.hocr`, options)]);
  return {
    text: text.replaceAll('\f', ''),
    hocr,
    words: readWords(hocr),
    ...(options.textLayer === true ? { textLayerPath: `${base}.pdf` } : {}),
  };
}

/**
 * How a page is turned and which script it is in, as Tesseract reports it: lines of `Name: value`.
 *
 * @throws Failure `invalid_input` when there is too little text to tell.
 */
export async function detectOrientation(picture: string, options: RecognitionOptions): Promise<string> {
  const base = join(options.scratch, 'orientation');
  try {
    await runTesseract(picture, base, { ...options, language: 'osd', psm: 0 }, []);
    return await readFile(`${base}.osd`, 'utf8');
  } catch (cause) {
    options.signal.throwIfAborted();
    const message = `"${options.filename}" has too little text to tell its orientation.`;
    throw new Failure('invalid_input', message, { file: options.filename, cause, log: String(cause) });
  }
}

async function runTesseract(
  picture: string,
  base: string,
  options: RecognitionOptions,
  output: readonly string[],
): Promise<void> {
  const { language, psm, dpi, localThreshold, signal } = options;
  const args = [
    picture,
    base,
    '-l',
    language,
    '--psm',
    String(psm),
    ...(dpi === undefined ? [] : ['--dpi', String(Math.round(dpi))]),
    ...(localThreshold === true ? ['-c', 'thresholding_method=2'] : []),
    ...output,
  ];
  try {
    // Its threads wait for each other: one is several times as fast as four on two cores.
    await runProgram('tesseract', args, { env: { OMP_THREAD_LIMIT: '1' }, signal });
  } catch (error) {
    if (!(error instanceof Failure) || error.log?.includes('Image too small') !== true) throw error;
    throw noTextFound(options.filename, error.log);
  }
}

/** The failure of a file in which nothing was recognised. */
export function noTextFound(file: string, log?: string): Failure {
  return new Failure('invalid_input', `No text was found in "${file}".`, { file, log });
}

async function readResult(path: string, { filename }: RecognitionOptions): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('engine_failed', `The text of "${filename}" could not be recognised.`, { file: filename, cause });
  }
}

const elementPattern =
  /<(?:div|p|span) class='(ocr_carea|ocr_par|ocr_line|ocr_header|ocr_caption|ocr_textfloat|ocrx_word)'[^>]*? title=(?:"([^"]*)"|'([^']*)')[^>]*>(?:([^<]*)(?=<\/span>)|<strong>([^<]*)|<em>([^<]*))?/g;

function readWords(hocr: string): RecognisedWord[] {
  const words: RecognisedWord[] = [];
  const at = { block: -1, paragraph: -1, line: -1, lineHeight: 0, slope: 0 };
  for (const match of hocr.matchAll(elementPattern)) {
    const [, kind, doubleQuoted, singleQuoted, plain, strong, emphasised] = match;
    const title = doubleQuoted ?? singleQuoted ?? '';
    if (kind === 'ocr_carea') at.block += 1;
    else if (kind === 'ocr_par') at.paragraph += 1;
    else if (kind !== 'ocrx_word') {
      at.line += 1;
      at.lineHeight = Number(/x_size ([\d.]+)/.exec(title)?.[1] ?? 0);
      at.slope = Number(/baseline (-?[\d.]+)/.exec(title)?.[1] ?? 0);
    } else {
      const text = unescapeXml(plain ?? strong ?? emphasised ?? '').trim();
      const [left = 0, top = 0, right = 0, bottom = 0] = (/bbox ([\d ]+)/.exec(title)?.[1] ?? '')
        .split(' ')
        .map(Number);
      if (text === '') continue;
      words.push({ text, left, top, right, bottom, confidence: Number(/x_wconf (\d+)/.exec(title)?.[1] ?? 0), ...at });
    }
  }
  return words;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
}
