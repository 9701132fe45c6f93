import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { mergeAudio } from '../../engines/media/merge-audio.ts';
import { probe } from '../../engines/media/probe.ts';
import { type Sound, openSound } from '../../engines/media/write-audio.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, int, num, type Values } from '../settings.ts';

const formats = ['mp3', 'wav', 'flac', 'm4a'] as const;

const settings = {
  format: choice({ of: formats, default: 'mp3', describe: 'The format to return.' }),
  bitrate_kbps: int({
    min: 32,
    max: 320,
    default: 192,
    describe: 'Kilobits a second of MP3 and M4A; WAV and FLAC keep everything.',
  }),
  crossfade_s: num({ min: 0, max: 30, default: 0, describe: 'Seconds in which one file goes over into the next.' }),
  gap_s: num({ min: 0, max: 60, default: 0, describe: 'Seconds of silence between two files.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'audio-merger',
  name: 'Audio Merger',
  category: 'audio',
  description: 'Joins sounds of any format into one file, in the order they are sent.',
  accepts: audioTypes,
  produces: formats,
  files: { min: 2, max: 100 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings,
  check,
  async run({ inputs, settings: chosen, signal, progress, output }) {
    const { format, bitrate_kbps, crossfade_s: crossfade, gap_s: gap } = chosen;
    const sounds: Sound[] = [];
    for (const input of inputs) sounds.push(await openSound(await probe(input, signal), signal));
    await mergeAudio({
      sounds: sounds as [Sound, ...Sound[]],
      output: { type: format, path: output(`merged.${extensionOf(format)}`) },
      bitRate: bitrate_kbps * 1000,
      crossfade,
      gap,
      signal,
      onProgress: progress,
    });
  },
});

function check({ crossfade_s, gap_s }: Settings): FieldErrors {
  return crossfade_s > 0 && gap_s > 0 ? { gap_s: ['cannot be given together with crossfade_s'] } : {};
}
