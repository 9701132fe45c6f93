import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { writeKept } from '../../engines/media/write-audio.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { num } from '../settings.ts';
import { eachSound } from './each-sound.ts';

export default defineTool({
  slug: 'audio-volume-changer',
  name: 'Audio Volume Changer',
  category: 'audio',
  description: 'Makes sounds louder or quieter. AMR becomes WAV.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    gain_db: num({
      min: -60,
      max: 30,
      default: 3,
      describe: 'Decibels: 6 is twice the level, -6 half of it. Peaks beyond the full level are cut off.',
    }),
  },
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { settings, scratch, signal, output } = context;
      const filters = [`volume=${settings.gain_db}dB`];
      await writeKept({ sound, filters, scratch, signal, onProgress }, (type) =>
        output(`${stem}.${extensionOf(type)}`),
      );
    }),
});
