import { stat } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import { runFfmpeg, seekTo } from '../ffmpeg.ts';
import { holdOf, partFrames } from './part-frames.ts';
import { type PictureSize, closingFilters, openingFilters } from './picture.ts';
import { type Video, isSeekable } from './write-video.ts';

export const animationFormats = ['gif', 'webp'] as const;
export type AnimationFormat = (typeof animationFormats)[number];

export interface AnimationJob {
  video: Video;
  path: string;
  format: AnimationFormat;
  range: { start: number; duration: number };
  fps: number;
  /** Even sides. */
  size: PictureSize;
  /** How often it plays; 0 is for ever. */
  loop: number;
  signal: AbortSignal;
  onProgress?: (percent: number) => void;
}

/** Frames of an animation stay in memory while its colours are counted. */
const maxAnimationPixels = 1_500_000_000;

/**
 * Writes a part of a video as an animated picture. A GIF gets one palette made of all its colours.
 *
 * @throws Failure `resource_limit` above 1.5 thousand million pixels in all; as `runFfmpeg`.
 */
export async function writeAnimation(job: AnimationJob): Promise<void> {
  const { video, path, format, range, fps, size, loop } = job;
  const { filename } = video.file;
  if (size.width * size.height * fps * range.duration > maxAnimationPixels) {
    const message = `"${filename}" makes too large an animation: take a shorter part, a smaller width or fewer frames a second.`;
    throw new Failure('resource_limit', message, { file: filename });
  }
  const hold = holdOf(await partFrames(video, video.picture, range, isSeekable(video), job.signal), range.start);
  const from = hold === undefined ? range.start : isSeekable(video) ? hold.readFrom : 0;
  const skipped = range.start - from;
  const frames = [
    ...openingFilters(video.picture),
    // Of a part shorter than one frame, the first is kept.
    `fps=${fps}${range.duration * fps < 1 ? ':round=up' : ''}`,
    ...(skipped > 0 ? [`trim=start=${skipped.toFixed(6)}`, 'setpts=PTS-STARTPTS'] : []),
    ...closingFilters(video.picture, { size }),
    'format=rgb24',
  ].join(',');
  const input = { source: video.file, options: seekTo(from) };
  const source = `[0:${video.picture.index}]`;
  const { log } = await runFfmpeg({
    inputs: [input],
    args: [
      ...['-t', String(range.duration)],
      ...(format === 'gif'
        ? [
            '-filter_complex',
            `${source}${frames},split[a][b];[a]palettegen=stats_mode=diff[palette];[b][palette]paletteuse=dither=sierra2_4a:diff_mode=rectangle`,
            // The GIF writer counts repetitions after the first: -1 is none.
            ...['-loop', String(loop === 0 ? 0 : loop === 1 ? -1 : loop - 1)],
          ]
        : ['-filter_complex', `${source}${frames}`, '-c:v', 'libwebp_anim', '-q:v', '75', '-loop', String(loop)]),
    ],
    output: { muxer: format, path },
    durationSeconds: range.duration,
    onProgress: job.onProgress,
    signal: job.signal,
  });
  const { size: bytes } = await stat(path).catch(() => ({ size: 0 }));
  if (bytes > 0) return;
  throw new Failure('invalid_input', `"${filename}" has no frame in the part that was asked for.`, {
    file: filename,
    log,
  });
}
