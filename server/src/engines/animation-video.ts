import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { writeApng } from './apng.ts';
import { runFfmpeg } from './ffmpeg.ts';
import type { ImageFile, Pixels, Workspace } from './images.ts';

/** Shorter delays are shown as a tenth of a second by every browser. */
const shortestDelay = 20;
const usualDelay = 100;

/** Frames of a video that shows one picture for minutes; its rate becomes lower instead. */
const maxVideoFrames = 20_000;

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/**
 * Writes frames as an MP4 that every player shows: H.264, with even sides (a last row or column is added where needed).
 * The frames must have no transparent places.
 *
 * @param crf from 0 (lossless) to 51
 */
export async function writeAnimationVideo(
  frames: readonly Pixels[],
  delays: readonly number[],
  { file, workspace, path, crf }: { file: ImageFile; workspace: Workspace; path: string; crf: number },
): Promise<void> {
  const source = join(workspace.scratch, 'frames.apng');
  const shown = delays.map((delay) => (delay < shortestDelay ? usualDelay : Math.round(delay / 10) * 10));
  const [last] = frames.slice(-1);
  if (last === undefined) throw new Error('a video of nothing');
  const total = shown.reduce((sum, part) => sum + part, 0);
  // A constant rate plays everywhere: the coarsest that shows every picture as long as it should.
  const step = Math.max(shown.reduce(greatestDivisor), Math.ceil(total / maxVideoFrames));
  // The filter ends when the last picture begins, so one more stands behind it, and the frames are counted.
  await writeApng([...frames, last], { delay: [...shown, usualDelay], loop: 1 }, source, workspace.signal);
  const [right, bottom] = [last.width % 2, last.height % 2];
  const even = `pad=iw+${right}:ih+${bottom},fillborders=right=${right}:bottom=${bottom}:mode=smear`;
  const filters = [`fps=1000/${step}`, ...(right + bottom > 0 ? [even] : []), 'format=yuv420p'];
  const count = Math.max(1, Math.round(total / step));
  await runFfmpeg({
    inputs: [{ source: ['-protocol_whitelist', 'file', '-f', 'apng', '-i', `file:${source}`] }],
    args: [
      ...['-vf', filters.join(','), '-frames:v', String(count)],
      ...['-c:v', 'libx264', '-preset', 'medium', '-crf', String(crf), '-movflags', '+faststart', '-an'],
    ],
    output: { muxer: 'mp4', path },
    durationSeconds: total / 1000,
    signal: workspace.signal,
  });
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size > 0) return;
  throw new Failure('engine_failed', `"${file.filename}" could not be made a video.`, { file: file.filename });
}
