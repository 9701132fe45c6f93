import { Failure } from '../lib/failure.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { runProgram } from '../sandbox/program.ts';
import { debianVersion } from './debian-package.ts';
import type { Engine } from './engine.ts';
import type { NamedFile } from './image-failure.ts';

/** GPL: only ever a program of its own. */
export const ffmpeg: Engine = {
  id: 'ffmpeg',
  name: 'FFmpeg',
  license: 'GPL-2.0-or-later',
  install: 'apt-get install -y --no-install-recommends ffmpeg',
  async version() {
    const packaged = await debianVersion('ffmpeg', '/usr/bin/ffmpeg');
    if (packaged !== undefined) return packaged;
    const result = await runProgram('ffmpeg', ['-version'], { timeoutMs: 10_000 }).catch(() => undefined);
    return result === undefined ? undefined : /^ffmpeg version (\S+)/.exec(result.stdout)?.[1];
  },
};

/** A file on disk that FFmpeg shall read; an input of a tool is one. */
export interface MediaFile extends NamedFile {
  path: string;
}

/**
 * The demuxers a format may be read with. FFmpeg would else decide by content, and a playlist that is called a video
 * names other files to play.
 */
const demuxers: Partial<Record<FileTypeId, readonly [string, ...string[]]>> = {
  mp4: ['mov'],
  mov: ['mov'],
  '3gp': ['mov'],
  m4a: ['mov'],
  mkv: ['matroska'],
  webm: ['matroska'],
  avi: ['avi'],
  wmv: ['asf'],
  wma: ['asf'],
  flv: ['flv'],
  mpeg: ['mpeg', 'mpegvideo'],
  mpegts: ['mpegts'],
  ogv: ['ogg'],
  ogg: ['ogg'],
  opus: ['ogg'],
  mp3: ['mp3'],
  aac: ['aac'],
  wav: ['wav', 'w64'],
  flac: ['flac'],
  aiff: ['aiff'],
  amr: ['amr', 'amrnb', 'amrwb'],
  ac3: ['ac3', 'eac3'],
  gif: ['gif'],
  png: ['png_pipe'],
  jpeg: ['jpeg_pipe'],
  srt: ['srt'],
  vtt: ['webvtt'],
  ass: ['ass'],
  sub: ['microdvd', 'mpl2'],
};

/** Decoders refuse larger pictures: 8192 x 4320, the largest of the television standards. */
export const maxPixels = 8192 * 4320;
/** One allocation of FFmpeg, in bytes: a frame of that size with 16 bits a channel fits. */
const maxAllocation = 512 * 1024 * 1024;

/** How far a file is read for a stream that begins late, in bytes and in microseconds. */
export const lookAhead = ['-probesize', '20M', '-analyzeduration', '100M'];

/** The options that open a file as the format it shows, and nothing else through it. */
export function openOptions({ path, type }: Pick<MediaFile, 'path' | 'type'>): string[] {
  const allowed = demuxers[type];
  if (allowed === undefined) throw new Error(`no demuxer for ${type}`);
  // With one name there is nothing to guess.
  const format = allowed.length === 1 ? ['-f', allowed[0]] : [];
  return [...format, '-format_whitelist', allowed.join(','), '-protocol_whitelist', 'file,pipe', '-i', `file:${path}`];
}

export interface FfmpegInput {
  /** A file, or options ending in `-i` for what is no file (a generated source, raw video on standard input). */
  source: MediaFile | readonly string[];
  /** Options for this input, such as `-ss 10`. */
  options?: readonly string[];
}

export interface FfmpegRun {
  inputs: readonly FfmpegInput[];
  /** Everything between the inputs and the output: mapping, filters, codecs. */
  args: readonly string[];
  /** Where the result goes; `null` for a run that only looks. */
  output: { muxer: string; path: string } | null;
  /** How long the result will be, for the progress. */
  durationSeconds?: number | undefined;
  /** 0 to 100. */
  onProgress?: ((percent: number) => void) | undefined;
  /** Every line on standard output: `key=value` of the progress, and what `metadata=print:file=-` writes. */
  onLine?: (line: string) => void;
  /** `warning` unless told; filters that report at the end need `info`. */
  logLevel?: 'warning' | 'info';
  /** What the programs may need in the working directory. */
  cwd?: string;
  signal?: AbortSignal | undefined;
}

export interface FfmpegResult {
  /** Seconds of output that were written, as FFmpeg counts them. */
  seconds: number;
  /** The last 4,000 characters of what it said. */
  log: string;
  /** It had to leave out bytes of an input to find its way again: there may be a hole. */
  skipped: boolean;
}

/** Input options that jump to a moment. None for the beginning: a Flash video without an index cannot be sought, not even to 0. */
export function seekTo(seconds: number): string[] {
  return seconds === 0 ? [] : ['-ss', seconds.toFixed(6)];
}

