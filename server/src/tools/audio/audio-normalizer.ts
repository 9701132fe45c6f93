import { ffmpeg } from '../../engines/ffmpeg.ts';
import { loudnessFilters, measureLoudness, peakFilters } from '../../engines/media/loudness.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { type Sound, writeKept } from '../../engines/media/write-audio.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, num } from '../settings.ts';
import { part } from '../video/each-video.ts';
import { eachSound } from './each-sound.ts';

export default defineTool({
  slug: 'audio-normalizer',
  name: 'Audio Normalizer',
  category: 'audio',
  description: 'Makes sounds equally loud, by EBU R 128 or by their highest peak. AMR becomes WAV.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    mode: choice({
      of: ['ebu', 'peak'],
      default: 'ebu',
      describe: 'ebu makes them as loud as lufs says; peak brings the highest peak to true_peak.',
    }),
    lufs: num({
      min: -40,
      max: -5,
      default: -16,
      describe: 'With mode ebu: the loudness to reach, in LUFS, as far as true_peak allows it.',
    }),
    true_peak: num({ min: -9, max: 0, default: -1.5, describe: 'The highest peak allowed, in dBTP.' }),
  },
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { settings, scratch, signal, output } = context;
      const { mode, lufs, true_peak: truePeak } = settings;
      const measured = await measureLoudness(sound, { signal, onProgress: part(onProgress, 0, 50) });
      if (mode === 'ebu' && !Number.isFinite(measured.integrated)) throw tooQuiet(sound);
      const filters = mode === 'peak' ? peakFilters(measured, truePeak) : loudnessFilters(measured, { lufs, truePeak });
      await writeKept({ sound, filters, scratch, signal, onProgress: part(onProgress, 50, 100) }, (type) =>
        output(`${stem}.${extensionOf(type)}`),
      );
    }),
});

function tooQuiet({ file: { filename } }: Sound): Failure {
  const message = `"${filename}" has no loudness: it is shorter than 0.4 seconds, or nearly silent. Use mode peak.`;
  return new Failure('invalid_input', message, { file: filename });
}
