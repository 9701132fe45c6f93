import type { FileTypeId } from '../lib/media-types.ts';
import { type ContentSample, latin1 } from './content-sample.ts';

/** Sound and film without a container or a clear mark: only a row of whole frames that fit each other is believed. */
export function mediaFrames(sample: ContentSample): FileTypeId | undefined {
  const { head } = sample;
  if (latin1(head, 0, 3) === 'ID3') return behindTag(head);
  const start = head.findIndex((byte) => byte !== 0); // Some encoders begin with silence of no format at all.
  return start < 0 ? undefined : (audioFrames(head, start) ?? transportStream(sample));
}

/** An ID3 tag may stand before FLAC or AAC too; behind a picture too large for the sample it is taken for MP3. */
function behindTag(head: Buffer): FileTypeId | undefined {
  if (head.length < 10 || head.subarray(6, 10).some((byte) => byte > 0x7f)) return undefined;
  const length = head.subarray(6, 10).reduce((sum, byte) => sum * 128 + byte, 0);
  let at = 10 + length;
  while (at < head.length && head[at] === 0) at++;
  if (latin1(head, at, at + 4) === 'fLaC') return 'flac';
  return audioFrames(head, at) ?? 'mp3';
}

/** Frames in a row that must fit; fewer only when the file ends before. */
const framesJudged = 3;

function audioFrames(head: Buffer, start: number): FileTypeId | undefined {
  if (isRow(head, start, mpegAudioFrame)) return 'mp3';
  if (isRow(head, start, adtsFrame)) return 'aac';
  return isRow(head, start, ac3Frame) ? 'ac3' : undefined;
}

interface Frame {
  /** In bytes, the header included. */
  length: number;
  /** What all frames of a stream have in common. */
  kind: string;
}

function isRow(bytes: Buffer, start: number, read: (bytes: Buffer, at: number) => Frame | undefined): boolean {
  const first = read(bytes, start);
  let at = start;
  for (let n = 0; n < framesJudged; n++) {
    const frame = read(bytes, at);
    if (frame === undefined || frame.kind !== first?.kind) return false;
    at += frame.length;
    if (at === bytes.length) return true;
    if (at > bytes.length) return n > 0;
  }
  return true;
}

const mpegBitRates = {
  '1-1': [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1-2': [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1-3': [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2-1': [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2-2': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  '2-3': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const mpegSampleRates = [44100, 48000, 32000];

/** A frame of MPEG-1, -2 or -2.5 audio, layer I to III. */
function mpegAudioFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(at);
  if (header >>> 21 !== 0x7ff) return undefined;
  const version = (header >>> 19) & 3;
  const layer = 4 - ((header >>> 17) & 3);
  const rate = mpegSampleRates[(header >>> 10) & 3];
  if (version === 1 || layer === 4 || rate === undefined) return undefined;
  const sampleRate = rate / [4, 1, 2, 1][version]!;
  const first = version === 3;
  const bitRate = mpegBitRates[`${first ? 1 : 2}-${layer as 1 | 2 | 3}`][((header >>> 12) & 15) - 1];
  if (bitRate === undefined) return undefined;
  const padding = (header >>> 9) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && !first ? 576 : 1152;
  const slot = layer === 1 ? 4 : 1;
  const length = (Math.floor(((samples / 8 / slot) * bitRate * 1000) / sampleRate) + padding) * slot;
  return { length, kind: `${version} ${layer} ${sampleRate}` };
}

/** A frame of AAC in ADTS. */
function adtsFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 7 > bytes.length || (bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return undefined;
  const length = ((bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff) >>> 0;
  const rate = ((bytes[at + 2] ?? 0) >> 2) & 15;
  return rate > 12 || length <= 7 ? undefined : { length, kind: `${bytes[at + 1]} ${rate}` };
}

const ac3BitRates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];

/** A frame of AC-3, or of E-AC-3, which says its length itself. */
function ac3Frame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 6 > bytes.length || bytes.readUInt16BE(at) !== 0x0b77) return undefined;
  const version = (bytes[at + 5] ?? 0) >> 3;
  if (version > 10) {
    const length = ((bytes.readUInt16BE(at + 2) & 0x7ff) + 1) * 2;
    return version > 16 ? undefined : { length, kind: 'e-ac-3' };
  }
  const code = bytes[at + 4] ?? 0;
  const rate = code >> 6;
  const bitRate = ac3BitRates[(code & 63) >> 1];
  if (bitRate === undefined || rate === 3) return undefined;
  const words = rate === 0 ? bitRate * 2 : rate === 2 ? bitRate * 3 : Math.floor((bitRate * 320) / 147) + (code & 1);
  return { length: words * 2, kind: `ac-3 ${rate}` };
}

/** Packet lengths of a transport stream: plain, with a time code before each (M2TS), with error correction behind. */
const packetLengths = [188, 192, 204];
const packetsJudged = 8;
const fewestPackets = 3;

/** A transport stream: every packet begins with 0x47. A recording may begin inside one, a tiny file is whole packets. */
function transportStream({ head, size }: ContentSample): FileTypeId | undefined {
  const isOne = packetLengths.some((length) => {
    if (head.length < length * (packetsJudged + 1)) {
      const packets = size / length;
      const offset = length === 192 ? 4 : 0;
      return Number.isInteger(packets) && packets >= fewestPackets && holdsSync(head, offset, length, packets);
    }
    const offsets = Array.from({ length }, (_, offset) => offset);
    return offsets.some((offset) => holdsSync(head, offset, length, packetsJudged));
  });
  return isOne ? 'mpegts' : undefined;
}

function holdsSync(head: Buffer, start: number, length: number, packets: number): boolean {
  for (let n = 0; n < packets; n++) if (head[start + n * length] !== 0x47) return false;
  return true;
}
