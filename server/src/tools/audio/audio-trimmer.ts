import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { type Sound, writeKept } from '../../engines/media/write-audio.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { num, time, type Values } from '../settings.ts';
import { eachSound } from './each-sound.ts';

const settings = {
  start: time({ default: '0', describe: 'Where the part begins: seconds, or a time such as 00:01:30.250.' }),
  end: time({ describe: 'Where the part ends; the end of the file unless told, or when it is earlier.' }),
  fade_in_s: num({ min: 0, max: 30, default: 0, describe: 'Seconds in which the sound rises from silence.' }),
  fade_out_s: num({ min: 0, max: 30, default: 0, describe: 'Seconds in which the sound falls to silence.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'audio-trimmer',
  name: 'Audio Trimmer',
  category: 'audio',
  description: 'Cuts a part out of sound, exact to the sample, and fades it in and out. AMR becomes WAV.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { settings: chosen, scratch, signal, output } = context;
      const range = rangeOf(sound, chosen);
      await writeKept(
        { sound, range, filters: fades(sound, range.duration, chosen), scratch, signal, onProgress },
        (type) => output(`${stem}.${extensionOf(type)}`),
      );
    }),
});

function check({ start, end }: Settings): FieldErrors {
  return end !== undefined && end <= start ? { end: ['must be later than start'] } : {};
}

/** @throws Failure `invalid_input` when the part begins where the sound has ended. */
function rangeOf({ file: { filename }, soundSeconds }: Sound, { start, end }: Settings) {
  if (start < soundSeconds) return { start, duration: Math.min(end ?? soundSeconds, soundSeconds) - start };
  const message = `"${filename}" lasts ${soundSeconds.toFixed(2)} seconds: nothing begins at ${start}.`;
  throw new Failure('invalid_input', message, { file: filename });
}

/** @throws Failure `invalid_input` when they are longer than the part. */
function fades({ file: { filename } }: Sound, length: number, { fade_in_s, fade_out_s }: Settings): string[] {
  if (fade_in_s + fade_out_s > length + 0.001) {
    const message = `The part of "${filename}" lasts ${length.toFixed(2)} seconds: the fades do not fit into it.`;
    throw new Failure('invalid_input', message, { file: filename });
  }
  return [
    ...(fade_in_s === 0 ? [] : [`afade=t=in:d=${fade_in_s}`]),
    ...(fade_out_s === 0 ? [] : [`afade=t=out:st=${(length - fade_out_s).toFixed(6)}:d=${fade_out_s}`]),
  ];
}
