import { stat } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';

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
}

/**
 * Writes a copy in shades of grey: text, drawings, shadings and images of every kind. Images keep their pixels. Bookmarks
 * and links stay; form fields become part of the page.
 *
 * @throws Failure `engine_failed`; `invalid_input` for a picture that Ghostscript cannot read.
 */
export async function toGray(options: RewriteOptions): Promise<void> {
  const { filename } = options;
  const { isWritten, log } = await rewrite(options, [
    '-sColorConversionStrategy=Gray',
    '-dProcessColorModel=/DeviceGray',
  ]);
  if (isWritten) return refuseLostPicture(log, filename);
  throw new Failure('engine_failed', `${filename} could not be made grey.`, { file: filename, log });
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

/**
 * Ghostscript leaves out a picture that it cannot read, and tells so only when it is not told to be quiet.
 *
 * @throws Failure `invalid_input`
 */
export function refuseLostPicture(log: string, filename: string): void {
  if (!log.includes('image error')) return;
  const message = `A picture in ${filename} is damaged, or coded in a way that cannot be read here.`;
  throw new Failure('invalid_input', message, { file: filename, log: log.slice(-4000) });
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
