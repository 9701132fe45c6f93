import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FfmpegInput, type MediaFile, runFfmpeg } from '../ffmpeg.ts';
import type { WrittenAudioType } from './audio-formats.ts';
import type { Media, MediaStream } from './probe.ts';

/** What a cover adds to a run of FFmpeg. */
interface CoverOptions {
  inputs: FfmpegInput[];
  args: string[];
}

interface CoverJob {
  sound: Media;
  output: { type: WrittenAudioType };
  scratch: string;
  signal: AbortSignal;
}

/** Codecs of pictures that players show as a cover. */
const coverCodecs: Readonly<Record<string, 'image/jpeg' | 'image/png'>> = { mjpeg: 'image/jpeg', png: 'image/png' };
/** Formats that hold a picture as a stream. */
const asStream: readonly WrittenAudioType[] = ['mp3', 'm4a', 'flac', 'aiff'];
/** Larger ones are left out of Ogg, where they are text among the tags. */
const maxBlockBytes = 16 * 1024 * 1024;

/** The options that keep a file's own cover. */
export async function coverOptions(job: CoverJob): Promise<CoverOptions> {
  const { sound, output, scratch, signal } = job;
  const cover = sound.covers.find(({ codec }) => coverCodecs[codec] !== undefined);
  if (cover === undefined) return { inputs: [], args: [] };
  if (asStream.includes(output.type)) return { inputs: [], args: streamArgs(`0:${cover.index}`) };
  if (output.type !== 'ogg' && output.type !== 'opus') return { inputs: [], args: [] };
  const path = join(scratch, 'cover');
  await extractCover(sound, cover, path, signal);
  return blockOptions(path, coverCodecs[cover.codec] ?? 'image/jpeg', scratch);
}

/** The options that give a file another cover. The picture is the second input. */
export function newCoverOptions(
  picture: MediaFile,
  type: WrittenAudioType,
  scratch: string,
): Promise<CoverOptions> | CoverOptions {
  if (type === 'ogg' || type === 'opus') {
    return blockOptions(picture.path, picture.type === 'png' ? 'image/png' : 'image/jpeg', scratch);
  }
  return { inputs: [{ source: picture }], args: streamArgs('1:0') };
}

function streamArgs(stream: string): string[] {
  return [
    '-map',
    stream,
    '-c:v',
    'copy',
    '-disposition:v:0',
    'attached_pic',
    '-metadata:s:v:0',
    'comment=Cover (front)',
  ];
}

async function extractCover({ file }: Media, { index }: MediaStream, path: string, signal: AbortSignal): Promise<void> {
  await runFfmpeg({
    inputs: [{ source: file }],
    args: ['-map', `0:${index}`, '-c', 'copy', '-frames:v', '1'],
    output: { muxer: 'image2pipe', path },
    signal,
  });
}

/** FFmpeg writes no pictures to Ogg; there one is a tag, the block that FLAC has for pictures in Base64. */
async function blockOptions(path: string, mediaType: string, scratch: string): Promise<CoverOptions> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size === 0 || size > maxBlockBytes) return { inputs: [], args: [] };
  const block = pictureBlock(await readFile(path), mediaType)
    .toString('base64')
    .replaceAll('=', '\\=');
  const tags = join(scratch, 'cover.ffmetadata');
  await writeFile(tags, `;FFMETADATA1\nMETADATA_BLOCK_PICTURE=${block}\n`);
  return {
    inputs: [{ source: ['-f', 'ffmetadata', '-protocol_whitelist', 'file', '-i', `file:${tags}`] }],
    args: ['-map_metadata:s:a:0', '1'],
  };
}

const frontCover = 3;

/** A picture block as FLAC defines it; width, height and depth may be 0, for unknown. */
function pictureBlock(picture: Buffer, mediaType: string): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const type = Buffer.from(mediaType, 'latin1');
  const unknown = Buffer.alloc(4 * 4);
  return Buffer.concat([
    number(frontCover),
    ...[number(type.length), type],
    number(0), // An empty description.
    ...[unknown, number(picture.length), picture],
  ]);
}
