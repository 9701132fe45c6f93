import { type FfmpegInput, maxPixels, runFfmpeg, seekTo } from '../ffmpeg.ts';
import { type Hold, type Part, holdOf, partFrames } from './part-frames.ts';
import { type PictureSize, closingFilters, evenSize, openingFilters, shownSize } from './picture.ts';
import {
  type AudioStream,
  type Media,
  type MediaStream,
  type VideoStream,
  keyFrameBefore,
  leadOf,
  secondsOf,
} from './probe.ts';
import { transcode } from './transcode.ts';
import {
  type AudioEncoding,
  type VideoCodec,
  type VideoEncoding,
  type VideoType,
  audioEncoderFilters,
  audioEncoderOptions,
  containers,
  holdsAudio,
  keepsDepth,
  keptVideoCodec,
  steadyRate,
  videoEncoderOptions,
} from './video-formats.ts';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';

/** A media file that has a picture. */
export interface Video extends Media {
  picture: VideoStream;
}

/** @throws Failure `invalid_input` for a file with sound or subtitles alone. */
export function assertVideo(media: Media): Video {
  const [picture] = media.videos;
  if (picture !== undefined) return { ...media, picture };
  const { filename } = media.file;
  const held = media.audios.length > 0 ? 'sound' : 'subtitles';
  throw new Failure('invalid_input', `"${filename}" has no video: it holds ${held} alone.`, { file: filename });
}

export interface PictureWork extends VideoEncoding {
  /** Work on the upright picture, one FFmpeg filter each: after deinterlacing, before scaling and colours. */
  filters?: readonly string[];
  /** Work on the finished picture, in its final size and colours; `[1:v]` may be laid over it here. */
  overlays?: readonly string[];
  /** The size of the result, even; of the picture as it is shown unless told. */
  size?: PictureSize;
  /** Frames a second; the picture's own unless told. */
  fps?: number | undefined;
}

export interface SoundWork extends AudioEncoding {
  filters?: readonly string[];
}

export interface VideoJob {
  video: Video;
  output: { type: VideoType; path: string };
  picture: PictureWork | 'copy';
  /** All tracks that can be decoded here, or those given, are kept. */
  sound: SoundWork | 'copy' | 'none' | ((track: AudioStream) => SoundWork | 'copy');
  tracks?: readonly AudioStream[];
  /** Keep subtitles where the format has a kind for them (true unless told). */
  subtitles?: boolean;
  /** Keep chapters, whose times are those of the input (true unless told). */
  chapters?: boolean;
  /** A part of the file, in seconds. */
  range?: Part;
  /** Seconds of the result, where it does not follow from the input. */
  durationSeconds?: number;
  /** Further inputs, which filters name `[1:v]`, …. */
  furtherInputs?: readonly FfmpegInput[];
  /** For the statistics of two passes. */
  cwd?: string;
  signal: AbortSignal;
  onProgress?: ((percent: number) => void) | undefined;
  log?: (message: string) => void;
}

/**
 * Writes one video from one video: the picture encoded again or copied, the sound likewise, subtitles as the format has
 * them, chapters and tags kept. Phone videos come out upright, pixels square, sides even.
 *
 * @throws Failure as `transcode`.
 */
