import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { writeKept } from '../../engines/media/write-audio.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { num, type Values } from '../settings.ts';
import { eachSound } from './each-sound.ts';

const settings = {
  factor: num({ min: 0.25, max: 4, default: 1.5, describe: 'How much faster it plays; below 1 is slower.' }),
  semitones: num({
    min: -12,
    max: 12,
    default: 0,
    describe: 'How much higher it sounds, in twelfths of an octave; the speed alone leaves the pitch as it is.',
  }),
};

export default defineTool({
  slug: 'audio-speed-changer',
  name: 'Audio Speed Changer',
  category: 'audio',
  description: 'Changes the speed of sounds, the pitch, or both. AMR becomes WAV.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings,
  check: ({ factor, semitones }: Values<typeof settings>): FieldErrors =>
    factor === 1 && semitones === 0 ? { factor: ['changes nothing when it is 1 and semitones is 0'] } : {},
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { settings: chosen, scratch, signal, output } = context;
      const { factor, semitones } = chosen;
      const durationSeconds = sound.soundSeconds / factor;
      const pitch = 2 ** (semitones / 12);
      // Rubber Band keeps back the last moments: silence behind pushes them out.
      const filters = [
        'apad=pad_dur=0.5',
        `rubberband=tempo=${factor}:pitch=${pitch.toFixed(6)}:pitchq=quality:channels=together`,
        `atrim=end=${durationSeconds.toFixed(6)}`,
      ];
      await writeKept({ sound, filters, durationSeconds, scratch, signal, onProgress }, (type) =>
        output(`${stem}.${extensionOf(type)}`),
      );
    }),
});
