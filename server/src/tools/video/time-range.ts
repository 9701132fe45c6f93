import type { Video } from '../../engines/media/write-video.ts';
import { Failure } from '../../lib/failure.ts';
import { json } from '../settings.ts';

/** When the picture ends, in seconds from the beginning of the file; sound may last longer. */
export function pictureEnd({ picture: { startSeconds, durationSeconds }, durationSeconds: whole }: Video): number {
  return durationSeconds === undefined ? whole : startSeconds + durationSeconds;
}

/** @throws Failure `invalid_input` when a part begins where the video has ended. */
export function assertStartsWithin(video: Video, start: number): void {
  const { picture } = video;
  const { filename } = video.file;
  const seconds = pictureEnd(video);
  // At the very end there is no frame left; a video of one frame has that.
  if (start === 0 || start <= seconds - 1 / (picture.fps ?? 25)) return;
  const message = `"${filename}" lasts ${seconds.toFixed(2)} seconds: nothing begins at ${start}.`;
  throw new Failure('invalid_input', message, { file: filename });
}

const mostMoments = 999;

/** A list of moments in seconds, as JSON. */
export function moments(describe: string) {
  return json<number[]>({
    describe,
    schema: { type: 'array', items: { type: 'number', minimum: 0 }, minItems: 1, maxItems: mostMoments },
    check: (value) => {
      if (!Array.isArray(value) || value.length === 0 || value.length > mostMoments) {
        return { problem: `must be a JSON list of 1 to ${mostMoments} numbers of seconds` };
      }
      const wrong = value.find((item) => typeof item !== 'number' || item < 0);
      if (wrong !== undefined) return { problem: `${JSON.stringify(wrong)} is no number of seconds` };
      return { value: value as number[] };
    },
  });
}
