import { Failure } from '../../lib/failure.ts';
import { type FileTypeId, fileTypes } from '../../lib/media-types.ts';
import { runProgram } from '../../sandbox/program.ts';
import { type MediaFile, lookAhead, maxPixels, mediaFailure, openOptions, runFfmpeg } from '../ffmpeg.ts';
import { isShorterThanStated } from './chunk-file.ts';
import { soundBehindTag } from './sound-behind-tag.ts';

export interface MediaStream {
  /** Its number in the file, for `-map 0:<index>`. */
  index: number;
  /** As FFmpeg names it: `h264`, `aac`. */
  codec: string;
  /** When it begins, in seconds from the beginning of the file. */
  startSeconds: number;
  /** What the file says of this stream alone; undefined where it does not. */
  durationSeconds: number | undefined;
  /** Bits a second, where known. */
  bitRate: number | undefined;
  /** ISO 639 code, where the file has one. */
  language: string | undefined;
  title: string | undefined;
  isDefault: boolean;
}

export interface VideoStream extends MediaStream {
  /** Upright: a phone's turned picture has its sides exchanged already. Not corrected for non-square pixels. */
  width: number;
  height: number;
  /** Degrees the stored picture is turned when it is shown: a multiple of 90 mostly. */
  rotation: number;
  /** Width of a pixel over its height, upright. 1 for square ones. */
  pixelAspect: number;
  /** Frames a second on average; undefined when the file does not tell. */
  fps: number | undefined;
  /** Frames come at no steady rate, as from phones and screen recorders. */
  isVariable: boolean;
  pixelFormat: string;
  isInterlaced: boolean;
  /** PQ or HLG: looks pale unless its tones are mapped. */
  isHdr: boolean;
  transfer: string | undefined;
  /** The matrix of its colours, where the file tells. */
  matrix: string | undefined;
}

export interface AudioStream extends MediaStream {
  sampleRate: number;
  channels: number;
  /** Bits a sample, for sound that is stored without loss. */
  sampleBits: number | undefined;
}

export interface Media {
  file: MediaFile;
  /** From the first beginning to the last end; measured when the file does not tell it or only lets it be guessed. */
  durationSeconds: number;
  /** What its clock shows at the beginning; FFmpeg counts from there. */
  startSeconds: number;
  /** Bits a second of the whole file, where known. */
  bitRate: number | undefined;
  /** The one to take first; cover pictures are no video. */
  videos: readonly VideoStream[];
  /** The one to take first. Only those that can be decoded here. */
  audios: readonly AudioStream[];
  subtitles: readonly MediaStream[];
  /** An attached picture, such as an album's cover. */
  covers: readonly MediaStream[];
  chapters: number;
  /** Of the whole file, names in lower case. */
  tags: Readonly<Record<string, string>>;
}

interface ProbedStream {
  index: number;
  codec_type?: string;
  codec_name?: string;
  width?: number;
  height?: number;
  sample_aspect_ratio?: string;
  pix_fmt?: string;
  field_order?: string;
  color_transfer?: string;
  color_space?: string;
  avg_frame_rate?: string;
  r_frame_rate?: string;
  sample_rate?: string;
  channels?: number;
  bits_per_sample?: number;
  bits_per_raw_sample?: string;
  start_time?: string;
  duration?: string | undefined;
  bit_rate?: string;
  disposition?: { default?: number; attached_pic?: number; timed_thumbnails?: number };
  tags?: Record<string, string>;
  side_data_list?: { rotation?: number }[];
}

interface TimedStream extends ProbedStream {
  /** From the beginning of the file. */
  startSeconds: number;
}

interface Probed {
  streams?: ProbedStream[];
  chapters?: unknown[];
  format?: { start_time?: string; duration?: string; bit_rate?: string; tags?: Record<string, string> };
}

/** Longer media are refused: two frames with a day between them are a small file and a very long film. */
const maxSeconds = 24 * 3600;
const maxStreams = 64;

/**
 * Reads what a media file says of itself, and measures its length where it says nothing.
 *
 * @throws Failure `invalid_input` when it cannot be opened or has neither picture nor sound nor subtitles; `resource_limit` beyond
 * 8192 x 4320 pixels, a day, or 64 streams.
 */