export async function writeVideo(given: VideoJob): Promise<Media> {
  const hold = await holdWithin(given);
  const job = hold === undefined ? given : repeating(given, hold);
  const { video, output, range } = job;
  const { maxTracks } = containers[output.type];
  const wanted = job.sound === 'none' ? [] : (job.tracks ?? video.audios);
  const tracks = wanted.filter((track) => isWithin(track, range)).slice(0, maxTracks);
  if (!isWithin(video.picture, range)) throw noPicture(video);
  const subtitles = job.subtitles === false ? [] : keptSubtitles(job);
  const kept = [video.picture, ...tracks];
  const leadSeconds = Math.max(0, leadOf(kept) - (range?.start ?? 0));
  const whole = job.durationSeconds ?? (await secondsOf(video, kept, job.signal));
  const rest = range === undefined ? whole : leadOf(kept) + whole - range.start;
  const durationSeconds = range === undefined ? rest : Math.min(rest, range.duration ?? rest) - leadSeconds;
  const seeking = await seekOptions(job, hold);
  const size = sizeOf(job);
  return transcode({
    inputs: [{ source: video.file, options: seeking.before }, ...(job.furtherInputs ?? [])],
    args: [
      ...seeking.after,
      ...pictureOptions(job, size),
      ...tracks.flatMap((track, number) => soundOptions(job, track, number)),
      ...subtitles.flatMap(({ index, codec }, number) => ['-map', `0:${index}`, `-c:s:${number}`, codec]),
      // A subtitle that is shown already where a part begins would move everything else to a later time.
      ...(subtitles.length > 0 && range !== undefined ? ['-copypriorss:s', '0'] : []),
      // Fonts that subtitles name are attached to Matroska files.
      ...(output.type === 'mkv' && subtitles.length > 0 ? ['-map', '0:t?', '-c:t', 'copy'] : []),
      ...(job.chapters === false ? ['-map_chapters', '-1'] : []),
      ...['-dn', '-map_metadata', '0', '-max_muxing_queue_size', '4096'],
      ...(containers[output.type].options ?? []),
    ],
    output,
    expected: {
      durationSeconds,
      leadSeconds,
      videoSeconds:
        range === undefined && job.durationSeconds === undefined ? video.picture.durationSeconds : undefined,
      mayBeLonger: job.picture === 'copy' && range !== undefined,
      video: true,
      audioTracks: tracks.length,
      ...(size === undefined ? {} : { size }),
    },
    signal: job.signal,
    onProgress: job.onProgress,
    ...(job.cwd === undefined ? {} : { cwd: job.cwd }),
  });
}

/** Where one frame stands over an edge of the part that is encoded again. */
async function holdWithin({ video, picture, range, signal }: VideoJob): Promise<Hold | undefined> {
  if (range === undefined || picture === 'copy') return undefined;
  return holdOf(await partFrames(video, video.picture, range, isSeekable(video), signal), range.start);
}

function repeating(job: VideoJob, { fps }: Hold): VideoJob {
  const { picture } = job;
  return picture === 'copy' ? job : { ...job, picture: { ...picture, fps: picture.fps ?? fps } };
}

/** Whether anything of a stream lies in a part of its file. */
function isWithin({ startSeconds, durationSeconds = Infinity }: MediaStream, range: VideoJob['range']): boolean {
  if (range === undefined) return true;
  const { start, duration = Infinity } = range;
  return startSeconds < start + duration && startSeconds + durationSeconds > start;
}

function noPicture({ file: { filename }, picture: { startSeconds } }: Video): Failure {
  const message = `"${filename}" has no picture in that part: it begins at ${startSeconds.toFixed(2)} seconds.`;
  return new Failure('invalid_input', message, { file: filename });
}

/** What an encoder refuses to make smaller, in pixels. */
const leastSides: Partial<Record<VideoCodec, number>> = { hevc: 32, av1: 64 };

/** Narrower pictures with ten bits a channel crash x265. */
const leastDeepWidth = 64;

/** @throws Failure `invalid_input` for a size beyond what is read here, or too small for the codec. */
function sizeOf({ video, picture }: Pick<VideoJob, 'video' | 'picture'>): PictureSize | undefined {
  if (picture === 'copy') return undefined;
  const size = picture.size ?? evenSize(shownSize(video.picture));
  const least = leastSides[picture.codec] ?? 0;
  if (Math.min(size.width, size.height) < least) {
    const file = video.file.filename;
    const is = `would become ${size.width} x ${size.height} pixels, and ${picture.codec} needs ${least} on each side`;
    throw new Failure('invalid_input', `"${file}" ${is}: choose H.264.`, { file });
  }
  if (size.width * size.height <= maxPixels && Math.max(size.width, size.height) <= 16_384) return size;
  const { filename } = video.file;
  const message = `"${filename}" would become ${size.width} x ${size.height} pixels: the limit is 8192 x 4320.`;
  throw new Failure('invalid_input', message, { file: filename });
}

