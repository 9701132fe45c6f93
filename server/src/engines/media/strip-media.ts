import type { Media } from './probe.ts';
import { transcode } from './transcode.ts';

/**
 * Copies picture, sound, subtitles and chapters of a media file and leaves out the rest: tags, covers, places, timecodes
 * and whatever else a camera adds. How the picture is turned belongs to the picture and stays.
 *
 * @throws Failure as `transcode`.
 */
export async function stripMedia(
  { file, durationSeconds, videos, audios }: Media,
  output: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress(percent: number): void },
): Promise<void> {
  await transcode({
    inputs: [{ source: file }],
    args: [
      ...['-map', '0:V?', '-map', '0:a?', '-map', '0:s?', '-c', 'copy'],
      ...['-map_metadata', '-1', '-map_metadata:s', '-1', '-fflags', '+bitexact', '-flags', '+bitexact'],
    ],
    output: { type: file.type, path: output },
    expected: { durationSeconds, mayBeLonger: true, video: videos.length > 0, audioTracks: audios.length },
    signal,
    onProgress,
  });
}