export async function probe(given: MediaFile, signal?: AbortSignal): Promise<Media> {
  const file = await soundBehindTag(given);
  if (await isShorterThanStated(file.path, file.type)) {
    throw new Failure('invalid_input', `"${file.filename}" is cut short: it is smaller than it says.`, {
      file: file.filename,
    });
  }
  const { probed, guessed } = await runProbe(file, signal);
  const startSeconds = Number(probed.format?.start_time ?? 0) || 0;
  const delay = file.type === 'mp3' ? startSeconds : 0;
  const ofFile = lengthOfFile(file, probed);
  const streams = (probed.streams ?? [])
    .filter(({ codec_name }) => codec_name !== undefined)
    // A guess at the whole is one at each stream too.
    .map((stream) => (guessed || statesOneLength.has(file.type) ? { ...stream, duration: undefined } : stream))
    .map(timed(startSeconds, delay));
  if (streams.length > maxStreams) throw tooMuch(file, `has ${streams.length} streams; the limit is ${maxStreams}`);
  const pictures = streams.filter(({ codec_type }) => codec_type === 'video');
  const media = {
    file,
    startSeconds,
    bitRate: positive(probed.format?.bit_rate),
    videos: defaultFirst(pictures.filter((stream) => !isCover(stream)).map(videoStream)),
    audios: defaultFirst(streams.filter(isPlayableAudio).map(audioStream)),
    subtitles: streams.filter(({ codec_type }) => codec_type === 'subtitle').map(mediaStream),
    covers: pictures.filter(isCover).map(mediaStream),
    chapters: probed.chapters?.length ?? 0,
    tags: lowerCaseKeys(probed.format?.tags),
  };
  const played = [...media.videos, ...media.audios];
  if (played.length + media.subtitles.length === 0) {
    throw new Failure('invalid_input', `"${file.filename}" has neither picture nor sound that can be read here.`, {
      file: file.filename,
    });
  }
  for (const { width, height } of media.videos) {
    if (width * height > maxPixels) throw tooMuch(file, `is ${width} x ${height} pixels; the limit is 8192 x 4320`);
  }
  const timedBy = played.length === 0 ? media.subtitles : played;
  const told = guessed ? undefined : toldSeconds(media, timedBy, positive(String(Number(ofFile) - delay)));
  const durationSeconds = told ?? (await measureSeconds(file, timedBy, signal));
  if (durationSeconds > maxSeconds) throw tooMuch(file, 'is longer than 24 hours');
  return { ...media, durationSeconds };
}

/** A clock that shows more than this at the beginning, in seconds, is no rounding and no delay of an encoder. */
const lateStart = 0.1;
/** Formats whose length may be the moment at which they end: they count from 0, whenever they begin. */
const countsFromZero = new Set<FileTypeId>(['mp4', 'mov', '3gp', 'm4a', 'mkv', 'webm']);

/** Formats that state one length; FFmpeg says it of each stream, and adds how much later the last one begins. */
const statesOneLength = new Set<FileTypeId>(['wmv', 'wma']);

function lengthOfFile({ type }: MediaFile, { format, streams = [] }: Probed): string | undefined {
  return (statesOneLength.has(type) ? streams.find(({ duration }) => duration !== undefined) : format)?.duration;
}

function toldSeconds(
  { file, startSeconds }: Pick<Media, 'file' | 'startSeconds'>,
  streams: readonly MediaStream[],
  ofFile: number | undefined,
): number | undefined {
  if (startSeconds <= lateStart || !countsFromZero.has(file.type)) return ofFile;
  const ends = streams.map((stream) => stream.startSeconds + (stream.durationSeconds ?? NaN));
  return positive(String(Math.max(...ends) - leadOf(streams)));
}

async function runProbe(file: MediaFile, signal?: AbortSignal): Promise<{ probed: Probed; guessed: boolean }> {
  const args = ['-hide_banner', '-v', 'warning', '-max_alloc', String(512 * 1024 * 1024), ...lookAhead];
  const wanted = ['-of', 'json', '-show_format', '-show_streams', '-show_chapters'];
  try {
    const { stdout, stderrTail } = await runProgram('ffprobe', [...args, ...wanted, ...openOptions(file)], {
      maxOutputBytes: 8 * 1024 * 1024,
      timeoutMs: 120_000,
      ...(signal === undefined ? {} : { signal }),
    });
    return {
      probed: JSON.parse(stdout) as Probed,
      guessed: stderrTail.includes('Estimating duration from bitrate'),
    };
  } catch (error) {
    const failure = mediaFailure(error, [file]);
    // Nothing was asked of FFmpeg but to open the file.
    if (!(failure instanceof Failure) || failure.code !== 'engine_failed') throw failure;
    const { filename, type } = file;
    throw new Failure('invalid_input', `"${filename}" cannot be read as ${fileTypes[type].name}: it is damaged.`, {
      file: filename,
      log: failure.log,
    });
  }
}

