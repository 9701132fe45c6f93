import { stat } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import { type FileTypeId, fileTypes } from '../../lib/media-types.ts';
import { type FfmpegResult, type FfmpegRun, type MediaFile, runFfmpeg } from '../ffmpeg.ts';
import { assertNoHole } from './holes.ts';
import { cutShort, measureSeconds, probe, secondsOf, type Media, type MediaStream } from './probe.ts';

/** What must come out of a run. */
export interface Expected {
  /** Seconds; undefined where only looking at the result can tell. */
  durationSeconds: number | undefined;
  /** Seconds before the first stream begins, which some formats keep and others leave out; 0 unless told. */
  leadSeconds?: number;
  /** Copied streams begin at the key frame before the one that was asked for: longer is no mistake. */
  mayBeLonger?: boolean;
  /** Seconds of the picture alone, where they are known. */
  videoSeconds?: number | undefined;
  /** Whether there is a picture, and how many tracks of sound. */
  video: boolean;
  audioTracks: number;
  /** Of the picture, in pixels. */
  size?: { width: number; height: number };
}

export interface Transcode extends Omit<FfmpegRun, 'output'> {
  /** The files the result is made of; failures name the first. */
  inputs: readonly (FfmpegRun['inputs'][number] & { source: MediaFile | readonly string[] })[];
  output: { type: FileTypeId; path: string };
  expected: Expected;
}

/** How FFmpeg calls what writes a format. */
export const muxers: Partial<Record<FileTypeId, string>> = {
  mp4: 'mp4',
  mov: 'mov',
  mkv: 'matroska',
  webm: 'webm',
  avi: 'avi',
  wmv: 'asf',
  flv: 'flv',
  mpeg: 'vob',
  mpegts: 'mpegts',
  '3gp': '3gp',
  ogv: 'ogg',
  mp3: 'mp3',
  m4a: 'ipod',
  aac: 'adts',
  wav: 'wav',
  flac: 'flac',
  ogg: 'ogg',
  opus: 'opus',
  aiff: 'aiff',
  wma: 'asf',
  amr: 'amr',
  ac3: 'ac3',
};

/**
 * Runs FFmpeg into one media file, then opens the file and compares: a damaged input ends early, and FFmpeg calls that a
 * success.
 *
 * @throws Failure as `runFfmpeg`; `invalid_input` for an input that ends before its own length or has a hole;
 * `engine_failed` for a result that is not what was asked for.
 */
export async function transcode(run: Transcode): Promise<Media> {
  const { type, path } = run.output;
  const muxer = muxers[type];
  if (muxer === undefined) throw new Error(`no muxer for ${type}`);
  const { durationSeconds } = run.expected;
  const result = await runFfmpeg({ durationSeconds, ...run, output: { muxer, path } });
  const written = await checkOutput(run, result);
  for (const { source } of run.inputs) {
    if ('path' in source) await assertNoHole(source, result.skipped, run.signal);
  }
  return written;
}

async function checkOutput({ inputs, output, expected, signal }: Transcode, { log }: FfmpegResult): Promise<Media> {
  const first = inputs.map(({ source }) => source).find((source) => 'path' in source);
  const file = first?.filename;
  const name = file === undefined ? 'The result' : `"${file}"`;
  const wrong = (what: string) =>
    new Failure('engine_failed', `${name} could not be processed.`, { file, log: `${what}\n${log}` });

  const { size: bytes } = await stat(output.path).catch(() => ({ size: 0 }));
  if (bytes === 0) throw wrong('nothing was written');
  const written = await probe({ path: output.path, type: output.type, filename: file ?? 'result' }, signal).catch(
    (error: unknown) => {
      signal?.throwIfAborted();
      throw wrong(`the ${fileTypes[output.type].name} cannot be opened: ${String(error)}`);
    },
  );
  if (expected.video && written.videos.length === 0) throw wrong('the result has no picture');
  if (written.audios.length < expected.audioTracks) {
    throw wrong(`${written.audios.length} of ${expected.audioTracks} tracks of sound`);
  }
  const [picture] = written.videos;
  const { size: wanted } = expected;
  if (wanted !== undefined && (picture?.width !== wanted.width || picture.height !== wanted.height)) {
    throw wrong(`${picture?.width} x ${picture?.height} instead of ${wanted.width} x ${wanted.height} pixels`);
  }
  const played = [...written.videos, ...written.audios];
  // Subtitles may outlast what they belong to.
  const writtenSeconds =
    written.subtitles.length === 0 ? written.durationSeconds : await secondsOf(written, played, signal);
  const lengths: [number | undefined, number | undefined, MediaStream[]][] = [
    [expected.durationSeconds, writtenSeconds, played],
    [expected.videoSeconds, picture?.durationSeconds, written.videos.slice(0, 1)],
  ];
  for (const [seconds, told, streams] of lengths) {
    if (seconds === undefined || told === undefined) continue;
    // A program stream states no length: what is told of it is an estimate, and reading all of it decides.
    const isShort = seconds - told > tolerance(seconds, written);
    const got = isShort ? Math.max(told, await measureSeconds(written.file, streams, signal)) : told;
    // Headers understate now and then, and nothing is lost by more than they say; by much more, something went wrong.
    const longest = (Math.max(seconds, expected.durationSeconds ?? 0) + (expected.leadSeconds ?? 0)) * 1.1 + 2;
    if (got > longest && expected.mayBeLonger !== true) throw wrong(`${got} instead of ${seconds} seconds`);
    if (seconds - got <= tolerance(seconds, written)) continue;
    if (first === undefined) throw wrong(`${got} instead of ${seconds} seconds`);
    throw cutShort({ file: first, durationSeconds: seconds }, got);
  }
  return written;
}

/** One per cent or a tenth of a second, and two frames: the last one's length is seldom told. */
function tolerance(seconds: number, { videos: [video] }: Media): number {
  return Math.max(0.1, seconds / 100) + 2 / Math.max(video?.fps ?? 25, 1);
}
