import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/failure.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import { fitFilters } from './fit-picture.ts';
import { type PictureSize, closingFilters, openingFilters, shownSize } from './picture.ts';
import { type VideoStream, secondsOf } from './probe.ts';
import { transcode } from './transcode.ts';
import {
  type VideoEncoding,
  audioEncoderOptions,
  containers,
  exactRate,
  videoEncoderOptions,
} from './video-formats.ts';
import { type Video, isSeekable } from './write-video.ts';

export interface Merge {
  videos: readonly Video[];
  /** Even sides; videos of another shape get black borders. */
  size: PictureSize;
  fps: number;
  /** Seconds in which each video becomes the next; 0 for a cut. */
  crossfade: number;
  encoding: VideoEncoding;
  output: { type: 'mp4' | 'webm' | 'mkv'; path: string };
  scratch: string;
  signal: AbortSignal;
  onProgress: (percent: number) => void;
}

/** A stretch of one video, in frames of the result. */
interface Stretch {
  video: Video;
  from: number;
  frames: number;
}

/** A piece of the result: one stretch, or two that become each other. */
type Piece = readonly [Stretch] | readonly [Stretch, Stretch];

const sampleRate = 48_000;

/**
 * Joins videos of any size, rate and sound into one. Each piece is encoded once, on its own, in the very form of the
 * result, so that only a few files are open at a time; then the pieces are put together as they are.
 *
 * @throws Failure `invalid_input` for a video that is too short for the crossfade; as `transcode`.
 */
export async function mergeVideos(merge: Merge): Promise<void> {
  const { scratch, signal, onProgress, output } = merge;
  const pieces = await planPieces(merge);
  const hasSound = merge.videos.some(({ audios }) => audios.length > 0);
  const lengths = pieces.map(([{ frames }]) => frames);
  const total = lengths.reduce((sum, frames) => sum + frames, 0);
  const list: string[] = [];
  let done = 0;
  for (const [index, piece] of pieces.entries()) {
    signal.throwIfAborted();
    const name = `piece-${index}.nut`;
    const share = lengths[index] ?? 0;
    await writePiece(merge, piece, hasSound, join(scratch, name), (percent) =>
      onProgress(((done + (share * percent) / 100) / total) * 92),
    );
    done += share;
    list.push(`file ${name}`, `duration ${(share / merge.fps).toFixed(6)}`);
  }
  const listPath = join(scratch, 'pieces.ffconcat');
  await writeFile(listPath, ['ffconcat version 1.0', ...list, ''].join('\n'));
  const sound = { codec: containers[output.type].audio, bitRate: 192_000 };
  await transcode({
    inputs: [{ source: ['-f', 'concat', '-safe', '1', '-i', `file:${listPath}`] }],
    args: [
      ...['-map', '0:v', '-c:v', 'copy', ...(merge.encoding.codec === 'hevc' ? ['-tag:v', 'hvc1'] : [])],
      ...(hasSound ? ['-map', '0:a', ...audioEncoderOptions(0, sound, 2)] : []),
      ...(containers[output.type].options ?? []),
    ],
    output,
    expected: { durationSeconds: total / merge.fps, video: true, audioTracks: hasSound ? 1 : 0, size: merge.size },
    signal,
    onProgress: (percent) => onProgress(92 + percent * 0.08),
  });
}

async function planPieces({ videos, fps, crossfade, signal }: Merge): Promise<Piece[]> {
  const overlap = Math.round(crossfade * fps);
  const last = videos.length - 1;
  const pieces: Piece[] = [];
  for (const [index, video] of videos.entries()) {
    const frames = Math.max(1, Math.round((await secondsOf(video, [video.picture, ...video.audios], signal)) * fps));
    const [before, after] = [index === 0 ? 0 : overlap, index === last ? 0 : overlap];
    if (frames < before + after + 1) {
      const { filename } = video.file;
      const message = `"${filename}" is too short for crossfades of ${crossfade} seconds.`;
      throw new Failure('invalid_input', message, { file: filename });
    }
    pieces.push([{ video, from: before, frames: frames - before - after }]);
    const next = videos[index + 1];
    if (after > 0 && next !== undefined) {
      pieces.push([
        { video, from: frames - after, frames: after },
        { video: next, from: 0, frames: after },
      ]);
    }
  }
  return pieces;
}

