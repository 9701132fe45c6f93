import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { measureNoise, noiseFilters } from '../../engines/media/noise.ts';
import { writeKept } from '../../engines/media/write-audio.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice } from '../settings.ts';
import { part } from '../video/each-video.ts';
import { eachSound } from './each-sound.ts';

/** Most decibels by which what is found to be noise is lowered. */
const reductions = { light: 6, medium: 12, strong: 24 } as const;

export default defineTool({
  slug: 'audio-noise-reducer',
  name: 'Audio Noise Reducer',
  category: 'audio',
  description: 'Lowers steady noise in recordings, such as hiss, hum and fans. AMR becomes WAV.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    strength: choice({
      of: ['light', 'medium', 'strong'],
      default: 'medium',
      describe: 'How far noise is lowered: by up to 6, 12 or 24 decibels. Strong may be heard on voices.',
    }),
  },
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { settings, scratch, signal, output } = context;
      const level = await measureNoise(sound, { signal, onProgress: part(onProgress, 0, 40) });
      const filters = level === undefined ? [] : noiseFilters(level, reductions[settings.strength]);
      await writeKept({ sound, filters, scratch, signal, onProgress: part(onProgress, 40, 100) }, (type) =>
        output(`${stem}.${extensionOf(type)}`),
      );
    }),
});