/** Formats whose index leads to any moment; in the others FFmpeg may land behind the key frame it needs. */
const seekable = new Set<FileTypeId>(['mp4', 'mov', '3gp', 'mkv', 'webm']);

export function isSeekable({ file: { type } }: Media): boolean {
  return seekable.has(type);
}

/** Options that take a part: before the input they jump, after it they read from the beginning and leave out. */
async function seekOptions(
  { video, picture, range, signal }: VideoJob,
  hold: Hold | undefined,
): Promise<{ before: string[]; after: string[] }> {
  const { start, duration } = range ?? { start: 0, duration: undefined };
  const length = (seconds: number) => (duration === undefined ? [] : ['-t', String(seconds)]);
  if (start === 0) return { before: [], after: length(duration ?? 0) };
  // Where the picture begins later, a jump would leave out the sound before it.
  const isBefore = start < video.picture.startSeconds;
  if (hold !== undefined && isSeekable(video) && !isBefore) {
    const skipped = (start - hold.readFrom).toFixed(6);
    return { before: seekTo(hold.readFrom), after: ['-ss', skipped, ...length(duration ?? 0)] };
  }
  if (isSeekable(video) && !isBefore) return { before: ['-ss', String(start)], after: length(duration ?? 0) };
  const from = picture === 'copy' && !isBefore ? await keyFrameBefore(video, video.picture, start, signal) : start;
  // Even 0 would leave out a first key frame that is to be read before the sound begins.
  const skip = from > 0 ? ['-ss', String(from)] : [];
  return { before: [], after: [...skip, ...length((duration ?? 0) + start - from)] };
}

function pictureOptions(job: VideoJob, size: PictureSize | undefined): string[] {
  const { video, output, picture, furtherInputs = [] } = job;
  const source = `0:${video.picture.index}`;
  if (picture === 'copy' || size === undefined) {
    return ['-map', source, '-c:v', 'copy', ...copyTag(video.picture.codec, output.type)];
  }
  const steady = steadyRate(output.type, picture.codec, picture.fps ?? video.picture.fps ?? 25);
  const filters = pictureFilters(video.picture, picture, size).join(',');
  const mapped =
    furtherInputs.length === 0
      ? ['-map', source, '-vf', filters]
      : ['-filter_complex', `[${source}]${filters}[picture]`, '-map', '[picture]'];
  return [
    ...mapped,
    ...videoEncoderOptions(picture),
    ...timing(video.picture, steady, picture),
    // Frames that refer to later ones are not expected in AVI.
    ...(output.type === 'avi' && picture.codec === 'h264' ? ['-bf', '0'] : []),
  ];
}

function pictureFilters(
  stream: VideoStream,
  { codec, fps, filters = [], overlays = [] }: PictureWork,
  size: PictureSize,
): string[] {
  const keepDepth = keepsDepth(codec) && size.width >= leastDeepWidth;
  const closing = closingFilters(stream, { size, keepDepth });
  return [
    ...openingFilters(stream),
    ...(fps === undefined ? [] : [`fps=${fps}`]),
    ...filters,
    ...closing,
    ...overlays,
    // An overlay may have changed how colours are stored.
    ...(overlays.length === 0 ? [] : closing.slice(-1)),
  ];
}

/**
 * The first of two passes: looks at the picture and leaves its statistics in `cwd`.
 *
 * @throws Failure as `runFfmpeg`.
 */
export async function writeStatistics(
  job: Omit<VideoJob, 'sound' | 'picture'> & { picture: PictureWork; cwd: string },
): Promise<void> {
  const { video, cwd, signal, onProgress } = job;
  const size = sizeOf(job);
  await runFfmpeg({
    inputs: [{ source: video.file }],
    args: [
      ...pictureOptions({ ...job, sound: 'none' }, size),
      // A transport stream begins with the first stream that is taken: the sound makes the times those of the second pass.
      ...video.audios.flatMap(({ index }) => ['-map', `0:${index}`]),
      ...['-c:a', 'copy', '-sn', '-dn'],
    ],
    output: null,
    durationSeconds: video.durationSeconds,
    cwd,
    signal,
    onProgress,
  });
}

