import { join } from 'node:path';
import { stat } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import { brokenImage, type NamedFile } from './image-failure.ts';

export const cameraRawDecoder: Engine = {
  id: 'dcraw_emu',
  name: 'LibRaw (reads camera raw photos)',
  license: 'LGPL-2.1-only OR CDDL-1.0',
  install: 'apt-get install -y libraw-bin',
  async version() {
    try {
      // It has no way to tell its version: a wrong call ends with its help.
      const { stdout, stderrTail } = await runProgram('dcraw_emu', [], { okCodes: [0, 1], timeoutMs: 5000 });
      return (stdout + stderrTail).includes('dcraw_emu') ? 'installed' : undefined;
    } catch {
      return undefined;
    }
  },
};

/**
 * Develops a camera raw photo as the camera would (its white balance, sRGB, upright) into a TIFF in `scratch` and returns
 * that file's path.
 */
export async function developCameraRaw(
  path: string,
  named: NamedFile,
  workspace: { scratch: string; signal: AbortSignal },
): Promise<string> {
  const tiff = join(workspace.scratch, 'developed.tiff');
  try {
    await runProgram('dcraw_emu', ['-w', '-o', '1', '-T', '-Z', tiff, path], { signal: workspace.signal });
  } catch (error) {
    throw error instanceof Failure && error.code === 'engine_failed' ? brokenImage(named, error.log ?? '') : error;
  }
  // It ends with code 0 for a file it could not open, too.
  const written = await stat(tiff).catch(() => undefined);
  if (written === undefined || written.size === 0) throw brokenImage(named, 'dcraw_emu wrote nothing');
  return tiff;
}
