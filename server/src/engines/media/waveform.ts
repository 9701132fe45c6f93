import { Readable, Writable } from 'node:stream';
import { filterProgram } from '../../sandbox/program.ts';
import { mediaFailure, openOptions } from '../ffmpeg.ts';
import { loadSharp } from '../sharp.ts';
import { cutShort } from './probe.ts';
import type { Sound } from './write-audio.ts';

/** The lowest and the highest sample of each of `width` equal parts of a file, over all channels: -32768 to 32767. */
export interface Waveform {
  peaks: { lowest: number; highest: number }[];
  sampleRate: number;
  /** Of one channel. */
  samples: number;
}

export interface WaveformStyle {
  width: number;
  height: number;
  /** `#rgb`, `#rrggbb` or `#rrggbbaa`. */
  color: string;
  /** The same, or `transparent`. */
  background: string;
}

/** While a file is read its length is only guessed, so peaks are taken of many more parts than are shown. */
const mostBuckets = 1 << 17;

/** Peaks of parts that get twice as long whenever there are too many of them: flat memory for any length. */
class PeakMeter extends Writable {
  readonly lowest = new Int16Array(mostBuckets);
  readonly highest = new Int16Array(mostBuckets);
  buckets = 0;
  frames = 0;
  framesABucket = 1;
  #framesInBucket = 0;
  #rest: Buffer = Buffer.alloc(0);
  readonly #channels: number;
  readonly #onFrames: (frames: number) => void;

  constructor(channels: number, onFrames: (frames: number) => void) {
    super();
    this.#channels = channels;
    this.#onFrames = onFrames;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frameBytes = this.#channels * 2;
    const whole = bytes.length - (bytes.length % frameBytes);
    for (let at = 0; at < whole; at += frameBytes) this.#add(bytes, at);
    this.#rest = bytes.subarray(whole);
    this.#onFrames(this.frames);
    done();
  }

  #add(bytes: Buffer, at: number): void {
    if (this.#framesInBucket === this.framesABucket) {
      this.#framesInBucket = 0;
      if (this.buckets === mostBuckets) this.#halve();
    }
    if (this.#framesInBucket === 0) {
      this.lowest[this.buckets] = 32_767;
      this.highest[this.buckets] = -32_768;
      this.buckets++;
    }
    const bucket = this.buckets - 1;
    for (let channel = 0; channel < this.#channels; channel++) {
      const sample = bytes.readInt16LE(at + channel * 2);
      if (sample < (this.lowest[bucket] ?? 0)) this.lowest[bucket] = sample;
      if (sample > (this.highest[bucket] ?? 0)) this.highest[bucket] = sample;
    }
    this.#framesInBucket++;
    this.frames++;
  }

  #halve(): void {
    for (let bucket = 0; bucket < mostBuckets / 2; bucket++) {
      this.lowest[bucket] = Math.min(this.lowest[2 * bucket] ?? 0, this.lowest[2 * bucket + 1] ?? 0);
      this.highest[bucket] = Math.max(this.highest[2 * bucket] ?? 0, this.highest[2 * bucket + 1] ?? 0);
    }
    this.buckets = mostBuckets / 2;
    this.framesABucket *= 2;
  }
}

/**
 * Decodes a file once and measures its peaks.
 *
 * @throws Failure `invalid_input` for a damaged file; as `runFfmpeg`.
 */
export async function measureWaveform(
  { file, track, soundSeconds }: Sound,
  width: number,
  { signal, onProgress }: { signal: AbortSignal; onProgress(percent: number): void },
): Promise<Waveform> {
  const { sampleRate, channels } = track;
  const meter = new PeakMeter(channels, (frames) =>
    onProgress(Math.min(100, (frames / sampleRate / soundSeconds) * 100)),
  );
  const args = [
    ...['-nostdin', '-hide_banner', '-v', 'warning', ...openOptions(file), '-map', `0:${track.index}`],
    ...['-ar', String(sampleRate), '-ac', String(channels), '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
  ];
  await filterProgram('ffmpeg', args, { input: Readable.from([]), output: meter, signal }).catch((error: unknown) => {
    throw mediaFailure(error, [file]);
  });
  const read = meter.frames / sampleRate;
  if (soundSeconds - read > Math.max(0.1, soundSeconds / 100)) {
    throw cutShort({ file, durationSeconds: soundSeconds }, read);
  }
  return { peaks: columns(meter, width), sampleRate, samples: meter.frames };
}

function columns({ lowest, highest, buckets, frames, framesABucket }: PeakMeter, width: number): Waveform['peaks'] {
  return Array.from({ length: width }, (_, column) => {
    const first = Math.min(buckets - 1, Math.floor((column * frames) / width / framesABucket));
    const end = Math.min(buckets, Math.max(first + 1, Math.floor(((column + 1) * frames) / width / framesABucket)));
    const peak = { lowest: lowest[first] ?? 0, highest: highest[first] ?? 0 };
    for (let bucket = first + 1; bucket < end; bucket++) {
      peak.lowest = Math.min(peak.lowest, lowest[bucket] ?? 0);
      peak.highest = Math.max(peak.highest, highest[bucket] ?? 0);
    }
    return peak;
  });
}

/** The peaks as the program audiowaveform writes them (version 2), which players on the web read. */
export function waveformJson({ peaks, sampleRate, samples }: Waveform): string {
  return JSON.stringify({
    version: 2,
    channels: 1,
    sample_rate: sampleRate,
    samples_per_pixel: Math.max(1, Math.round(samples / peaks.length)),
    bits: 16,
    length: peaks.length,
    data: peaks.flatMap(({ lowest, highest }) => [lowest, highest]),
  });
}

/** A drawing of the peaks: one shape around the middle line, at least one pixel high where there is silence. */
export function waveformSvg({ peaks }: Waveform, { width, height, color, background }: WaveformStyle): string {
  const y = (sample: number) => height / 2 - (sample / 32_768) * (height / 2);
  const upper = peaks.map(({ highest }) => Math.min(y(highest), height / 2 - 0.5));
  const lower = peaks.map(({ lowest }) => Math.max(y(lowest), height / 2 + 0.5));
  const steps = (line: number[]) => line.map((at, column) => `L${column} ${at.toFixed(2)}H${column + 1}`).join('');
  const back = lower
    .map((at, column) => `L${column + 1} ${at.toFixed(2)}H${column}`)
    .toReversed()
    .join('');
  const path = `M0 ${(height / 2).toFixed(2)}${steps(upper)}${back}Z`;
  const ground = background === 'transparent' ? '' : `<rect width="${width}" height="${height}" ${fill(background)}/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${ground}<path ${fill(color)} d="${path}"/></svg>\n`;
}

export async function waveformPng(waveform: Waveform, style: WaveformStyle): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp(Buffer.from(waveformSvg(waveform, style)), { unlimited: true })
    .png()
    .toBuffer();
}

/** Not every viewer knows colours with their opacity in one. */
function fill(color: string): string {
  const [, rgb, alpha] = /^(#[\da-f]{6})([\da-f]{2})$/i.exec(color) ?? [];
  if (rgb === undefined || alpha === undefined) return `fill="${color}"`;
  return `fill="${rgb}" fill-opacity="${(Number.parseInt(alpha, 16) / 255).toFixed(3)}"`;
}