/** How long before the first of these streams begins, in seconds from the beginning of the file. */
export function leadOf(streams: readonly MediaStream[]): number {
  return Math.min(...streams.map(({ startSeconds }) => startSeconds));
}

/** Formats that FFmpeg counts from the first stream that is taken; others from the first one there is. */
const startsWithTaken = new Set<FileTypeId>(['mpegts', 'mpeg']);

/** From the first beginning of these streams to the last end of what can be read, found by reading without decoding. */
export async function measureSeconds(
  file: MediaFile,
  streams: readonly MediaStream[],
  signal?: AbortSignal,
): Promise<number> {
  const args = [...streams.flatMap(({ index }) => ['-map', `0:${index}`]), '-c', 'copy'];
  const { seconds } = await runFfmpeg({ inputs: [{ source: file }], args, output: null, signal });
  return Math.max(0, seconds - (startsWithTaken.has(file.type) ? 0 : leadOf(streams)));
}

/**
 * How long these streams of a file last, from the first beginning to the last end. Files that do not say it of each
 * stream are read for it, and compared with what they say of the whole.
 *
 * @throws Failure `invalid_input` for a file that ends before its own length.
 */
export async function secondsOf(media: Media, streams: readonly MediaStream[], signal?: AbortSignal): Promise<number> {
  const ends = streams.map(({ startSeconds, durationSeconds }) => startSeconds + (durationSeconds ?? NaN));
  const told = positive(String(Math.max(...ends) - leadOf(streams)));
  if (told !== undefined) return told;
  const all = [...media.videos, ...media.audios, ...media.subtitles];
  if (streams.length === all.length) return media.durationSeconds;
  const measured = await measureSeconds(media.file, all, signal);
  // What is measured ends with the beginning of the last subtitle.
  const readable = Math.max(measured, media.subtitles.length === 0 ? 0 : await subtitlesEnd(media, signal));
  if (media.durationSeconds - readable > Math.max(1, media.durationSeconds / 100)) throw cutShort(media, readable);
  return measureSeconds(media.file, streams, signal);
}

