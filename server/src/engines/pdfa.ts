import { open, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { maxLogBytes, refuseLosses } from './ghostscript.ts';
import { runProgram } from '../sandbox/program.ts';
import { removeAttachments, reportOf } from './pdf-edit.ts';
import { openPdf, refuseDamage, savePdf, type PdfFile } from './pdf-lib.ts';
import { readPdf } from './pdfium.ts';
import { isBlankPage } from './visible-area.ts';

export const pdfaLevels = ['1b', '2b', '2u', '3b'] as const;
export type PdfaLevel = (typeof pdfaLevels)[number];

/** The sRGB profile that comes with Ghostscript. */
const profile = '/usr/share/color/icc/ghostscript/srgb.icc';

interface Report {
  page_count: number;
  standards: string[];
  has_javascript: boolean;
  attachments: unknown[];
  signatures: unknown[];
  form: { fields: number } | null;
  fonts: { name: string; embedded: boolean }[];
}

export interface PdfaOptions {
  filename: string;
  level: PdfaLevel;
  scratch: string;
  signal: AbortSignal;
}

/** What in a file the level has no place for, in words; Ghostscript leaves it out. */
export async function losses(file: PdfFile, level: PdfaLevel): Promise<string[]> {
  const report = (await reportOf(file)) as unknown as Report;
  const { isTransparent } = await import('./pdf/transparency.ts');
  return [
    ...(report.attachments.length > 0 ? ['attached files'] : []),
    ...(report.has_javascript ? ['scripts'] : []),
    ...(report.signatures.length > 0 ? ['signatures'] : []),
    ...(report.form === null ? [] : ['form fields']),
    ...(level === '1b' && isTransparent(file) ? ['transparency'] : []),
  ];
}

/**
 * Writes an open file as PDF/A with Ghostscript: fonts embedded, colours tied to sRGB, and without what the level forbids.
 *
 * @returns what Ghostscript left out, in its own words.
 * @throws Failure `invalid_input` for a damaged page, `engine_failed`
 */
export async function writePdfa(file: PdfFile, output: string, options: PdfaOptions): Promise<string[]> {
  const { filename, level, signal } = options;
  await refuseDamage(file);
  const directory = await mkdtemp(join(options.scratch, 'pdfa-'));
  const [source, intent] = [join(directory, 'source.pdf'), join(directory, 'intent.ps')];
  // Ghostscript would write them into any level, and the first of a portfolio as a page.
  await removeAttachments(file);
  await savePdf(file.context, source); // Decrypted: Ghostscript writes a blank page for what it cannot open.
  await writeFile(intent, outputIntent);
  const args = [
    `-dPDFA=${level[0]}`,
    '-dPDFACompatibilityPolicy=1',
    '-sDEVICE=pdfwrite',
    '-dSAFER',
    '-dBATCH',
    '-dNOPAUSE',
    `--permit-file-read=${profile}`,
    '-sColorConversionStrategy=RGB',
    '-dAutoRotatePages=/None',
    '-dDownsampleColorImages=false',
    '-dDownsampleGrayImages=false',
    '-dDownsampleMonoImages=false',
    `-sOutputFile=${output.replaceAll('%', '%%')}`,
    intent,
    source,
  ];
  const how = { env: { TMPDIR: directory }, signal, maxOutputBytes: maxLogBytes };
  const { stdout, stderrTail } = await runProgram('gs', args, how);
  const written = await stat(output).catch(() => undefined);
  const log = `${stdout}${stderrTail}`;
  if (written === undefined || written.size === 0) {
    throw new Failure('engine_failed', `${filename} could not be written as PDF/A.`, { file: filename, log });
  }
  await refuseLosses(log, file);
  if (/reverting to normal PDF output/i.test(log)) throw notAllowed(filename, log);
  await compareBlanks(source, output, options);
  return log.split('\n').filter((line) => /not permitted in PDF\/A|not allowed in PDF\/A/i.test(line));
}

/** Such as a letter that its font does not have. */
function notAllowed(file: string, log: string): Failure {
  const message = `${file} holds something that PDF/A does not allow, and that cannot be left out.`;
  return new Failure('invalid_input', message, { file, log: log.slice(-4000) });
}

/** What colours without a profile mean, as the standard wants it. */
const outputIntent = `%!
[/_objdef {icc} /type /stream /OBJ pdfmark
[{icc} << /N 3 >> /PUT pdfmark
[{icc} (${profile}) (r) file /PUT pdfmark
[/_objdef {intent} /type /dict /OBJ pdfmark
[{intent} << /Type /OutputIntent /S /GTS_PDFA1 /DestOutputProfile {icc} /OutputConditionIdentifier (sRGB) /Info (sRGB) >> /PUT pdfmark
[{Catalog} << /OutputIntents [{intent}] >> /PUT pdfmark
`;

/** @throws Failure `engine_failed` when a page has lost everything. */
async function compareBlanks(source: string, output: string, { filename, scratch }: PdfaOptions): Promise<void> {
  await readPdf({ path: source, filename, scratch }, (before) =>
    readPdf({ path: output, filename, scratch }, (after) => {
      for (let page = 0; page < Math.min(before.pageCount, after.pageCount); page++) {
        if (isBlankPage(before, page) || !isBlankPage(after, page)) continue;
        const message = `Page ${page + 1} of ${filename} could not be written as PDF/A.`;
        throw new Failure('engine_failed', message, { file: filename });
      }
      return Promise.resolve();
    }),
  );
}

/** Whether all letters of a file say which signs they stand for, as level 2u wants it. */
export function hasUnicode(path: string, { filename, scratch }: PdfaOptions): Promise<boolean> {
  return readPdf({ path, filename, scratch }, (reader) => {
    for (let page = 0; page < reader.pageCount; page++) {
      const { characters } = reader.content(page, { wantsImage: () => false });
      if (characters.some(({ text }) => text === '' || /[\ufffd\p{Co}]/u.test(text))) return Promise.resolve(false);
    }
    return Promise.resolve(true);
  });
}

/** Declares a file of level 2b to be of level 2u: one letter, which moves nothing. */
export async function declareUnicode(path: string): Promise<void> {
  const bytes = await readFile(path);
  const text = bytes.toString('latin1');
  const match = /pdfaid:conformance(?:\s*=\s*["']|>)\s*B/.exec(text);
  if (match === null) return; // The check that follows finds out.
  const handle = await open(path, 'r+');
  try {
    await handle.write('U', match.index + match[0].length - 1);
  } finally {
    await handle.close();
  }
}

/**
 * Checks what can be checked without a validator: what the file declares, its fonts, its output intent, what must not be
 * in it, and its pages.
 *
 * @throws Failure `engine_failed`
 */
export async function checkPdfa(
  path: string,
  level: PdfaLevel,
  pages: number | undefined,
  options: PdfaOptions,
): Promise<void> {
  const { filename, scratch } = options;
  const file = await openPdf({ path, filename, scratch });
  const report = (await reportOf(file)) as unknown as Report;
  const { hasOutputIntent } = await import('./pdf/transparency.ts');
  const missing = report.fonts.filter(({ embedded }) => !embedded).map(({ name }) => name);
  const problems = [
    ...(report.standards.includes(`PDF/A-${level}`) ? [] : [`it declares ${report.standards.join(', ') || 'nothing'}`]),
    ...(missing.length > 0 ? [`fonts are not embedded: ${missing.join(', ')}`] : []),
    ...(hasOutputIntent(file) ? [] : ['it has no output intent']),
    ...(file.wasEncrypted ? ['it is encrypted'] : []),
    ...(report.has_javascript ? ['it has scripts'] : []),
    ...(report.attachments.length > 0 && level !== '3b' ? ['it has attached files'] : []),
    ...(pages === undefined || report.page_count === pages ? [] : [`it has ${report.page_count} pages, not ${pages}`]),
  ];
  if (problems.length === 0) return;
  const message = `${filename} could not be written as PDF/A-${level}.`;
  throw new Failure('engine_failed', message, { file: filename, log: problems.join('; ') });
}
