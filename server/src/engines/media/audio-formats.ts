import type { FileTypeId } from '../../lib/media-types.ts';
import type { audioTypes } from './media-types.ts';
import type { AudioStream } from './probe.ts';
import { feasibleBitRate, opusLayouts } from './video-formats.ts';

export type AudioType = (typeof audioTypes)[number];
/** AMR can be read only: its encoder is not part of Debian's FFmpeg. */
export type WrittenAudioType = Exclude<AudioType, 'amr'>;

/** Codecs of sound that can be written alone, by the names FFmpeg gives them. */
export type AudioCodec =
  | 'mp3'
  | 'aac'
  | 'alac'
  | 'vorbis'
  | 'opus'
  | 'wmav2'
  | 'ac3'
  | 'flac'
  | `pcm_${string}${'le' | 'be' | '8' | 'law'}`;

export interface AudioEncoding {
  codec: AudioCodec;
  /** Bits a second of all channels; without meaning for codecs that keep everything. */
  bitRate: number;
  /** Keep the quality instead of the bit rate: about as good as `bitRate` is on average. */
  vbr?: boolean;
  /** Samples a second; the nearest the codec can do to those of the source unless told. */
  sampleRate?: number | undefined;
  channels?: number | undefined;
}

interface Codec {
  encoder: string;
  /** Rates it can do, ascending; any unless told. */
  sampleRates?: readonly number[];
  maxChannels: number;
  /** It leaves out what is not heard. */
  loses: boolean;
  /** It can keep the quality instead of the bit rate. */
  vbr?: true;
}

const slowRates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000];
const usualRates = [...slowRates, 32_000, 44_100, 48_000];

const codecs: Readonly<Record<Exclude<AudioCodec, `pcm_${string}`>, Codec>> = {
  mp3: { encoder: 'libmp3lame', sampleRates: usualRates, maxChannels: 2, loses: true, vbr: true },
  aac: { encoder: 'aac', sampleRates: [...usualRates, 64_000, 88_200, 96_000], maxChannels: 8, loses: true, vbr: true },
  alac: { encoder: 'alac', maxChannels: 8, loses: false },
  vorbis: { encoder: 'libvorbis', sampleRates: usualRates, maxChannels: 8, loses: true, vbr: true },
  opus: {
    encoder: 'libopus',
    sampleRates: [8000, 12_000, 16_000, 24_000, 48_000],
    maxChannels: 8,
    loses: true,
    vbr: true,
  },
  wmav2: { encoder: 'wmav2', sampleRates: usualRates, maxChannels: 2, loses: true },
  ac3: { encoder: 'ac3', sampleRates: [32_000, 44_100, 48_000], maxChannels: 6, loses: true },
  flac: { encoder: 'flac', maxChannels: 8, loses: false },
};

function codecOf(codec: AudioCodec): Codec {
  if (codec in codecs) return codecs[codec as keyof typeof codecs];
  return { encoder: codec, maxChannels: 8, loses: false };
}

/** The rates a codec can do, in samples a second; undefined when it takes any. */
export function sampleRatesOf(codec: AudioCodec): readonly number[] | undefined {
  return codecOf(codec).sampleRates;
}

export function canVary(codec: AudioCodec): boolean {
  return codecOf(codec).vbr === true;
}

export function isLossy(codec: AudioCodec): boolean {
  return codecOf(codec).loses;
}

/** Most bits a second that are of use: MP3 and AAC end here too. */
export const highestBitRate = 320_000;

/** The codec a format is usually written with. Samples deeper than 16 bits stay so where the format keeps everything. */
export function usualCodec(type: WrittenAudioType, { codec, sampleBits = 16 }: AudioStream): AudioCodec {
  const isDeep = isStored(codec) && sampleBits > 16;
  switch (type) {
    case 'wav':
      return isDeep ? 'pcm_s24le' : 'pcm_s16le';
    case 'aiff':
      return isDeep ? 'pcm_s24be' : 'pcm_s16be';
    case 'm4a':
      return 'aac';
    case 'ogg':
      return 'vorbis';
    case 'wma':
      return 'wmav2';
    default:
      return type;
  }
}

/** Whether sound in this codec has lost nothing. */
function isStored(codec: string): boolean {
  return /^(pcm_|flac|alac|wmalossless|truehd|tta|wavpack)/.test(codec);
}

/** Codecs that a file of a format keeps when it is encoded again; all others become the usual one. */
const keptCodecs: Partial<Record<WrittenAudioType, RegExp>> = {
  wav: /^pcm_(u8|s16le|s24le|s32le|f32le|f64le|alaw|mulaw)$/,
  aiff: /^pcm_(s8|s16be|s24be|s32be|f32be|f64be)$/,
  m4a: /^(aac|alac)$/,
  ogg: /^(vorbis|flac)$/,
};

/** The format a file keeps when it is written again. AMR becomes WAV, which loses nothing more. */
export function keptAudioType(type: FileTypeId): WrittenAudioType {
  return type === 'amr' ? 'wav' : (type as WrittenAudioType);
}

/** Bits a second of one channel at which a second encoding is not heard. */
const transparentBitRate = 80_000;

/** How sound is encoded again where nobody is asked: in its own codec, as good as it was. */
export function keptEncoding(
  type: WrittenAudioType,
  track: AudioStream,
  fileBitRate: number | undefined,
): AudioEncoding {
  const codec = keptCodecs[type]?.test(track.codec) === true ? (track.codec as AudioCodec) : usualCodec(type, track);
  const own = track.bitRate ?? fileBitRate ?? 0;
  const channels = Math.min(track.channels, codecOf(codec).maxChannels);
  const transparent = transparentBitRate * channels;
  return { codec, bitRate: Math.max(transparent, Math.min(own, Math.max(highestBitRate, 2 * transparent))) };
}

