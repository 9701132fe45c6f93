import type { FileTypeId } from '../../lib/media-types.ts';
import type { videoTypes } from './media-types.ts';

/** Codecs of pictures that can be written, by the names FFmpeg gives them. */
export type VideoCodec =
  | 'h264'
  | 'hevc'
  | 'vp8'
  | 'vp9'
  | 'av1'
  | 'mpeg4'
  | 'mpeg2video'
  | 'mpeg1video'
  | 'wmv2'
  | 'flv1'
  | 'theora'
  | 'prores'
  | 'mjpeg';

/** Codecs of sound that can be written beside pictures. */
export type VideoAudioCodec = 'aac' | 'opus' | 'mp3' | 'vorbis' | 'wmav2' | 'mp2';

export type VideoType = (typeof videoTypes)[number];

interface Container {
  /** The codecs it is usually written with. */
  video: VideoCodec;
  audio: VideoAudioCodec;
  /** What players expect in it and FFmpeg writes; `any` for Matroska. */
  holdsVideo: readonly string[] | 'any';
  holdsAudio: readonly string[] | 'any';
  /** What text subtitles become; without it the format has none. */
  subtitles?: 'mov_text' | 'srt' | 'webvtt';
  /** Most tracks of sound; any number unless told. */
  maxTracks?: number;
  options?: readonly string[];
}

