import type { MediaFile } from '../ffmpeg.ts';
import type { WrittenAudioType } from './audio-formats.ts';
import { coverOptions, newCoverOptions } from './cover.ts';
import type { Media } from './probe.ts';
import { transcode } from './transcode.ts';
import { type Sound, containerOptions, metadataOptions } from './write-audio.ts';

export interface TagJob {
  sound: Sound;
  output: { type: WrittenAudioType; path: string };
  /** By the names FFmpeg has for them: `title`, `album_artist`, `date`. */
  tags: Readonly<Record<string, string>>;
  /** A JPEG or PNG; the file's own stays without one. */
  cover: MediaFile | undefined;
  /** Leave out everything the file says of itself now, its cover as well. */
  clear: boolean;
  scratch: string;
  signal: AbortSignal;
  onProgress(percent: number): void;
}

/**
 * Writes a file of sound with other tags; the sound itself is copied.
 *
 * @throws Failure as `transcode`.
 */
export async function writeTags(job: TagJob): Promise<Media> {
  const { sound, output, tags, clear, scratch, signal, onProgress } = job;
  const { type } = output;
  const target = type === 'ogg' || type === 'opus' ? '-metadata:s:a:0' : '-metadata';
  const cover = await coverFor(job);
  return transcode({
    inputs: [{ source: sound.file }, ...cover.inputs],
    args: [
      ...['-map', `0:${sound.track.index}`, '-c:a', 'copy'],
      ...(clear ? ['-map_metadata', '-1', '-map_metadata:s:a:0', '-1'] : metadataOptions(sound, type)),
      ...cover.args,
      ...Object.entries(tags).flatMap(([name, value]) => [target, `${name}=${value}`]),
      ...containerOptions(type),
      // Else FFmpeg would name itself as the encoder.
      ...['-fflags', '+bitexact', '-flags:a', '+bitexact'],
    ],
    output,
    expected: { durationSeconds: sound.soundSeconds, video: false, audioTracks: 1 },
    signal,
    onProgress,
  });

  async function coverFor({ cover: picture }: TagJob) {
    if (picture !== undefined) return newCoverOptions(picture, type, scratch);
    return clear ? { inputs: [], args: [] } : coverOptions({ sound, output, scratch, signal });
  }
}
