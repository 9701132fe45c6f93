import { Failure } from '../../lib/failure.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import { cutShort } from './probe.ts';
import type { Sound } from './write-audio.ts';

export interface Loudness {
  /** Integrated loudness, in LUFS as EBU R 128 has it. */
  integrated: number;
  /** dBTP: the highest peak between the samples too. */
  truePeak: number;
  /** Loudness range, in LU. */
  range: number;
  /** The loudness below which parts do not count, in LUFS. */
  threshold: number;
}

/**
 * Measures how loud a file is.
 *
 * @throws Failure `invalid_input` for silence; as `runFfmpeg`.
 */
export async function measureLoudness(
  sound: Sound,
  { signal, onProgress }: { signal: AbortSignal; onProgress?(percent: number): void },
): Promise<Loudness> {
  const { file, track, soundSeconds } = sound;
  const { log, seconds } = await runFfmpeg({
    inputs: [{ source: file }],
    args: ['-map', `0:${track.index}`, '-af', 'loudnorm=print_format=json'],
    output: null,
    durationSeconds: soundSeconds,
    onProgress,
    logLevel: 'info',
    signal,
  });
  if (soundSeconds - seconds > Math.max(0.1, soundSeconds / 100)) {
    throw cutShort({ file, durationSeconds: soundSeconds }, seconds);
  }
  const read = (name: string) => Number(new RegExp(`"${name}" : "([^"]+)"`).exec(log)?.[1]?.replace('inf', 'Infinity'));
  const loudness = {
    integrated: read('input_i'),
    truePeak: read('input_tp'),
    range: read('input_lra'),
    threshold: read('input_thresh'),
  };
  if (Number.isNaN(loudness.integrated + loudness.range)) {
    throw new Failure('engine_failed', `The loudness of "${file.filename}" could not be measured.`, { log });
  }
  if (Number.isFinite(loudness.truePeak)) return loudness;
  const message = `"${file.filename}" is silent: there is nothing to normalize.`;
  throw new Failure('invalid_input', message, { file: file.filename });
}

/** Filters that bring the highest peak to `truePeak` dBTP: one gain for all. */
export function peakFilters(measured: Loudness, truePeak: number): string[] {
  return [`volume=${(truePeak - measured.truePeak).toFixed(3)}dB`];
}

/** FFmpeg's own limits, in LUFS and dBTP. */
const leastMeasured = -99;

/**
 * Filters that bring a file to a loudness: one gain for all where no peak would go beyond `truePeak`, else one that
 * follows the sound and limits the peaks.
 */
export function loudnessFilters(measured: Loudness, target: { lufs: number; truePeak: number }): string[] {
  const gain = target.lufs - measured.integrated;
  if (measured.truePeak + gain <= target.truePeak) return [`volume=${gain.toFixed(3)}dB`];
  const options = {
    I: target.lufs,
    TP: target.truePeak,
    LRA: Math.min(50, Math.max(7, measured.range)),
    measured_I: Math.max(leastMeasured, measured.integrated),
    measured_TP: Math.max(leastMeasured, measured.truePeak),
    measured_LRA: measured.range,
    measured_thresh: Math.max(leastMeasured, measured.threshold),
  };
  const written = Object.entries(options).map(([name, value]) => `${name}=${value.toFixed(2)}`);
  return [`loudnorm=${written.join(':')}`];
}
