import { join } from 'node:path';
import { rm, stat } from 'node:fs/promises';
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

export interface Development {
  /** The white balance the camera chose, or one measured over the whole picture. */
  whiteBalance: 'camera' | 'auto';
  /** Half the width and height: four sensor cells make one pixel, several times faster. */
  halfSize: boolean;
  bits: 8 | 16;
}

const asTheCamera: Development = { whiteBalance: 'camera', halfSize: false, bits: 8 };

/**
 * Develops a camera raw photo (sRGB, upright) into a TIFF in `scratch` and returns that file's path.
 *
 * @throws Failure `invalid_input` for a photo that cannot be read
 */
export async function developCameraRaw(
  path: string,
  named: NamedFile,
  workspace: { scratch: string; signal: AbortSignal },
  { whiteBalance, halfSize, bits }: Development = asTheCamera,
): Promise<string> {
  const tiff = join(workspace.scratch, 'developed.tiff');
  await rm(tiff, { force: true }); // One of the photo before must not stand for this one.
  const args = [
    whiteBalance === 'camera' ? '-w' : '-a',
    ...(halfSize ? ['-h'] : []),
    ...(bits === 16 ? ['-6'] : []),
    ...['-o', '1', '-T', '-Z', tiff, path],
  ];
  const { stderrTail } = await runProgram('dcraw_emu', args, { signal: workspace.signal }).catch((error: unknown) => {
    throw error instanceof Failure && error.code === 'engine_failed' ? brokenImage(named, error.log ?? '') : error;
  });
  // What it cannot decode it leaves black or in false colours, and ends with code 0.
  if (/data corrupted at|unexpected end of file/i.test(stderrTail)) throw brokenImage(named, stderrTail);
  // It ends with code 0 for a file it could not open, too.
  const written = await stat(tiff).catch(() => undefined);
  if (written === undefined || written.size === 0) throw brokenImage(named, 'dcraw_emu wrote nothing');
  return tiff;
}
