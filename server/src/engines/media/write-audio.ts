import { Failure } from '../../lib/failure.ts';
import { type FfmpegInput } from '../ffmpeg.ts';
import {
  type AudioEncoding,
  type WrittenAudioType,
  audioEncodingOptions,
  keptAudioType,
  keptEncoding,
} from './audio-formats.ts';
import { coverOptions } from './cover.ts';
import { type AudioStream, type Media, secondsOf } from './probe.ts';
import { transcode } from './transcode.ts';

/** A media file that has sound. */
export interface Sound extends Media {
  track: AudioStream;
  /** Seconds of the sound. */
  soundSeconds: number;
}

const maxChannels = 8;

/** @throws Failure `invalid_input` for a file without sound, or with none of any length; `resource_limit` above 8 channels. */
export async function openSound(media: Media, signal?: AbortSignal): Promise<Sound> {
  const [track] = media.audios;
  const { filename } = media.file;
  if (track === undefined) throw new Failure('invalid_input', `"${filename}" has no sound.`, { file: filename });
  if (track.channels > maxChannels) {
    const message = `"${filename}" has ${track.channels} channels; the limit is ${maxChannels}.`;
    throw new Failure('resource_limit', message, { file: filename });
  }
  const soundSeconds = await secondsOf(media, [track], signal);
  if (soundSeconds > 0) return { ...media, track, soundSeconds };
  throw new Failure('invalid_input', `"${filename}" has no sound: it lasts 0 seconds.`, { file: filename });
}

export interface SoundJob {
  sound: Sound;
  output: { type: WrittenAudioType; path: string };
  /** Its own, as good as it was, unless told. */
  encoding?: AudioEncoding;
  filters?: readonly string[];
  /** A part of the file, exact to the sample, in seconds. */
  range?: { start: number; duration: number };
  /** Seconds of the result, where it does not follow; `undefined` where only looking at it can tell. */
  durationSeconds?: number | undefined;
  /** Keep the picture of the cover where the format has a place for one (true unless told). */
  cover?: boolean;
  scratch: string;
  signal: AbortSignal;
  onProgress?: ((percent: number) => void) | undefined;
}

/** Decoders need what comes before: MP3 borrows bits from earlier frames. */
const leadIn = 1;

/**
 * Writes one file of sound from one: tags, chapters and the cover are kept where the format has a place for them.
 *
 * @throws Failure as `transcode`.
 */
export async function writeAudio(job: SoundJob): Promise<Media> {
  const { sound, output, range, filters = [], signal } = job;
  const { track, soundSeconds } = sound;
  const encoding = job.encoding ?? keptEncoding(output.type, track, sound.bitRate);
  const { filters: closing, options } = audioEncodingOptions(encoding, track);
  const cover = job.cover === false ? noCover : await coverOptions(job);
  const lead = range === undefined ? 0 : leadInOf(range, track);
  const all = [...cutFilters(range, lead), ...filters, ...closing];
  const usual = range?.duration ?? soundSeconds;
  return transcode({
    inputs: [{ source: sound.file, options: seekOptions(range, lead) }, ...cover.inputs],
    args: [
      ...['-map', `0:${track.index}`, ...metadataOptions(sound, output.type), ...cover.args],
      ...(all.length === 0 ? [] : ['-filter:a:0', all.join(',')]),
      ...options,
      // Work that moves moments leaves chapters behind.
      ...(filters.length === 0 && range === undefined ? [] : ['-map_chapters', '-1']),
      ...containerOptions(output.type),
    ],
    output,
    expected: {
      durationSeconds: 'durationSeconds' in job ? job.durationSeconds : usual,
      video: false,
      audioTracks: 1,
    },
    signal,
    onProgress: job.onProgress,
  });
}

/** As `writeAudio`, in the format the file has; `named` is asked for the path of that format. */
export function writeKept(job: Omit<SoundJob, 'output'>, named: (type: WrittenAudioType) => string): Promise<Media> {
  const type = keptAudioType(job.sound.file.type);
  return writeAudio({ ...job, output: { type, path: named(type) } });
}

const noCover: { inputs: FfmpegInput[]; args: string[] } = { inputs: [], args: [] };

/** What an M4A file says of its own kind: wrong in any other. */
const containerTags = ['major_brand', 'minor_version', 'compatible_brands'];

/** The options that keep tags. Those of Ogg files belong to the stream, those of all others to the file. */
export function metadataOptions({ file, track }: Sound, type: WrittenAudioType): string[] {
  const toStream = type === 'ogg' || type === 'opus';
  const source = file.type === 'ogg' || file.type === 'opus' ? `0:s:${track.index}` : '0';
  const target = toStream ? '-metadata:s:a:0' : '-metadata';
  return [
    ...['-map_metadata', toStream ? '-1' : source],
    ...(toStream ? ['-map_metadata:s:a:0', source] : []),
    ...(type === 'm4a' ? [] : containerTags.flatMap((name) => [target, `${name}=`])),
  ];
}

/** What players expect in a container. */
export function containerOptions(type: WrittenAudioType): string[] {
  switch (type) {
    case 'mp3':
      return ['-id3v2_version', '3'];
    case 'aiff':
      return ['-write_id3v2', '1', '-id3v2_version', '3'];
    case 'm4a':
      return ['-movflags', '+faststart'];
    default:
      return [];
  }
}

/** How long before a part is read, in seconds: from the beginning where FFmpeg finds nothing behind a jump. */
function leadInOf({ start }: { start: number }, { codec }: AudioStream): number {
  return codec.startsWith('adpcm_') ? start : Math.min(start, leadIn);
}

function seekOptions(range: SoundJob['range'], lead: number): string[] {
  return range === undefined || range.start <= lead ? [] : ['-ss', (range.start - lead).toFixed(6)];
}

function cutFilters(range: SoundJob['range'], lead: number): string[] {
  if (range === undefined) return [];
  return [`atrim=start=${lead.toFixed(6)}:duration=${range.duration.toFixed(6)}`, 'asetpts=PTS-STARTPTS'];
}
