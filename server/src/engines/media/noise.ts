import { runFfmpeg } from '../ffmpeg.ts';
import type { Sound } from './write-audio.ts';

/** Seconds of one piece whose level is measured. */
const piece = 0.1;
/** Quieter pieces, in dB, are digital silence: they tell nothing of noise. */
const digitalSilence = -90;

/**
 * How loud the steady noise of a recording is, in dB of full level: what its quietest tenth has. Undefined for silence.
 *
 * @throws Failure as `runFfmpeg`.
 */
export async function measureNoise(
  { file, track, soundSeconds }: Sound,
  { signal, onProgress }: { signal: AbortSignal; onProgress(percent: number): void },
): Promise<number | undefined> {
  const levels: number[] = [];
  const samples = Math.max(1, Math.round(track.sampleRate * piece));
  const print = 'ametadata=print:key=lavfi.astats.Overall.RMS_level:file=-';
  await runFfmpeg({
    inputs: [{ source: file }],
    args: ['-map', `0:${track.index}`, '-af', `asetnsamples=n=${samples}:p=0,astats=metadata=1:reset=1,${print}`],
    output: null,
    onLine: (line) => {
      const level = Number(/^lavfi\.astats\.Overall\.RMS_level=(-?[\d.]+)$/.exec(line)?.[1] ?? Number.NaN);
      if (level > digitalSilence) levels.push(level);
    },
    durationSeconds: soundSeconds,
    onProgress,
    signal,
  });
  return levels.toSorted((a, b) => a - b)[Math.floor(levels.length / 10)];
}

/** The noise floor afftdn asks for lies this much above the level of noise as it is measured, in dB: found by trying. */
const floorAbove = 20;
const lowestFloor = -80;
const highestFloor = -20;

/** Filters that lower noise of a level by so many dB. */
export function noiseFilters(level: number, reduction: number): string[] {
  const floor = Math.min(highestFloor, Math.max(lowestFloor, level + floorAbove));
  return [`afftdn=nr=${reduction}:nf=${floor.toFixed(1)}`];
}
