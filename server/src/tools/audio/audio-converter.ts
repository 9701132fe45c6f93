import { ffmpeg } from '../../engines/ffmpeg.ts';
import {
  type AudioCodec,
  type WrittenAudioType,
  canVary,
  isLossy,
  sampleRatesOf,
  usualCodec,
} from '../../engines/media/audio-formats.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { writeAudio } from '../../engines/media/write-audio.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, flag, int, type Values } from '../settings.ts';
import { eachSound } from './each-sound.ts';

const formats = ['mp3', 'wav', 'flac', 'ogg', 'opus', 'm4a', 'aiff'] as const satisfies readonly WrittenAudioType[];

const settings = {
  format: choice({ of: formats, default: 'mp3', describe: 'The format to return.' }),
  bitrate_kbps: int({
    min: 16,
    max: 320,
    default: 192,
    describe:
      'Kilobits a second of MP3, M4A, OGG and Opus, or the nearest the format can do; WAV, FLAC and AIFF keep everything.',
  }),
  sample_rate: int({
    min: 8000,
    max: 192_000,
    describe:
      'Samples a second; those of the file unless told, or the next that the format has (for MP3, at least 16,000).',
  }),
  channels: int({ min: 1, max: 2, describe: '1 for mono, 2 for stereo; those of the file unless told.' }),
  vbr: flag({
    default: false,
    describe: 'Keep the quality steady instead of the bit rate, which then is met on average only.',
  }),
};
type Settings = Values<typeof settings>;

const codecs: Readonly<Record<(typeof formats)[number], AudioCodec>> = {
  mp3: 'mp3',
  wav: 'pcm_s16le',
  flac: 'flac',
  ogg: 'vorbis',
  opus: 'opus',
  m4a: 'aac',
  aiff: 'pcm_s16be',
};

export default defineTool({
  slug: 'audio-converter',
  name: 'Audio Converter',
  category: 'audio',
  description: 'Converts sound to another format, with its tags and its cover.',
  accepts: audioTypes,
  produces: formats,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { format, bitrate_kbps, sample_rate: sampleRate, channels, vbr } = context.settings;
      await writeAudio({
        sound,
        output: { type: format, path: context.output(`${stem}.${extensionOf(format)}`) },
        encoding: { codec: usualCodec(format, sound.track), bitRate: bitrate_kbps * 1000, vbr, sampleRate, channels },
        scratch: context.scratch,
        signal: context.signal,
        onProgress,
      });
    }),
});

function check({ format, sample_rate, vbr }: Settings): FieldErrors {
  const codec = codecs[format];
  const errors: FieldErrors = {};
  const rates = sampleRatesOf(codec);
  if (sample_rate !== undefined && rates !== undefined && !rates.includes(sample_rate)) {
    errors['sample_rate'] = [`must be one of ${rates.join(', ')} for ${format}`];
  }
  if (vbr && !canVary(codec)) {
    errors['vbr'] = [`has no effect on ${format}${isLossy(codec) ? '' : ', which keeps everything'}`];
  }
  return errors;
}