/** When the last subtitle goes, in seconds from the beginning. */
async function subtitlesEnd({ file, startSeconds }: Media, signal?: AbortSignal): Promise<number> {
  const shown = ['-select_streams', 's', '-show_entries', 'packet=pts_time,duration_time'];
  let end = 0;
  await runProgram('ffprobe', ['-hide_banner', '-v', 'error', ...shown, '-of', 'csv=p=0', ...openOptions(file)], {
    onLine: (line) => {
      const [from = NaN, seconds = NaN] = line.split(',').map(Number.parseFloat);
      end = Math.max(end, from + seconds - startSeconds || 0);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return end;
}

/** A file of which less can be read than it says. */
export function cutShort(
  { file: { filename }, durationSeconds }: Pick<Media, 'file' | 'durationSeconds'>,
  readable: number,
): Failure {
  const part = `only ${readable.toFixed(1)} of ${durationSeconds.toFixed(1)} seconds can be read`;
  return new Failure('invalid_input', `"${filename}" is damaged or cut short: ${part}.`, { file: filename });
}

/**
 * When the last key frame at or before a moment is to be read, in seconds from the beginning; found by reading all packets.
 * A little earlier than told, so that no rounding leaves the key frame out.
 */
export async function keyFrameBefore(
  { file, startSeconds }: Media,
  stream: VideoStream,
  seconds: number,
  signal?: AbortSignal,
): Promise<number> {
  let found = 0;
  const shown = ['-select_streams', String(stream.index), '-show_entries', 'packet=pts_time,dts_time,flags'];
  await runProgram('ffprobe', ['-hide_banner', '-v', 'error', ...shown, '-of', 'csv=p=0', ...openOptions(file)], {
    onLine: (line) => {
      const [shownAt = '', readAt = '', flags = ''] = line.split(',');
      if (!flags.startsWith('K') || Number.parseFloat(shownAt) - startSeconds > seconds) return;
      found = Math.max(found, Number.parseFloat(readAt) - startSeconds - 0.01 || 0);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return found;
}

/** `delay` is what the encoder puts in front, in seconds: MP3 counts it in, up to 0.14 seconds of it, and nobody hears it. */
function timed(fileStart: number, delay: number) {
  return (stream: ProbedStream): TimedStream => ({
    ...stream,
    startSeconds: Math.max(0, Number(stream.start_time) - fileStart) || 0,
    ...(stream.duration === undefined ? {} : { duration: String(Number(stream.duration) - delay) }),
  });
}

function mediaStream(stream: TimedStream): MediaStream {
  const { index, codec_name, startSeconds, start_time, duration, bit_rate, tags, disposition } = stream;
  const { language, title, duration: clock, 'duration-eng': clockOfMkvmerge } = lowerCaseKeys(tags);
  // In Matroska some write how long a stream is, others when it ends.
  const tagged = Number(start_time) > lateStart ? undefined : clockSeconds(clock ?? clockOfMkvmerge);
  return {
    index,
    codec: codec_name ?? '',
    startSeconds,
    durationSeconds: positive(duration) ?? tagged,
    bitRate: positive(bit_rate),
    language: language === 'und' ? undefined : language,
    title,
    isDefault: disposition?.default === 1,
  };
}

function videoStream(stream: TimedStream): VideoStream {
  const { width = 0, height = 0, sample_aspect_ratio = '', side_data_list = [], color_transfer } = stream;
  const rotation = side_data_list.find(({ rotation: degrees }) => degrees !== undefined)?.rotation ?? 0;
  const isOnItsSide = Math.abs(rotation) % 180 === 90;
  const storedAspect = fraction(sample_aspect_ratio.replace(':', '/')) ?? 1;
  return {
    ...mediaStream(stream),
    width: isOnItsSide ? height : width,
    height: isOnItsSide ? width : height,
    rotation,
    pixelAspect: isOnItsSide ? 1 / storedAspect : storedAspect,
    fps: frameRate(stream),
    isVariable: hasVariableRate(stream),
    pixelFormat: stream.pix_fmt ?? '',
    isInterlaced: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order ?? ''),
    isHdr: color_transfer === 'smpte2084' || color_transfer === 'arib-std-b67',
    transfer: color_transfer,
    matrix: stream.color_space === 'unknown' ? undefined : stream.color_space,
  };
}

/** Files without a rate of their own show the fineness of their clock instead (1000, 90000). */
const highestRate = 300;

function frameRate({ avg_frame_rate, r_frame_rate }: ProbedStream): number | undefined {
  return [avg_frame_rate, r_frame_rate].map(fraction).find((rate) => rate !== undefined && rate <= highestRate);
}

function hasVariableRate({ avg_frame_rate, r_frame_rate }: ProbedStream): boolean {
  const [average, base] = [avg_frame_rate, r_frame_rate].map(fraction);
  return average === undefined || base === undefined || Math.abs(base - average) > average * 0.02;
}

function audioStream(stream: TimedStream): AudioStream {
  const { sample_rate, channels = 0, bits_per_raw_sample, bits_per_sample = 0 } = stream;
  const sampleBits = positive(bits_per_raw_sample) ?? positive(String(bits_per_sample));
  return { ...mediaStream(stream), sampleRate: Number(sample_rate), channels, sampleBits };
}

/** A track in a codec FFmpeg does not know, such as a phone's spatial audio, has no channels or rate. */
function isPlayableAudio({ codec_type, codec_name, channels = 0, sample_rate }: ProbedStream): boolean {
  return codec_type === 'audio' && codec_name !== 'unknown' && channels > 0 && Number(sample_rate) > 0;
}

function isCover({ disposition, width = 0, height = 0 }: ProbedStream): boolean {
  return disposition?.attached_pic === 1 || disposition?.timed_thumbnails === 1 || width * height === 0;
}

function defaultFirst<T extends MediaStream>(streams: readonly T[]): T[] {
  return [...streams.filter(({ isDefault }) => isDefault), ...streams.filter(({ isDefault }) => !isDefault)];
}

function tooMuch({ filename }: MediaFile, is: string): Failure {
  return new Failure('resource_limit', `"${filename}" ${is}.`, { file: filename });
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

/** `30000/1001` as a number; undefined when it is none or zero. */
function fraction(text: string | undefined): number | undefined {
  const [over, under] = (text ?? '').split('/').map(Number);
  const value = (over ?? 0) / (under ?? 1);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

/** `00:00:02.023000000`, as Matroska writes a stream's length. */
function clockSeconds(text: string | undefined): number | undefined {
  const match = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text ?? '');
  if (match === null) return undefined;
  const seconds = Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3]);
  return seconds > 0 ? seconds : undefined;
}

function lowerCaseKeys(tags: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value]));
}
