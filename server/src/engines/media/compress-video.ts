import { rm, stat } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import type { AudioStream } from './probe.ts';
import type { Rate } from './video-formats.ts';
import { type PictureWork, type SoundWork, type VideoJob, writeStatistics, writeVideo } from './write-video.ts';

/** A picture to encode whose rate is found here. */
export interface CompressionJob extends Omit<VideoJob, 'picture' | 'sound' | 'cwd'> {
  picture: Omit<PictureWork, 'rate'>;
  sound: (track: AudioStream) => SoundWork | 'copy';
  /** For statistics between two passes. */
  scratch: string;
}

/** Below this many bits a second nothing can be seen. */
const leastBitRate = 16_000;
const attempts = 4;

/**
 * Writes a video of this many bits a second, in two passes where the encoder has them.
 *
 * @throws Failure as `writeVideo`.
 */
export async function writeAtBitRate(job: CompressionJob, bitRate: number): Promise<void> {
  // SVT-AV1 keeps an average in one pass.
  if (job.picture.codec === 'av1') return write(job, { bitRate });
  await gatherStatistics(job, bitRate);
  await write(job, { bitRate, pass: 2 });
}

/**
 * Writes a video of at most this many bytes.
 *
 * @throws Failure `invalid_input` when even the coarsest picture is larger; as `writeVideo`.
 */
export async function writeWithinBytes(job: CompressionJob, targetBytes: number): Promise<void> {
  const { durationSeconds, audios } = job.video;
  const soundBits = audios.map((track) => soundBitRate(track, job.sound(track))).reduce((sum, rate) => sum + rate, 0);
  let bitRate = ((targetBytes * 8) / durationSeconds) * 0.97 - soundBits;
  if (bitRate < leastBitRate) throw impossible(job, targetBytes);
  const isTwoPass = job.picture.codec !== 'av1';
  if (isTwoPass) await gatherStatistics(job, bitRate);
  for (let attempt = 0; attempt < attempts && bitRate >= leastBitRate; attempt++) {
    await write(job, isTwoPass ? { bitRate, pass: 2 } : { bitRate });
    const { size } = await stat(job.output.path);
    if (size <= targetBytes) return;
    // What is too much is taken from the picture alone: the sound stays as large as it is.
    bitRate = bitRate * 0.95 - ((size - targetBytes) * 8) / durationSeconds;
  }
  await rm(job.output.path, { force: true });
  throw impossible(job, targetBytes);
}

async function gatherStatistics(job: CompressionJob, bitRate: number): Promise<void> {
  const { picture, scratch, onProgress } = job;
  const half = onProgress === undefined ? undefined : (percent: number) => onProgress(percent / 2);
  await writeStatistics({
    ...job,
    picture: { ...picture, rate: { bitRate, pass: 1 } },
    cwd: scratch,
    onProgress: half,
  });
}

async function write(job: CompressionJob, rate: Rate): Promise<void> {
  const { picture, scratch, onProgress } = job;
  const isSecond = 'pass' in rate;
  const half = onProgress === undefined || !isSecond ? onProgress : (percent: number) => onProgress(50 + percent / 2);
  await writeVideo({ ...job, picture: { ...picture, rate }, cwd: scratch, onProgress: half });
}

function soundBitRate({ channels, bitRate }: AudioStream, work: SoundWork | 'copy'): number {
  if (work === 'copy') return bitRate ?? 0;
  return work.bitRate * Math.max(1, channels / 2);
}

function impossible({ video }: CompressionJob, targetBytes: number): Failure {
  const { filename } = video.file;
  const megabytes = (targetBytes / 1_000_000).toFixed(2);
  const message = `"${filename}" cannot be made as small as ${megabytes} MB: choose a larger target, a smaller picture or less sound.`;
  return new Failure('invalid_input', message, { file: filename });
}