/**
 * Runs FFmpeg. That it ends well says little: `checkOutput` looks at what came out.
 *
 * @throws Failure `invalid_input` for a damaged input, `resource_limit` for one that is too large, `engine_failed`.
 */
export async function runFfmpeg(run: FfmpegRun): Promise<FfmpegResult> {
  let seconds = 0;
  let skipped = false;
  let hasBrokenPage = false;
  const onErrorLine = (line: string) => {
    skipped ||= skips.test(line);
    hasBrokenPage ||= brokenPage.test(line);
  };
  const onLine = (line: string) => {
    run.onLine?.(line);
    const microseconds = /^out_time_us=(\d+)$/.exec(line)?.[1];
    if (microseconds === undefined) return;
    seconds = Number(microseconds) / 1_000_000;
    if (run.durationSeconds !== undefined && run.durationSeconds > 0)
      run.onProgress?.(Math.min(100, (seconds / run.durationSeconds) * 100));
  };
  const args = [
    ...['-nostdin', '-hide_banner', '-nostats', '-y', '-v', run.logLevel ?? 'warning'],
    ...['-progress', 'pipe:1', '-stats_period', '0.3', '-max_alloc', String(maxAllocation)],
    ...['-filter_threads', '2', '-filter_complex_threads', '2'],
    ...run.inputs.flatMap(inputOptions),
    ...run.args,
    ...(run.output === null ? ['-f', 'null', '-'] : ['-f', run.output.muxer, `file:${run.output.path}`]),
  ];
  const programOptions = {
    onLine,
    onErrorLine,
    ...(run.signal === undefined ? {} : { signal: run.signal }),
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
  };
  const files = run.inputs.flatMap(({ source }) => ('path' in source ? [source] : []));
  const { stderrTail } = await runProgram('ffmpeg', args, programOptions).catch((error: unknown) => {
    throw mediaFailure(error, files);
  });
  if (hasBrokenPage) throw await pageFailure(run, files, stderrTail);
  return { seconds, log: stderrTail, skipped };
}

/** Every page of an Ogg file has a checksum; FFmpeg leaves out what does not match and closes the gap. */
const brokenPage = /^\[ogg @ \S+\] CRC mismatch/;
/** What the readers of Matroska, Flash video and ASF say where the structure of a file breaks off. */
const skips =
  /^\[(matroska,webm|flv|asf) @ \S+\] .*(EBML number|exceeds containing master|Packet mismatch|invalid|skip|bad header)/;

/** Names the file with the broken page: of several, the one that shows it when it is read alone. */
async function pageFailure({ signal }: FfmpegRun, files: readonly MediaFile[], log: string): Promise<unknown> {
  const pages = files.filter(({ type }) => demuxers[type]?.[0] === 'ogg');
  for (const source of pages.length > 1 ? pages : []) {
    const reading = runFfmpeg({ inputs: [{ source }], args: ['-map', '0', '-c', 'copy'], output: null, signal });
    const failure: unknown = await reading.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure !== undefined) return failure;
  }
  const [{ filename: file } = { filename: 'The file' }] = pages;
  return new Failure('invalid_input', `"${file}" is damaged: a part of it does not match its checksum.`, { file, log });
}

function inputOptions({ source, options = [] }: FfmpegInput): string[] {
  if (!('path' in source)) return [...options, ...source];
  return ['-threads', '2', '-max_pixels', String(maxPixels), ...lookAhead, ...options, ...openOptions(source)];
}

const unreadable =
  /moov atom not found|Invalid data found when processing input|EBML header parsing failed|Header missing|End of file|partial file|File ended prematurely|[Cc]ould not find codec parameters|Error reading header|not on whitelist|Too many bits|maximum error rate/;
const unknownCodec =
  /Decoder \(codec \S+\) not found|Could not find tag for codec|Unknown decoder|not currently supported/;
const tooLarge = /Cannot allocate memory|Picture size \S+ is invalid|exceeds? max_pixels|SIGXFSZ/;

/** A failure of FFmpeg in words about the file: what the program said decides whose fault it is. */
export function mediaFailure(error: unknown, files: readonly MediaFile[]): unknown {
  if (!(error instanceof Failure) || error.code !== 'engine_failed') return error;
  const log = `${error.message} ${error.log ?? ''}`;
  const file = (files.find(({ path }) => log.includes(path)) ?? files[0])?.filename;
  if (file === undefined) return error;
  if (tooLarge.test(log))
    return new Failure('resource_limit', `"${file}" needs more memory or disk than a run may use.`, { file, log });
  if (unknownCodec.test(log))
    return new Failure('invalid_input', `"${file}" uses a codec that cannot be read here.`, { file, log });
  if (unreadable.test(log))
    return new Failure('invalid_input', `"${file}" cannot be read: it is damaged or cut short.`, { file, log });
  return new Failure('engine_failed', `"${file}" could not be processed.`, { file, log });
}
