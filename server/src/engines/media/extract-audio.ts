import type { FileTypeId } from '../../lib/media-types.ts';
import { Failure } from '../../lib/failure.ts';
import { audioEncodingOptions, usualCodec } from './audio-formats.ts';
import { type AudioStream, type Media, secondsOf } from './probe.ts';
import { transcode } from './transcode.ts';

/** Formats a track can be extracted to by encoding it. */
export const extractedFormats = ['mp3', 'm4a', 'wav', 'flac', 'ogg', 'opus'] as const;
export type ExtractedFormat = (typeof extractedFormats)[number];

/** Formats a track can be moved to as it is, by its codec. */
const originals: Readonly<Record<string, FileTypeId>> = {
  aac: 'm4a',
  alac: 'm4a',
  mp3: 'mp3',
  flac: 'flac',
  vorbis: 'ogg',
  opus: 'opus',
  ac3: 'ac3',
  wmav2: 'wma',
  amr_nb: 'amr',
  pcm_s16le: 'wav',
  pcm_s24le: 'wav',
  pcm_u8: 'wav',
};

/** The format that takes a codec as it is; undefined when none does. */
export function originalFormat({ codec }: AudioStream): FileTypeId | undefined {
  return originals[codec];
}

/** A track by its number in the file, counted from 0. @throws Failure `invalid_input` when there is none. */
export function trackOf({ file: { filename }, audios }: Media, number: number): AudioStream {
  const inOrder = audios.toSorted((a, b) => a.index - b.index);
  const track = inOrder[number];
  if (track !== undefined) return track;
  const has = inOrder.length === 1 ? '1 track' : `${inOrder.length} tracks`;
  const message =
    inOrder.length === 0
      ? `"${filename}" has no sound.`
      : `"${filename}" has ${has} of sound, counted from 0: there is no track ${number}.`;
  throw new Failure('invalid_input', message, { file: filename });
}

export interface ExtractJob {
  media: Media;
  track: AudioStream;
  output: { type: FileTypeId; path: string };
  /** Bits a second for formats that lose; `copy` changes nothing. */
  encoding: { bitRate: number } | 'copy';
  signal: AbortSignal;
  onProgress: (percent: number) => void;
}

/**
 * Writes one track of sound into a file of its own, with the tags of the video.
 *
 * @throws Failure as `transcode`.
 */
export async function extractAudio({ media, track, output, encoding, signal, onProgress }: ExtractJob): Promise<void> {
  await transcode({
    inputs: [{ source: media.file }],
    args: [
      ...['-map', `0:${track.index}`, '-map_metadata', '0'],
      ...(encoding === 'copy'
        ? ['-c:a', 'copy']
        : encoderArgs(output.type as ExtractedFormat, track, encoding.bitRate)),
      ...(output.type === 'mp3' ? ['-id3v2_version', '3'] : []),
      ...(output.type === 'm4a' ? ['-movflags', '+faststart'] : []),
    ],
    output,
    expected: { durationSeconds: await secondsOf(media, [track], signal), video: false, audioTracks: 1 },
    signal,
    onProgress,
  });
}

function encoderArgs(format: ExtractedFormat, track: AudioStream, bitRate: number): string[] {
  const { filters, options } = audioEncodingOptions({ codec: usualCodec(format, track), bitRate }, track);
  return filters.length === 0 ? options : [...options, '-af', filters.join(',')];
}
