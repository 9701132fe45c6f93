import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/failure.ts';
import { runProgram } from '../../sandbox/program.ts';
import type { Engine } from '../engine.ts';

export const fontforge: Engine = {
  id: 'fontforge',
  name: 'FontForge',
  license: 'GPL-3.0-or-later',
  install: 'apt-get install -y --no-install-recommends fontforge-nox',
  async version() {
    const result = await runProgram('fontforge', ['-version'], { timeoutMs: 10_000 }).catch(() => undefined);
    return result === undefined ? undefined : /^fontforge (\S+)/m.exec(result.stdout + result.stderrTail)?.[1];
  },
};

/**
 * Draws the outlines of a font anew in the other way: cubic curves (OTF) as quadratic ones (TTF) or back.
 *
 * @throws Failure `invalid_input` for a font FontForge cannot read.
 */
export async function redrawFont(
  font: { bytes: Buffer; extension: 'ttf' | 'otf' | 'svg'; filename: string },
  target: 'ttf' | 'otf',
  { scratch, signal }: { scratch: string; signal: AbortSignal },
): Promise<Buffer> {
  const [source, output] = [join(scratch, `source.${font.extension}`), join(scratch, `redrawn.${target}`)];
  await writeFile(source, font.bytes);
  const { stderrTail } = await runProgram(
    'fontforge',
    ['-quiet', '-lang=ff', '-c', 'Open($1); Generate($2)', source, output],
    { signal, okCodes: [0, 1] },
  );
  if (((await stat(output).catch(() => undefined))?.size ?? 0) > 0) return readFile(output);
  throw new Failure('invalid_input', `"${font.filename}" is a font whose outlines cannot be read.`, {
    file: font.filename,
    log: stderrTail,
  });
}
