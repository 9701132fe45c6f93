import { stat } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import type { PdfFile } from './pdf-lib.ts';

/** AGPL: only ever a program of its own. */
export const ghostscript: Engine = {
  id: 'ghostscript',
  name: 'Ghostscript',
  license: 'AGPL-3.0-or-later',
  interpretsPrograms: true,
  install: 'apt-get install -y --no-install-recommends ghostscript',
  async version() {
    try {
      return (await runProgram('gs', ['--version'], { timeoutMs: 5000 })).stdout.trim() || undefined;
    } catch {
      return undefined;
    }
  },
};

interface RewriteOptions {
  /** An unencrypted PDF: Ghostscript writes a blank page, and success, for one it cannot open. */
  input: string;
  output: string;
  filename: string;
  /** A private directory: with TMPDIR there, nothing else in /tmp can be read. */
  scratch: string;
  signal: AbortSignal;
  /** The pages that are in `input`, 0-based; all of them without it. */
  pages?: readonly number[];
}

/**
 * Writes a copy in shades of grey: text, drawings, shadings and images of every kind. Images keep their pixels. Bookmarks
 * and links stay; form fields become part of the page.
 *
 * @param file what `input` was written from.
 * @throws Failure `engine_failed`; `invalid_input` for a picture that Ghostscript cannot read, or a font it does not have.
 */
export async function toGray(file: PdfFile, options: RewriteOptions): Promise<void> {
  const { filename } = options;
  const { isWritten, log } = await rewrite(options, [
    '-sColorConversionStrategy=Gray',
    '-dProcessColorModel=/DeviceGray',
  ]);
  if (!isWritten) throw new Failure('engine_failed', `${filename} could not be made grey.`, { file: filename, log });
  await refuseLosses(log, file, options.pages);
}

/**
 * Writes a copy with only what the pages show, drawn anew; annotations become part of the page. Ghostscript reads many
 * damaged files, and writes a blank page for one it cannot read.
 *
 * @throws Failure `engine_failed`
 */
export async function redrawPdf(options: RewriteOptions): Promise<void> {
  const { isWritten, log } = await rewrite(options, ['-dPreserveAnnots=false']);
  if (isWritten) return;
  const { filename } = options;
  throw new Failure('engine_failed', `${filename} could not be drawn anew.`, { file: filename, log });
}

/** What Ghostscript says may be long: a line a page. */
export const maxLogBytes = 16 * 1024 * 1024;

/** What Ghostscript 10 says of a composite font that is not in the file, and older ones. */
const replacedFont = /object lacks a required Subtype|Can't find CID font/;

/**
 * Ghostscript leaves out a picture that it cannot read, and writes the letters of a Chinese, Japanese or Korean font that
 * is not in the file with Latin ones; it tells so only when it is not told to be quiet.
 *
 * @throws Failure `invalid_input`
 */
export async function refuseLosses(
  log: string,
  file: PdfFile,
  pages: readonly number[] = [...file.pages.keys()],
): Promise<void> {
  const { filename } = file;
  const refuse = (message: string) => new Failure('invalid_input', message, { file: filename, log: log.slice(-4000) });
  if (log.includes('image error'))
    throw refuse(`A picture in ${filename} is damaged, or coded in a way that cannot be read here.`);
  if (!replacedFont.test(log)) return;
  const { missingCompositeFonts } = await import('./pdf/missing-fonts.ts');
  const [font] = missingCompositeFonts(file, pages);
  if (font === undefined) return;
  throw refuse(`${filename} uses the font ${font} without having it inside, so its letters cannot be drawn here.`);
}

/** Images keep their pixels. */
async function rewrite(
  { input, output, scratch, signal }: RewriteOptions,
  options: readonly string[],
): Promise<{ isWritten: boolean; log: string }> {
  const args = [
    '-dSAFER',
    '-dBATCH',
    '-dNOPAUSE',
    '-sDEVICE=pdfwrite',
    '-dCompatibilityLevel=1.7',
    '-dAutoRotatePages=/None',
    ...options,
    '-dDownsampleColorImages=false',
    '-dDownsampleGrayImages=false',
    '-dDownsampleMonoImages=false',
    '-dAutoFilterColorImages=false',
    '-dAutoFilterGrayImages=false',
    '-dColorImageFilter=/FlateEncode',
    '-dGrayImageFilter=/FlateEncode',
    `-sOutputFile=${output.replaceAll('%', '%%')}`,
    '-f',
    input,
  ];
  const how = { env: { TMPDIR: scratch }, signal, maxOutputBytes: maxLogBytes };
  const { stderrTail, stdout } = await runProgram('gs', args, how);
  const written = await stat(output).catch(() => undefined);
  return { isWritten: written !== undefined && written.size > 0, log: stdout + stderrTail };
}
