import { Failure } from '../../lib/failure.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import { cutShort } from './probe.ts';
import type { Sound } from './write-audio.ts';

/** What counts as silence: below `thresholdDb` for at least `seconds`. */
export interface SilenceRule {
  thresholdDb: number;
  seconds: number;
}

export interface Silence {
  /** Seconds. */
  start: number;
  end: number;
}

/** More of them are noise around the threshold, and no structure. */
const mostSilences = 2000;

/**
 * Listens to a whole file and returns where it is silent, in order.
 *
 * @throws Failure `invalid_input` for a file that ends before its own length; `resource_limit` for more than 2000 of them;
 * as `runFfmpeg`.
 */
export async function findSilences(
  sound: Sound,
  { thresholdDb, seconds }: SilenceRule,
  { signal, onProgress }: { signal: AbortSignal; onProgress(percent: number): void },
): Promise<Silence[]> {
  const silences: Silence[] = [];
  let start: number | undefined;
  const result = await runFfmpeg({
    inputs: [{ source: sound.file }],
    args: [
      ...['-map', `0:${sound.track.index}`],
      ...['-af', `silencedetect=noise=${thresholdDb}dB:d=${seconds},ametadata=print:file=-`],
    ],
    output: null,
    onLine: (line) => {
      const [, kind, time] = /^lavfi\.silence_(start|end)=(-?[\d.]+)$/.exec(line) ?? [];
      if (kind === 'start') start = Math.max(0, Number(time));
      if (kind !== 'end' || start === undefined) return;
      if (silences.length <= mostSilences) silences.push({ start, end: Number(time) });
      start = undefined;
    },
    durationSeconds: sound.soundSeconds,
    onProgress,
    signal,
  });
  const { soundSeconds } = sound;
  if (soundSeconds - result.seconds > Math.max(0.1, soundSeconds / 100)) {
    throw cutShort({ file: sound.file, durationSeconds: soundSeconds }, result.seconds);
  }
  if (start !== undefined) silences.push({ start, end: soundSeconds });
  if (silences.length <= mostSilences) return silences;
  const { filename } = sound.file;
  const message = `"${filename}" is silent more than ${mostSilences} times: choose a lower threshold or longer silences.`;
  throw new Failure('resource_limit', message, { file: filename });
}

/** @throws Failure `invalid_input` when nothing but silence is in a file. */
export function assertNotSilent(
  { file: { filename }, soundSeconds }: Sound,
  silences: readonly Silence[],
  { thresholdDb }: SilenceRule,
): void {
  const silent = silences.reduce((sum, { start, end }) => sum + end - start, 0);
  if (soundSeconds - silent > 0.05) return;
  const message = `"${filename}" is silent from beginning to end: nothing in it is louder than ${thresholdDb} dB.`;
  throw new Failure('invalid_input', message, { file: filename });
}

/** Pieces in which sound is kept or left out, in seconds. */
const grain = 0.005;

/** Filters that leave out silences but for `keep` seconds of each, and how long the result is. */
export function withoutSilences(
  { track, soundSeconds }: Sound,
  silences: readonly Silence[],
  keep: number,
): { filters: string[]; durationSeconds: number } {
  const cuts = silences
    .map(({ start, end }) => ({
      start: start === 0 ? 0 : start + keep / 2,
      end: end >= soundSeconds ? soundSeconds + 1 : end - keep / 2,
    }))
    .filter(({ start, end }) => end - start > grain);
  const left = cuts.reduce((rest, { start, end }) => rest - (Math.min(end, soundSeconds) - start), soundSeconds);
  const moments = cuts.flatMap(({ start, end }) => [
    { at: start, keeps: 0 as const },
    { at: end, keeps: 1 as const },
  ]);
  const samples = Math.max(1, Math.round(track.sampleRate * grain));
  return {
    filters: [
      `asetnsamples=n=${samples}:p=0`,
      `aselect='${choiceBetween(moments, 0, moments.length, 1)}'`,
      'asetpts=N/SR/TB',
    ],
    durationSeconds: left,
  };
}

/** An expression of `t` that is 1 where sound stays: a tree of comparisons, so that thousands of cuts cost little. */
function choiceBetween(
  moments: readonly { at: number; keeps: 0 | 1 }[],
  from: number,
  to: number,
  before: 0 | 1,
): string {
  if (from >= to) return String(before);
  const middle = (from + to) >> 1;
  const moment = moments[middle];
  if (moment === undefined) return String(before);
  const earlier = choiceBetween(moments, from, middle, before);
  return `if(lt(t,${moment.at.toFixed(4)}),${earlier},${choiceBetween(moments, middle + 1, to, moment.keeps)})`;
}
