import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/failure.ts';
import { runFfmpeg, seekTo } from '../ffmpeg.ts';
import { type PictureSize, closingFilters, openingFilters } from './picture.ts';
import type { Video } from './write-video.ts';

export const frameFormats = ['jpeg', 'png', 'webp'] as const;
export type FrameFormat = (typeof frameFormats)[number];

const encoders: Readonly<Record<FrameFormat, readonly string[]>> = {
  jpeg: ['-c:v', 'mjpeg', '-q:v', '2', '-pix_fmt', 'yuvj420p'],
  png: ['-c:v', 'png', '-pix_fmt', 'rgb24', '-compression_level', '3'],
  webp: ['-c:v', 'libwebp', '-q:v', '85', '-pix_fmt', 'yuv420p'],
};

export interface FrameOptions {
  video: Video;
  format: FrameFormat;
  /** Even sides. */
  size: PictureSize;
  signal: AbortSignal;
}

function frameFilters({ picture }: Video, size: PictureSize): string[] {
  return [...openingFilters(picture), ...closingFilters(picture, { size })];
}

/** How far before a moment is looked for the frame that is shown at it, in seconds. */
const lookBack = [0, 2, 20];

/**
 * Writes the frame that is shown at a moment, upright and in square pixels.
 *
 * @throws Failure `invalid_input` when no frame can be read there.
 */
export async function writeFrame(
  { video, format, size, signal }: FrameOptions,
  seconds: number,
  path: string,
): Promise<void> {
  for (const back of lookBack) {
    const from = Math.max(0, seconds - back);
    await runFfmpeg({
      inputs: [{ source: video.file, options: seekTo(from) }],
      args: [
        ...['-map', `0:${video.picture.index}`, '-an', '-sn', '-dn'],
        ...['-vf', frameFilters(video, size).join(',')],
        // Behind the last frame there is none: then all before the moment are written, one over the other.
        ...(back === 0 ? ['-frames:v', '1'] : ['-t', (seconds - from + 0.001).toFixed(6)]),
        ...['-update', '1', ...encoders[format]],
      ],
      output: { muxer: 'image2', path },
      signal,
    });
    const { size: bytes } = await stat(path).catch(() => ({ size: 0 }));
    if (bytes > 0) return;
  }
  const { filename } = video.file;
  const message = `"${filename}" has no frame that can be read at ${seconds.toFixed(2)} seconds.`;
  throw new Failure('invalid_input', message, { file: filename });
}

export interface FrameSeries extends FrameOptions {
  /** Every so manieth frame, or so many a second. */
  pick: { everyNth: number } | { fps: number };
  /** Most frames to write. */
  limit: number;
  /** Empty; receives the frames. */
  directory: string;
  onProgress?: (percent: number) => void;
}

/** Clocks of containers are coarse: a frame may come, and the last one end, so many seconds late. */
const clockSlack = 0.005;

/** The frames that are shown at every so manieth part of a second, counted from the first one. */
function steadyFrames(fps: number): string[] {
  const slack = Math.min(clockSlack, 0.4 / fps);
  // A frame is a whole number of the clock's ticks: some tick only once a frame.
  return ['settb=1/90000', `setpts=PTS-STARTPTS-${slack.toFixed(6)}/TB`, `fps=${fps}:round=up:start_time=0`];
}

/** One more than the limit shows that there are too many. */
function mostFrames({ video: { file, picture }, pick, limit }: FrameSeries): number {
  const { durationSeconds, fps = 25 } = picture;
  const isCoarse = 'fps' in pick && pick.fps <= fps / 2;
  if (file.type !== 'avi' || durationSeconds === undefined || !isCoarse) return limit + 1;
  // AVI has no times: its writers put an empty frame first where sound is delayed, and the picture ends one frame late.
  const moments = Math.ceil((durationSeconds - 1 / fps - clockSlack) * pick.fps);
  return Math.min(limit + 1, Math.max(1, moments));
}

/**
 * Writes many frames of a video. @returns their paths in order.
 *
 * @throws Failure `resource_limit` above the limit; `invalid_input` when no frame can be read.
 */
export async function writeFrames(series: FrameSeries): Promise<string[]> {
  const { video, format, size, pick, limit, directory, signal, onProgress } = series;
  const { filename } = video.file;
  const selected = 'fps' in pick ? steadyFrames(pick.fps) : [`select='not(mod(n,${pick.everyNth}))'`];
  await runFfmpeg({
    inputs: [{ source: video.file }],
    args: [
      ...['-map', `0:${video.picture.index}`, '-an', '-sn', '-dn'],
      ...['-vf', [...selected, ...frameFilters(video, size)].join(',')],
      ...['-vsync', 'passthrough', '-frames:v', String(mostFrames(series)), ...encoders[format]],
    ],
    output: { muxer: 'image2', path: join(directory, '%06d') },
    durationSeconds: video.durationSeconds,
    onProgress,
    signal,
  });
  const names = (await readdir(directory)).toSorted();
  if (names.length > limit) {
    const message = `"${filename}" has more than ${limit} such frames: take fewer of them.`;
    throw new Failure('resource_limit', message, { file: filename });
  }
  if (names.length === 0) {
    throw new Failure('invalid_input', `"${filename}" has no frame that can be read.`, { file: filename });
  }
  return names.map((name) => join(directory, name));
}
