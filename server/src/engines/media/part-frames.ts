import { runProgram } from '../../sandbox/program.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { openOptions } from '../ffmpeg.ts';
import type { Media, VideoStream } from './probe.ts';

/** A part of a file, in seconds from its beginning. */
export interface Part {
  start: number;
  /** All that follows unless told. */
  duration: number | undefined;
}

/** How a part of a video lies among its frames; all in seconds. */
export interface PartFrames {
  /** The last key frame at or before the beginning; undefined where none is marked. */
  key: { shownAt: number; readAt: number } | undefined;
  /** How long the frame that is shown at the beginning stays. */
  heldAtStart: number;
  /** How long the frame that is shown at the end stays after it. */
  heldAfterEnd: number;
  /** How long the last frame of the part has been shown when the part ends. */
  heldAtEnd: number;
  /** Between neighbouring frames, usually; undefined for a single frame. */
  usualGap: number | undefined;
}

interface Frame {
  shownAt: number;
  readAt: number;
  isKey: boolean;
}

/** Key frames are seldom further apart, and frames behind the end come in another order than they are shown in. */
const [lookBack, lookAhead] = [60, 2];

/** Reads the times of the frames around a part, without decoding; of the whole file up to its end unless `canJump`. */
export async function partFrames(
  media: Media,
  picture: VideoStream,
  { start, duration }: Part,
  canJump: boolean,
  signal?: AbortSignal,
): Promise<PartFrames> {
  const pictureEnd =
    picture.durationSeconds === undefined ? media.durationSeconds : picture.startSeconds + picture.durationSeconds;
  const end = Math.min(pictureEnd, start + (duration ?? Infinity));
  const from = canJump ? Math.max(0, start - lookBack) : 0;
  let frames = await framesWithin(media, picture, from, end + lookAhead, signal);
  if (from > 0 && keyAt(frames, start) === undefined) {
    frames = await framesWithin(media, picture, 0, end + lookAhead, signal);
  }
  const times = frames.map(({ shownAt }) => shownAt).toSorted((a, b) => a - b);
  const next = times.find((time) => time > start - clockSlack) ?? pictureEnd;
  const isHeld = times.some((time) => time <= start);
  const last = times.findLast((time) => time < end - clockSlack) ?? end;
  const following = times.find((time) => time > end - clockSlack) ?? pictureEnd;
  const gaps = times.slice(1).map((time, number) => time - times[number]!);
  return {
    key: keyAt(frames, start),
    heldAtStart: isHeld ? Math.max(0, next - start) : 0,
    heldAfterEnd: Math.max(0, following - end),
    heldAtEnd: times.length === 0 ? 0 : end - Math.max(last, start),
    usualGap: gaps.toSorted((a, b) => a - b)[gaps.length >> 1],
  };
}

/** Clocks of containers count thousandths of a second, or finer. */
const clockSlack = 0.002;

function keyAt(frames: readonly Frame[], moment: number): Frame | undefined {
  return frames.findLast(({ isKey, shownAt }) => isKey && shownAt <= moment + clockSlack);
}

async function framesWithin(
  { file, startSeconds }: Media,
  { index }: VideoStream,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<Frame[]> {
  const frames: Frame[] = [];
  const seconds = (value: number) => (value + startSeconds).toFixed(3);
  const within = ['-read_intervals', `${from > 0 ? seconds(from) : ''}%${seconds(to)}`];
  const shown = ['-select_streams', String(index), '-show_entries', 'packet=pts_time,dts_time,flags'];
  const args = ['-hide_banner', '-v', 'error', ...within, ...shown, '-of', 'csv=p=0', ...openOptions(file)];
  await runProgram('ffprobe', args, {
    onLine: (line) => {
      const [shownAt = '', readAt = '', flags = ''] = line.split(',');
      const read = Number.parseFloat(readAt) - startSeconds;
      const time = Number.parseFloat(shownAt) - startSeconds;
      // AVI tells only when frames are to be read.
      const frame = { shownAt: time || time === 0 ? time : read, readAt: read || 0, isKey: flags.startsWith('K') };
      if (Number.isFinite(frame.shownAt)) frames.push(frame);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return frames;
}

/** A frame that stays longer is repeated, else the part would lack it: FFmpeg takes frames by the time they begin. */
const longestHold = 0.15;

/** Where a frame stands over an edge of a part: from where to read, and the rate at which frames are repeated. */
export interface Hold {
  readFrom: number;
  fps: number;
}

/** What must be done so that no edge of a part is left without its frame; undefined where frames come often enough. */
export function holdOf({ key, heldAtStart, heldAtEnd, usualGap = 1 }: PartFrames, start: number): Hold | undefined {
  if (heldAtStart <= longestHold && heldAtEnd <= longestHold) return undefined;
  // FFmpeg looks for the time a key frame is read at; a little earlier, so that no rounding leaves it out.
  const readFrom = key === undefined ? 0 : Math.max(0, Math.min(key.readAt, start) - 0.01);
  return { readFrom, fps: Math.min(60, Math.max(10, Math.round(1 / usualGap))) };
}

/** Copied frames begin at a key frame: a part that begins so many seconds earlier is still the part. */
const earliest = 12;
const mostHeld = 1;

/** Formats whose files say that the frames before the beginning are not shown. */
const hidesEarlier = new Set<FileTypeId>(['mp4', 'mov', '3gp']);

/** Whether a part can be cut out without encoding: not where key frames lie far apart, or one frame stands over an edge. */
export function canBeCopied(frames: PartFrames, start: number, type: FileTypeId): boolean {
  const { key, heldAtStart, heldAfterEnd } = frames;
  if (heldAtStart > mostHeld || heldAfterEnd > mostHeld) return false;
  return hidesEarlier.has(type) || start - (key?.shownAt ?? start) <= earliest;
}