/** The rate the result has, in samples a second: the wanted one, or the next the codec has above it. */
export function resultingRate(codec: AudioCodec, wanted: number): number {
  const rates = sampleRatesOf(codec);
  if (rates === undefined || rates.includes(wanted)) return wanted;
  return rates.find((rate) => rate > wanted) ?? rates.at(-1) ?? wanted;
}

/** MP3 below this is no part of the standard: not all players take it, and its long frames add a fifth of a second. */
const leastMp3Rate = 16_000;

/** The rate sound is written with where nobody asks for another: its own. Only what is MP3 already stays below 16,000. */
export function naturalRate(codec: AudioCodec, { codec: own, sampleRate }: AudioStream): number {
  const rate = codec === 'mp3' && own !== 'mp3' ? Math.max(leastMp3Rate, sampleRate) : sampleRate;
  return resultingRate(codec, rate);
}

/** Options and filters that encode one track of sound, the only one of the output. */
export function audioEncodingOptions(
  { codec, bitRate, vbr = false, sampleRate, channels }: AudioEncoding,
  track: AudioStream,
): { filters: string[]; options: string[] } {
  const { encoder, maxChannels, loses } = codecOf(codec);
  const kept = Math.min(channels ?? track.channels, maxChannels);
  const rate = sampleRate === undefined ? naturalRate(codec, track) : resultingRate(codec, sampleRate);
  return {
    filters: codec === 'opus' ? [opusLayouts] : [],
    options: [
      ...['-c:a', encoder, '-ar', String(rate)],
      ...(kept === track.channels ? [] : ['-ac', String(kept)]),
      ...(codec === 'flac' || codec === 'alac' ? depthOptions(codec, track) : []),
      ...(loses ? rateOptions(codec, bitRate, vbr, { rate, channels: kept }) : []),
    ],
  };
}

/** FLAC and ALAC take samples of 16 bits and of 24. */
function depthOptions(codec: 'flac' | 'alac', { codec: source, sampleBits = 16 }: AudioStream): string[] {
  const planar = codec === 'alac' ? 'p' : '';
  return isStored(source) && sampleBits > 16
    ? ['-sample_fmt', `s32${planar}`, '-bits_per_raw_sample', '24']
    : ['-sample_fmt', `s16${planar}`];
}

interface Shape {
  rate: number;
  channels: number;
}

function rateOptions(codec: AudioCodec, bitRate: number, vbr: boolean, shape: Shape): string[] {
  const feasible = feasibleRate(codec, bitRate, shape);
  if (codec === 'opus') return ['-b:a', String(feasible), '-vbr', vbr ? 'on' : 'constrained'];
  if (!vbr) return ['-b:a', String(feasible)];
  return ['-q:a', qualityFor(codec, bitRate / shape.channels).toFixed(2)];
}

/** Bits a second of one channel that libvorbis can do, by samples a second. */
const vorbisRates: readonly [below: number, least: number, most: number][] = [
  [9000, 8000, 32_000],
  [15_000, 16_000, 48_000],
  [19_000, 16_000, 86_000],
  [26_000, 16_000, 64_000],
  [40_000, 32_000, 160_000],
];

function feasibleRate(codec: AudioCodec, bitRate: number, { rate, channels }: Shape): number {
  if (codec === 'wmav2') return Math.max(24_000, Math.round(bitRate));
  if (codec === 'ac3') return Math.min(640_000, Math.max(32_000 * Math.ceil(channels / 2), Math.round(bitRate)));
  const limits = codec === 'vorbis' ? vorbisRates.find(([below]) => rate < below) : undefined;
  if (limits === undefined) return feasibleBitRate(codec, bitRate, channels);
  return Math.min(limits[2] * channels, Math.max(limits[1] * channels, Math.round(bitRate)));
}

/** Average bits a second of one channel of music, by the quality that encoders are asked for. */
const qualities: Partial<Record<AudioCodec, readonly [bitRate: number, quality: number][]>> = {
  mp3: [
    [32_000, 9],
    [42_000, 8],
    [50_000, 7],
    [57_000, 6],
    [65_000, 5],
    [82_000, 4],
    [87_000, 3],
    [95_000, 2],
    [112_000, 1],
    [122_000, 0],
  ],
  vorbis: [
    [24_000, -1],
    [32_000, 0],
    [48_000, 2],
    [64_000, 4],
    [80_000, 5],
    [96_000, 6],
    [128_000, 8],
    [160_000, 9],
    [250_000, 10],
  ],
  aac: [
    [10_000, 0.1],
    [21_000, 0.3],
    [32_000, 0.5],
    [55_000, 1],
    [104_000, 1.5],
    [125_000, 3],
  ],
};

/** The quality that comes nearest to a bit rate, between two known ones in proportion. */
function qualityFor(codec: AudioCodec, bitRate: number): number {
  const points = qualities[codec] ?? [];
  const above = points.findIndex(([rate]) => rate >= bitRate);
  if (above <= 0) return (above === 0 ? points[0] : points.at(-1))?.[1] ?? 0;
  const [lowRate, low] = points[above - 1] ?? [0, 0];
  const [highRate, high] = points[above] ?? [0, 0];
  return low + ((bitRate - lowRate) / (highRate - lowRate)) * (high - low);
}
