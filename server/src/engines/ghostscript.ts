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

interface GrayOptions {
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
 * @throws Failure `engine_failed`
 */
export async function toGray({ input, output, filename, scratch, signal }: GrayOptions): Promise<void> {
  const args = [
    '-dSAFER',
    '-dBATCH',
    '-dNOPAUSE',
    '-q',
    '-sDEVICE=pdfwrite',
    '-dCompatibilityLevel=1.7',
    '-sColorConversionStrategy=Gray',
    '-dProcessColorModel=/DeviceGray',
    '-dAutoRotatePages=/None',
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
  const { stderrTail, stdout } = await runProgram('gs', args, { env: { TMPDIR: scratch }, signal });
  const written = await stat(output).catch(() => undefined);
  if (written !== undefined && written.size > 0) return;
  throw new Failure('engine_failed', `${filename} could not be made grey.`, {
    file: filename,
    log: stdout + stderrTail,
  });
}
