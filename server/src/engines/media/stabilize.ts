import { runFfmpeg } from '../ffmpeg.ts';
import { openingFilters } from './picture.ts';
import type { Video } from './write-video.ts';

const transforms = 'transforms.trf';

/** The filters abort on odd sides, and both passes must see the same picture. */
const evenPicture = ['scale=2*ceil(iw/2):2*ceil(ih/2)', 'format=yuv420p'];

interface Workspace {
  /** The working directory of both passes. */
  scratch: string;
  signal: AbortSignal;
  onProgress: (percent: number) => void;
}

/** The first of two passes: measures how the picture shakes and leaves that in the scratch directory. */
export async function writeShake(
  { file, picture, durationSeconds }: Video,
  { scratch, signal, onProgress }: Workspace,
): Promise<void> {
  const detect = `vidstabdetect=shakiness=7:accuracy=15:result=${transforms}`;
  await runFfmpeg({
    inputs: [{ source: file }],
    args: ['-map', `0:${picture.index}`, '-vf', [...openingFilters(picture), ...evenPicture, detect].join(',')],
    output: null,
    durationSeconds,
    cwd: scratch,
    signal,
    onProgress,
  });
}

/** The second pass: moves every frame against its shake; runs in the same directory. */
export function shakeFilters({ smoothing, zoom }: { smoothing: number; zoom: boolean }): string[] {
  const options = `smoothing=${smoothing}:optzoom=${zoom ? 1 : 0}:crop=${zoom ? 'keep' : 'black'}:interpol=bicubic`;
  // What is moved by parts of a pixel gets a little soft.
  return [...evenPicture, `vidstabtransform=input=${transforms}:${options}`, 'unsharp=5:5:0.6:3:3:0.3'];
}
