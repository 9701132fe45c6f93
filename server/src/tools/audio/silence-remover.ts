import { copyFile } from 'node:fs/promises';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { assertNotSilent, findSilences, withoutSilences } from '../../engines/media/silence.ts';
import { writeKept } from '../../engines/media/write-audio.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { int, num } from '../settings.ts';
import { part } from '../video/each-video.ts';
import { eachSound } from './each-sound.ts';

export default defineTool({
  slug: 'silence-remover',
  name: 'Silence Remover',
  category: 'audio',
  description: 'Takes silences out of recordings, at both ends and in between. AMR becomes WAV.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    threshold_db: int({ min: -80, max: -20, default: -45, describe: 'What is below this level is silent.' }),
    min_silence_s: num({ min: 0.1, max: 10, default: 0.8, describe: 'Only silences at least this long go.' }),
    keep_s: num({
      min: 0,
      max: 2,
      default: 0.1,
      describe: 'Seconds of every silence that stay, so that words do not run together.',
    }),
  },
  run: (context) =>
    eachSound(context, async (sound, { path, type, stem }, onProgress) => {
      const { settings, scratch, signal, output } = context;
      const { threshold_db: thresholdDb, min_silence_s: seconds, keep_s } = settings;
      const rule = { thresholdDb, seconds };
      const silences = await findSilences(sound, rule, { signal, onProgress: part(onProgress, 0, 50) });
      assertNotSilent(sound, silences, rule);
      if (silences.length === 0) return copyFile(path, output(`${stem}.${extensionOf(type)}`));
      const { filters, durationSeconds } = withoutSilences(sound, silences, Math.min(keep_s, seconds));
      const job = { sound, filters, durationSeconds, scratch, signal, onProgress: part(onProgress, 50, 100) };
      await writeKept(job, (kept) => output(`${stem}.${extensionOf(kept)}`));
    }),
});