const pcm = ['pcm_s16le', 'pcm_s16be', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le'];

export const containers: Readonly<Record<VideoType, Container>> = {
  mp4: {
    video: 'h264',
    audio: 'aac',
    holdsVideo: ['h264', 'hevc', 'av1', 'vp9', 'mpeg4', 'mpeg2video', 'mpeg1video'],
    holdsAudio: ['aac', 'mp3', 'ac3', 'eac3', 'opus', 'flac', 'alac', 'mp2'],
    subtitles: 'mov_text',
    // The index goes to the front, so that playing can start before all has arrived; FLAC is called experimental.
    options: ['-movflags', '+faststart', '-strict', 'experimental'],
  },
  mov: {
    video: 'h264',
    audio: 'aac',
    holdsVideo: ['h264', 'hevc', 'mpeg4', 'prores', 'mjpeg', 'dnxhd', 'mpeg2video', 'dvvideo', 'qtrle', 'png'],
    holdsAudio: ['aac', 'mp3', 'ac3', 'eac3', 'alac', ...pcm],
    subtitles: 'mov_text',
    options: ['-movflags', '+faststart'],
  },
  mkv: { video: 'h264', audio: 'aac', holdsVideo: 'any', holdsAudio: 'any', subtitles: 'srt' },
  webm: {
    video: 'vp9',
    audio: 'opus',
    holdsVideo: ['vp9', 'av1', 'vp8'],
    holdsAudio: ['opus', 'vorbis'],
    subtitles: 'webvtt',
  },
  avi: {
    video: 'h264',
    audio: 'mp3',
    holdsVideo: ['h264', 'mpeg4', 'mjpeg', 'msmpeg4v3', 'msmpeg4v2', 'mpeg2video', 'dvvideo', 'huffyuv', 'rawvideo'],
    holdsAudio: ['mp3', 'mp2', 'ac3', 'pcm_s16le', 'pcm_u8'],
  },
  wmv: {
    video: 'wmv2',
    audio: 'wmav2',
    holdsVideo: ['wmv2', 'wmv1', 'wmv3', 'vc1', 'msmpeg4v3'],
    holdsAudio: ['wmav2', 'wmav1', 'wmapro', 'wmalossless', 'mp3'],
  },
  flv: { video: 'h264', audio: 'aac', holdsVideo: ['h264', 'flv1'], holdsAudio: ['aac', 'mp3'], maxTracks: 1 },
  mpeg: {
    video: 'mpeg2video',
    audio: 'mp2',
    holdsVideo: ['mpeg2video', 'mpeg1video'],
    holdsAudio: ['mp2', 'mp3', 'ac3'],
  },
  mpegts: {
    video: 'h264',
    audio: 'aac',
    holdsVideo: ['h264', 'hevc', 'mpeg2video', 'mpeg1video'],
    holdsAudio: ['aac', 'mp3', 'mp2', 'ac3', 'eac3', 'opus'],
  },
  '3gp': {
    video: 'h264',
    audio: 'aac',
    holdsVideo: ['h264', 'mpeg4', 'h263'],
    holdsAudio: ['aac', 'amr_nb', 'amr_wb'],
    options: ['-movflags', '+faststart'],
  },
  ogv: {
    video: 'theora',
    audio: 'vorbis',
    holdsVideo: ['theora', 'vp8'],
    holdsAudio: ['vorbis', 'opus', 'flac', 'speex'],
  },
};

export function holdsVideo(type: VideoType, codec: string): boolean {
  const { holdsVideo: held } = containers[type];
  return held === 'any' || held.includes(codec);
}

export function holdsAudio(type: VideoType, codec: string): boolean {
  const { holdsAudio: held } = containers[type];
  return held === 'any' || held.includes(codec);
}

/** A tool that keeps the format reads and writes these alike. */
export function keptVideoType(type: FileTypeId): VideoType {
  return (Object.keys(containers) as VideoType[]).find((container) => container === type) ?? 'mp4';
}

const families: Readonly<Record<string, VideoCodec>> = {
  h264: 'h264',
  hevc: 'hevc',
  vp8: 'vp8',
  vp9: 'vp9',
  av1: 'av1',
  mpeg4: 'mpeg4',
  msmpeg4v2: 'mpeg4',
  msmpeg4v3: 'mpeg4',
  mpeg2video: 'mpeg2video',
  mpeg1video: 'mpeg1video',
  wmv1: 'wmv2',
  wmv2: 'wmv2',
  wmv3: 'wmv2',
  vc1: 'wmv2',
  flv1: 'flv1',
  theora: 'theora',
  prores: 'prores',
  mjpeg: 'mjpeg',
};

/** The codec a picture keeps when it is encoded again into a format: its own or its successor, else the format's usual. */
export function keptVideoCodec(type: VideoType, codec: string): VideoCodec {
  const family = families[codec];
  return family !== undefined && holdsVideo(type, family) ? family : containers[type].video;
}

export type Rate =
  /** Constant quality on the scale of H.264: 0 keeps everything, 23 is usual, 51 is the worst. */
  | { crf: number }
  /** Bits a second on average; with `pass` one of two runs that share statistics in the working directory. */
  | { bitRate: number; pass?: 1 | 2 };

/** The x264 scale, whose names x265 shares. */
export const presets = [
  'ultrafast',
  'superfast',
  'veryfast',
  'faster',
  'fast',
  'medium',
  'slow',
  'slower',
  'veryslow',
] as const;
export type Preset = (typeof presets)[number];

export interface VideoEncoding {
  codec: VideoCodec;
  rate: Rate;
  preset?: Preset;
}

/** Options that encode the one video stream of an output. */
export function videoEncoderOptions({ codec, rate, preset = 'medium' }: VideoEncoding): string[] {
  const bitRate = 'crf' in rate ? undefined : String(Math.round(rate.bitRate));
  const pass = 'crf' in rate || rate.pass === undefined ? [] : ['-pass', String(rate.pass), '-passlogfile', 'pass'];
  const quality = (options: string[]) => (bitRate === undefined ? options : ['-b:v', bitRate, ...pass]);
  const crf = 'crf' in rate ? rate.crf : 23;
  // libvpx and SVT-AV1 count to 63.
  const crf63 = String(Math.round((crf * 63) / 51));
  const speed = presets.indexOf(preset);
  const quantizer = ['-q:v', String(Math.min(31, Math.max(2, Math.round(2 + (crf - 18) * 0.4))))];
  switch (codec) {
    case 'h264':
      return ['-c:v', 'libx264', '-preset', preset, ...quality(['-crf', String(crf)]), ...threads];
    case 'hevc':
      return ['-c:v', 'libx265', '-preset', preset, ...quality(['-crf', String(crf)]), ...hevcOptions(rate)];
    case 'vp9':
      return [
        ...['-c:v', 'libvpx-vp9', '-deadline', 'good', '-cpu-used', String(Math.min(8, 9 - speed)), '-row-mt', '1'],
        ...quality(['-crf', crf63, '-b:v', '0']),
        ...threads,
      ];
    case 'av1':
      return [
        ...['-c:v', 'libsvtav1', '-preset', String(Math.min(12, 14 - speed)), '-svtav1-params', 'lp=2', '-g', '240'],
        ...(bitRate === undefined ? ['-crf', crf63] : ['-b:v', bitRate]),
      ];
    case 'vp8':
      return [
        ...['-c:v', 'libvpx', '-deadline', 'good', '-cpu-used', '4'],
        ...(bitRate === undefined ? ['-crf', String(Math.max(4, Number(crf63))), '-b:v', '8M'] : ['-b:v', bitRate]),
        ...threads,
      ];
    case 'theora':
      return ['-c:v', 'libtheora', ...quality(['-q:v', String(Math.round(10 - (crf * 10) / 51))]), ...threads];
    case 'prores':
      return ['-c:v', 'prores_ks', '-profile:v', '3', '-vendor', 'apl0', ...threads];
    case 'flv1':
      return ['-c:v', 'flv', ...quality(quantizer), ...threads];
    case 'mpeg1video':
    case 'mpeg2video':
    case 'mpeg4':
    case 'wmv2':
    case 'mjpeg':
      return ['-c:v', codec, ...quality(quantizer), ...threads];
  }
}

const threads = ['-threads:v', '2'];

function hevcOptions(rate: Rate): string[] {
  const pass = 'crf' in rate || rate.pass === undefined ? '' : `:pass=${rate.pass}:stats=x265.log`;
  // Players of Apple ask for this mark.
  return ['-x265-params', `log-level=error:pools=2:frame-threads=2${pass}`, '-tag:v', 'hvc1'];
}

/** Whether the codec keeps ten bits a channel, and with them the wide range of brightness of HDR. */
export function keepsDepth(codec: VideoCodec): boolean {
  return codec === 'hevc' || codec === 'av1' || codec === 'prores';
}

/** MPEG-1 and MPEG-2 know these rates only. */
const broadcastRates = ['24000/1001', '24', '25', '30000/1001', '30', '50', '60000/1001', '60'];

/**
 * The steady frame rate a codec or format demands, nearest to `fps`; undefined where frames may come when they like.
 */
export function steadyRate(type: VideoType, codec: VideoCodec, fps: number): string | undefined {
  if (codec === 'mpeg1video' || codec === 'mpeg2video') return nearestRate(fps);
  if (['mpeg4', 'wmv2', 'flv1', 'theora'].includes(codec) || ['avi', 'wmv', 'mpeg', 'flv', 'ogv'].includes(type)) {
    return exactRate(fps);
  }
  return undefined;
}

function nearestRate(fps: number): string {
  const distance = (rate: string) => Math.abs(valueOf(rate) - fps);
  return broadcastRates.reduce((best, rate) => (distance(rate) < distance(best) ? rate : best));
}

/** A rate as a fraction whose clock fits 16 bits, which MPEG-4 asks for. */
export function exactRate(fps: number): string {
  const broadcast = nearestRate(fps);
  if (Math.abs(valueOf(broadcast) - fps) < 0.005) return broadcast;
  return `${Math.max(1, Math.round(fps * 100))}/100`;
}

function valueOf(rate: string): number {
  const [over = 0, under = 1] = rate.split('/').map(Number);
  return over / under;
}

export interface AudioEncoding {
  codec: VideoAudioCodec;
  /** Bits a second of two channels; more channels get more. */
  bitRate: number;
}

const audioEncoders: Readonly<Record<VideoAudioCodec, string>> = {
  aac: 'aac',
  opus: 'libopus',
  mp3: 'libmp3lame',
  vorbis: 'libvorbis',
  wmav2: 'wmav2',
  mp2: 'mp2',
};

/** Options that encode the output's track of sound with this number, counted from 0. */
export function audioEncoderOptions(track: number, { codec, bitRate }: AudioEncoding, channels: number): string[] {
  const isStereoOnly = codec === 'mp3' || codec === 'mp2' || codec === 'wmav2';
  const kept = isStereoOnly ? Math.min(2, channels) : channels;
  const wanted = feasibleBitRate(codec, bitRate * Math.max(1, kept / 2), kept);
  return [
    ...[`-c:a:${track}`, audioEncoders[codec], `-b:a:${track}`, String(wanted)],
    ...(kept === channels ? [] : [`-ac:a:${track}`, String(kept)]),
  ];
}

/** Vorbis and Opus refuse bit rates beyond what so many channels can use; Vorbis also those too low for them. */
export function feasibleBitRate(codec: string, bitRate: number, channels: number): number {
  const rounded = Math.round(bitRate);
  if (codec === 'opus') return Math.min(rounded, 256_000 * channels);
  if (codec !== 'vorbis') return rounded;
  // Two channels share much of their sound.
  return Math.min(224_000 * channels, Math.max(channels === 2 ? 48_000 : 32_000 * channels, rounded));
}

/** Layouts libopus takes; others are mapped to the nearest, such as 5.1 with speakers at the sides. */
export const opusLayouts = 'aformat=channel_layouts=mono|stereo|3.0|quad|5.0|5.1|6.1|7.1';

/** Filters a track needs before it can be encoded. */
export function audioEncoderFilters(type: VideoType, { codec }: AudioEncoding): string[] {
  if (codec === 'opus') return [opusLayouts];
  // Flash knows MP3 at these rates only.
  if (type === 'flv' && codec === 'mp3') return ['aformat=sample_rates=44100|22050|11025'];
  // Few bits a second are too many for a slow clock: libvorbis refuses them.
  if (codec === 'vorbis') return ['aformat=sample_rates=48000|44100'];
  if (codec === 'wmav2' || codec === 'mp2') return ['aformat=sample_rates=48000|44100|32000'];
  return [];
}