/** Else FFmpeg repeats frames up to the finest rate they could have, or leaves out those that come faster than usual. */
function timing({ isVariable }: VideoStream, steady: string | undefined, { fps, rate }: PictureWork): string[] {
  if (steady !== undefined) return ['-r:v', steady];
  // Both passes must see the same frames, and the first has no format that decides.
  if (!isVariable || fps !== undefined) return 'pass' in rate ? ['-fps_mode:v', 'cfr'] : [];
  // Frames that refer to later ones are stored in another order than they are shown in: then the last ones would be cut off.
  return ['-fps_mode:v', 'vfr', '-enc_time_base:v', '-1', '-bf', '0'];
}

/** Copied HEVC needs the mark that Apple's players ask for as well. */
function copyTag(codec: string, type: VideoType): string[] {
  return codec === 'hevc' && (type === 'mp4' || type === 'mov') ? ['-tag:v', 'hvc1'] : [];
}

function soundOptions({ sound, output }: VideoJob, track: AudioStream, number: number): string[] {
  const work = typeof sound === 'function' ? sound(track) : sound;
  const map = ['-map', `0:${track.index}`];
  if (work === 'none') return [];
  if (work === 'copy') return [...map, `-c:a:${number}`, 'copy'];
  const filters = [...(work.filters ?? []), ...audioEncoderFilters(output.type, work)];
  return [
    ...map,
    ...audioEncoderOptions(number, work, track.channels),
    ...(filters.length === 0 ? [] : [`-filter:a:${number}`, filters.join(',')]),
  ];
}

const textSubtitles = new Set(['subrip', 'srt', 'ass', 'ssa', 'webvtt', 'mov_text', 'text']);
const matroskaSubtitles = new Set([
  'subrip',
  'ass',
  'ssa',
  'webvtt',
  'hdmv_pgs_subtitle',
  'dvd_subtitle',
  'dvb_subtitle',
]);

/** The subtitles a format can take, and what they become in it; what it cannot take is left out and logged. */
function keptSubtitles({ video, output, log }: VideoJob): { index: number; codec: string }[] {
  const { subtitles: kind } = containers[output.type];
  return video.subtitles.flatMap(({ index, codec }: MediaStream) => {
    if (output.type === 'mkv' && matroskaSubtitles.has(codec)) return [{ index, codec: 'copy' }];
    if (kind !== undefined && textSubtitles.has(codec)) return [{ index, codec: codec === kind ? 'copy' : kind }];
    log?.(`subtitles ${index} (${codec}) have no place in ${output.type}: left out`);
    return [];
  });
}

/** Sound encoded in the codec a format is usually written with, so well that the loss is not heard. */
export function encodedSound(type: VideoType): SoundWork {
  return { codec: containers[type].audio, bitRate: 192_000 };
}

/** Sound as it is where the format takes it, else encoded. */
export function soundFor(type: VideoType): (track: AudioStream) => SoundWork | 'copy' {
  return ({ codec }) => (holdsAudio(type, codec) ? 'copy' : encodedSound(type));
}

/** How a picture is encoded again where nobody is asked: in its own codec, so well that the loss does not show. */
export function keptEncoding(type: VideoType, { codec }: VideoStream): VideoEncoding {
  return goodEncoding(keptVideoCodec(type, codec));
}

/** What every player takes: WebM stays WebM, everything else becomes MP4. */
export function playableType(type: FileTypeId): 'mp4' | 'webm' {
  return type === 'webm' ? 'webm' : 'mp4';
}

const modernCodecs = ['hevc', 'vp9', 'av1'];

/** How a picture is encoded again into what every player takes; HEVC and AV1 stay what they are. */
export function playableEncoding(type: 'mp4' | 'webm', { codec }: VideoStream): VideoEncoding {
  return goodEncoding(modernCodecs.includes(codec) ? keptVideoCodec(type, codec) : containers[type].video);
}

function goodEncoding(codec: VideoCodec): VideoEncoding {
  // x265 takes three times as long as x264 for the same picture.
  return { codec, rate: { crf: 20 }, preset: codec === 'hevc' ? 'fast' : 'medium' };
}
