import { rm, stat } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import { type AudioEncoding, type WrittenAudioType, highestBitRate, naturalRate } from './audio-formats.ts';
import { type SoundJob, writeAudio } from './write-audio.ts';

export interface AudioCompression extends Omit<SoundJob, 'encoding' | 'output'> {
  codec: 'mp3' | 'opus' | 'aac';
  output: { type: WrittenAudioType; path: string };
  mono: boolean;
}

/** Below so many bits a second of one channel, fewer samples a second sound better than all of them. */
const steps: readonly [below: number, sampleRate: number][] = [
  [12_000, 11_025],
  [20_000, 16_000],
  [28_000, 24_000],
];

function encodingFor({ codec, mono, sound }: AudioCompression, bitRate: number): AudioEncoding {
  const channels = mono || sound.track.channels === 1 ? 1 : 2;
  const step = codec === 'opus' ? undefined : steps.find(([below]) => bitRate / channels < below)?.[1];
  const sampleRate = step === undefined ? undefined : Math.min(step, naturalRate(codec, sound.track));
  // Constant quality would not keep a size.
  return { codec, bitRate, channels, sampleRate, vbr: codec === 'opus' };
}

/** Writes sound of this many bits a second. @throws Failure as `writeAudio`. */
export async function compressToBitRate(job: AudioCompression, bitRate: number): Promise<void> {
  await writeAudio({ ...job, encoding: encodingFor(job, bitRate) });
}

const leastBitRates = { mp3: 8000, opus: 6000, aac: 12_000 } as const;
const attempts = 5;

/**
 * Writes sound of at most this many bytes, without the cover when that is what is too much.
 *
 * @throws Failure `invalid_input` when even the lowest bit rate makes more; as `writeAudio`.
 */
export async function compressToBytes(job: AudioCompression, targetBytes: number): Promise<void> {
  const { sound, codec, output } = job;
  const least = leastBitRates[codec];
  let bitRate = Math.min(highestBitRate, ((targetBytes * 8) / sound.soundSeconds) * 0.97);
  let cover = sound.covers.length > 0;
  for (let attempt = 0; attempt < attempts && bitRate >= least; attempt++) {
    await writeAudio({ ...job, cover, encoding: encodingFor(job, bitRate) });
    const { size } = await stat(output.path);
    if (size <= targetBytes) return;
    const excess = ((size - targetBytes) * 8) / sound.soundSeconds;
    // A large cover takes the room of the sound: then it is the sound that stays.
    if (cover && excess > bitRate / 4) cover = false;
    else bitRate = Math.min(bitRate * 0.97, bitRate - excess * 1.05);
  }
  await rm(output.path, { force: true });
  const { filename } = sound.file;
  const message = `"${filename}" cannot be made as small as ${(targetBytes / 1e6).toFixed(3)} MB with ${codec}: choose a larger target.`;
  throw new Failure('invalid_input', message, { file: filename });
}
