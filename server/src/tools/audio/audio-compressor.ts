import { copyFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { type AudioCompression, compressToBitRate, compressToBytes } from '../../engines/media/compress-audio.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, flag, int, num } from '../settings.ts';
import { eachSound } from './each-sound.ts';

const types = { opus: 'opus', mp3: 'mp3', aac: 'm4a' } as const;

export default defineTool({
  slug: 'audio-compressor',
  name: 'Audio Compressor',
  category: 'audio',
  description: 'Makes sound smaller; a file that would not get smaller is returned as it is.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    codec: choice({
      of: ['opus', 'mp3', 'aac'],
      default: 'opus',
      describe: 'Opus sounds best at low rates; MP3 plays everywhere, AAC (in M4A) nearly so.',
    }),
    bitrate_kbps: int({ min: 8, max: 256, default: 64, describe: 'Kilobits a second, unless a size is asked for.' }),
    mono: flag({ default: false, describe: 'Mix the channels into one.' }),
    target_size_mb: num({
      min: 0.01,
      max: 2000,
      describe: 'Make each file at most this large, in megabytes, instead of a bit rate.',
    }),
  },
  run: (context) =>
    eachSound(context, async (sound, { path: given, type: givenType, stem }, onProgress) => {
      const { settings, scratch, signal, output } = context;
      const { codec, bitrate_kbps, mono, target_size_mb: megabytes } = settings;
      const type = types[codec];
      const path = join(scratch, `compressed.${extensionOf(type)}`);
      const job: AudioCompression = { sound, codec, mono, output: { type, path }, scratch, signal, onProgress };
      const { size: before } = await stat(given);
      const target = megabytes === undefined ? undefined : Math.floor(megabytes * 1_000_000);
      if (target === undefined) await compressToBitRate(job, bitrate_kbps * 1000);
      else if (target < before) await compressToBytes(job, target);
      const isSmaller = (target === undefined || target < before) && (await stat(path)).size < before;
      if (isSmaller) await rename(path, output(`${stem}.${extensionOf(type)}`));
      else await copyFile(given, output(`${stem}.${extensionOf(givenType)}`));
    }),
});
