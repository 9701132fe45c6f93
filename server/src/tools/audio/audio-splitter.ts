import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { findSilences } from '../../engines/media/silence.ts';
import { type Sound, writeKept } from '../../engines/media/write-audio.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool, type ToolContext } from '../define.ts';
import { choice, int, num, type Values } from '../settings.ts';
import { part, type Progress } from '../video/each-video.ts';
import { eachSound } from './each-sound.ts';

const settings = {
  mode: choice({
    of: ['time', 'parts', 'silence'],
    default: 'time',
    describe: 'Split after so many seconds, into so many equal parts, or in the middle of every silence.',
  }),
  segment_s: int({ min: 1, max: 86_400, default: 300, describe: 'With mode time: how long a part is, in seconds.' }),
  parts: int({ min: 2, max: 1000, describe: 'With mode parts: how many equal parts to make.' }),
  threshold_db: int({ min: -80, max: -10, default: -40, describe: 'With mode silence: what is below is silent.' }),
  min_silence_s: num({ min: 0.1, max: 30, default: 1, describe: 'With mode silence: how long a silence must last.' }),
};
type Settings = Values<typeof settings>;

const mostParts = 1000;
/** A rest that is shorter, in seconds, stays with the part before it. */
const shortestRest = 0.1;

export default defineTool({
  slug: 'audio-splitter',
  name: 'Audio Splitter',
  category: 'audio',
  description: 'Splits sound into parts that together are as long as the whole. AMR becomes WAV.',
  accepts: audioTypes,
  produces: audioTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { scratch, signal, output } = context;
      const cuts = await cutsOf(sound, context, part(onProgress, 0, 20));
      const limits = [0, ...cuts, sound.soundSeconds];
      const digits = String(limits.length - 1).length;
      for (const [index, start] of limits.slice(0, -1).entries()) {
        const number = String(index + 1).padStart(digits, '0');
        const duration = (limits[index + 1] ?? 0) - start;
        await writeKept({ sound, range: { start, duration }, scratch, signal }, (type) =>
          output(`${stem}-${number}.${extensionOf(type)}`),
        );
        onProgress(20 + (80 * (start + duration)) / sound.soundSeconds);
      }
    }),
});

function check({ mode, parts }: Settings): FieldErrors {
  if (mode === 'parts') return parts === undefined ? { parts: ['is required when mode is parts'] } : {};
  return parts === undefined ? {} : { parts: [`has no effect when mode is ${mode}`] };
}

/** The seconds at which to cut, between the beginning and the end. */
async function cutsOf(
  sound: Sound,
  { settings: { mode, segment_s, parts = 1, threshold_db, min_silence_s }, signal }: ToolContext<Settings>,
  onProgress: Progress,
): Promise<number[]> {
  const { soundSeconds } = sound;
  if (mode === 'parts') {
    if (soundSeconds / parts < shortestRest) throw refuse(sound, `is too short for ${parts} parts`);
    return Array.from({ length: parts - 1 }, (_, index) => ((index + 1) * soundSeconds) / parts);
  }
  if (mode === 'time') {
    const count = Math.ceil((soundSeconds - shortestRest) / segment_s);
    if (count > mostParts) throw tooMany(sound, count);
    return Array.from({ length: Math.max(0, count - 1) }, (_, index) => (index + 1) * segment_s);
  }
  const rule = { thresholdDb: threshold_db, seconds: min_silence_s };
  const silences = await findSilences(sound, rule, { signal, onProgress });
  const between = silences.filter(({ start, end }) => start > shortestRest && end < soundSeconds - shortestRest);
  if (between.length === 0) {
    throw refuse(sound, `has no silence of ${min_silence_s} seconds below ${threshold_db} dB to be split at`);
  }
  if (between.length >= mostParts) throw tooMany(sound, between.length + 1);
  return between.map(({ start, end }) => (start + end) / 2);
}

function refuse({ file: { filename } }: Sound, problem: string): Failure {
  return new Failure('invalid_input', `"${filename}" ${problem}.`, { file: filename });
}

function tooMany({ file: { filename } }: Sound, count: number): Failure {
  const message = `"${filename}" would give ${count} parts: the limit is ${mostParts}.`;
  return new Failure('resource_limit', message, { file: filename });
}