async function writePiece(
  merge: Merge,
  piece: Piece,
  hasSound: boolean,
  path: string,
  onProgress: (percent: number) => void,
): Promise<void> {
  const seconds = piece[0].frames / merge.fps;
  const chains = piece.map((stretch, input) => chainsOf(merge, stretch, input, hasSound));
  const graph = [...chains.flatMap(({ filters }) => filters), ...(piece.length === 2 ? fading(seconds, hasSound) : [])];
  const suffix = piece.length === 2 ? '' : '0';
  await runFfmpeg({
    inputs: piece.map(({ video, from }) => ({
      source: video.file,
      options: isSeekable(video) && from > 0 ? ['-ss', (from / merge.fps).toFixed(6)] : [],
    })),
    args: [
      ...['-filter_complex', graph.join(';'), '-map', `[v${suffix}]`, ...videoEncoderOptions(merge.encoding)],
      // Each piece carries its own parameters, and no frame refers to one that is shown later: else times overlap at joints.
      ...['-flags:v', '-global_header', '-bf', '0', '-r', exactRate(merge.fps)],
      ...(hasSound ? ['-map', `[a${suffix}]`, '-c:a', 'pcm_s16le'] : []),
      ...['-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '4096'],
    ],
    output: { muxer: 'nut', path },
    durationSeconds: seconds,
    onProgress,
    signal: merge.signal,
  });
}

/** Brings one stretch to the size, the rate and the exact length it has in the result. */
function chainsOf(
  merge: Merge,
  { video, from, frames }: Stretch,
  input: number,
  hasSound: boolean,
): { filters: string[] } {
  const { fps, size } = merge;
  const { picture } = video;
  const [track] = video.audios;
  const start = isSeekable(video) ? 0 : from / fps;
  const shown = shownSize(picture);
  const rate = exactRate(fps);
  const pictures = [
    ...openingFilters(picture),
    `trim=start=${start.toFixed(6)}`,
    // Not from its own first frame: what begins later than the sound stays as far from it.
    `setpts=PTS-${start.toFixed(6)}/TB`,
    `fps=${rate}:start_time=0`,
    // Sound may outlast the picture: its last frame stays.
    `tpad=stop_mode=clone:stop_duration=${(frames / fps + 1).toFixed(6)}`,
    `trim=end_frame=${frames}`,
    `scale=${shown.width}:${shown.height}`,
    'setsar=1',
    ...fitFilters('pad', size),
    ...commonColors(picture),
    ...closingFilters(picture, { size }),
    'setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709',
  ];
  const seconds = (frames / fps).toFixed(6);
  const even = `aresample=${sampleRate}:async=1:first_pts=0,aformat=sample_fmts=s16:channel_layouts=stereo`;
  const sound =
    track === undefined
      ? `anullsrc=r=${sampleRate}:cl=stereo,aformat=sample_fmts=s16,atrim=end=${seconds}[a${input}]`
      : `[${input}:${track.index}]atrim=start=${start.toFixed(6)},asetpts=PTS-${start.toFixed(6)}/TB,${even},apad,atrim=end=${seconds}[a${input}]`;
  return { filters: [`[${input}:${picture.index}]${pictures.join(',')}[v${input}]`, ...(hasSound ? [sound] : [])] };
}

/** The matrix of HD television for all; a file that does not tell its own has that of its size. */
function commonColors({ isHdr, matrix, height }: VideoStream): string[] {
  // The tones of HDR are mapped to it anyway.
  if (isHdr) return [];
  const own = matrix === undefined ? (height >= 720 ? 'bt709' : 'bt601') : 'auto';
  return [`scale=in_color_matrix=${own}:out_color_matrix=bt709:out_range=tv`];
}

function fading(seconds: number, hasSound: boolean): string[] {
  const length = seconds.toFixed(6);
  const sound = [
    `[a0]afade=t=out:d=${length}:curve=qsin[out]`,
    `[a1]afade=t=in:d=${length}:curve=qsin[in]`,
    '[out][in]amix=normalize=0:duration=longest[a]',
  ];
  return [
    `[v0][v1]xfade=transition=fade:duration=${length}:offset=0,format=yuv420p,setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709[v]`,
    ...(hasSound ? sound : []),
  ];
}
