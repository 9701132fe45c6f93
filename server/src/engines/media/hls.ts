import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/failure.ts';
import type { ArchiveEntry } from '../archive-entry.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import { type PictureSize, closingFilters, evenSize, openingFilters, shownSize } from './picture.ts';
import { secondsOf } from './probe.ts';
import type { Video } from './write-video.ts';

export interface HlsJob {
  video: Video;
  /** Lengths of the shorter side in pixels; larger ones than the video's own are left out. */
  renditions: readonly number[];
  segmentSeconds: number;
  encrypt: boolean;
  /** Empty; receives the package. */
  directory: string;
  signal: AbortSignal;
  onProgress: (percent: number) => void;
}

interface Rendition {
  name: string;
  size: PictureSize;
}

const keyName = 'encryption.key';

/**
 * Makes an HLS package: `master.m3u8`, and a directory of segments with a playlist for each rendition (H.264 and AAC).
 * With `encrypt` the segments are encrypted (AES-128), and the key lies beside the master playlist.
 *
 * @returns its files, with names relative to the package.
 * @throws Failure as `runFfmpeg`; `invalid_input` for an input that ends before its own length.
 */
export async function writeHls(job: HlsJob): Promise<ArchiveEntry[]> {
  const { video, directory, signal, onProgress } = job;
  const renditions = planned(job);
  for (const { name } of renditions) await mkdir(join(directory, name), { recursive: true });
  const [track] = video.audios;
  // Playlists count the picture; sound that goes on belongs to the last segment.
  const seconds = await secondsOf(video, [video.picture], signal);
  const { log } = await runFfmpeg({
    inputs: [{ source: video.file }],
    args: [
      ...['-filter_complex', filterGraph(video, renditions)],
      ...renditions.flatMap((rendition, number) => streamOptions(job, rendition, number)),
      ...['-force_key_frames', `expr:gte(t,n_forced*${job.segmentSeconds})`, '-sc_threshold', '0'],
      ...[
        '-var_stream_map',
        renditions.map(({ name }, n) => `v:${n}${track === undefined ? '' : `,a:${n}`},name:${name}`).join(' '),
      ],
      ...['-hls_time', String(job.segmentSeconds), '-hls_playlist_type', 'vod', '-hls_flags', 'independent_segments'],
      ...['-hls_segment_filename', join(directory, '%v', 'segment-%05d.ts'), '-master_pl_name', 'master.m3u8'],
      ...(job.encrypt ? ['-hls_key_info_file', await writeKey(directory)] : []),
      ...['-max_muxing_queue_size', '4096'],
    ],
    output: { muxer: 'hls', path: join(directory, '%v', 'index.m3u8') },
    durationSeconds: seconds,
    onProgress,
    signal,
  });
  await checkPackage(job, renditions, seconds, log);
  return listed(directory);
}

function planned({ video, renditions }: HlsJob): Rendition[] {
  const shown = shownSize(video.picture);
  const shorter = Math.min(shown.width, shown.height);
  const sides = [...new Set(renditions)].filter((side) => side <= shorter).toSorted((a, b) => b - a);
  return (sides.length > 0 ? sides : [shorter]).map((side) => ({
    name: `${side}p`,
    size: evenSize({ width: (shown.width * side) / shorter, height: (shown.height * side) / shorter }),
  }));
}

function filterGraph({ picture }: Video, renditions: readonly Rendition[]): string {
  const branches = renditions.map((_, number) => `[branch${number}]`).join('');
  const split = [...openingFilters(picture), `split=${renditions.length}${branches}`].join(',');
  const finished = renditions.map(
    ({ size }, n) => `[branch${n}]${closingFilters(picture, { size }).join(',')}[picture${n}]`,
  );
  return [`[0:${picture.index}]${split}`, ...finished].join(';');
}

/** What H.264 needs for a picture of so many pixels at most, in bits a second: 5 million for 1920 x 1080. */
function highestRate({ width, height }: PictureSize): number {
  return Math.max(200_000, Math.round(5_000_000 * ((width * height) / (1920 * 1080)) ** 0.75));
}

function streamOptions({ video }: HlsJob, { size }: Rendition, number: number): string[] {
  const [track] = video.audios;
  const rate = highestRate(size);
  return [
    ...['-map', `[picture${number}]`, `-c:v:${number}`, 'libx264', `-preset:v:${number}`, 'veryfast'],
    ...[`-crf:v:${number}`, '22', `-maxrate:v:${number}`, String(rate), `-bufsize:v:${number}`, String(rate * 2)],
    ...[`-threads:v:${number}`, '2'],
    ...(track === undefined
      ? []
      : ['-map', `0:${track.index}`, `-c:a:${number}`, 'aac', `-b:a:${number}`, '128k', `-ac:a:${number}`, '2']),
  ];
}

async function writeKey(directory: string): Promise<string> {
  const keyPath = join(directory, keyName);
  await writeFile(keyPath, randomBytes(16));
  const description = join(directory, '..', 'key-info');
  // Where players find it from the playlist of a rendition, where FFmpeg finds it, and the initialization vector.
  await writeFile(description, `../${keyName}\n${keyPath}\n${randomBytes(16).toString('hex')}\n`);
  return description;
}

async function checkPackage(
  { video, directory }: HlsJob,
  renditions: readonly Rendition[],
  seconds: number,
  log: string,
): Promise<void> {
  const { filename } = video.file;
  const master = await readFile(join(directory, 'master.m3u8'), 'utf8').catch(() => '');
  for (const { name } of renditions) {
    const playlist = await readFile(join(directory, name, 'index.m3u8'), 'utf8').catch(() => '');
    if (!master.includes(`${name}/index.m3u8`) || !playlist.includes('#EXT-X-ENDLIST')) {
      throw new Failure('engine_failed', `"${filename}" could not be packaged.`, { file: filename, log });
    }
    const lengths = [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].map(([, length]) => Number(length));
    const total = lengths.reduce((sum, length) => sum + length, 0);
    if (seconds - total <= Math.max(0.3, seconds / 100)) continue;
    const message = `"${filename}" is damaged or cut short: only ${total.toFixed(1)} of ${seconds.toFixed(1)} seconds can be read.`;
    throw new Failure('invalid_input', message, { file: filename, log });
  }
}

async function listed(directory: string): Promise<ArchiveEntry[]> {
  const names = (await readdir(directory, { recursive: true })).toSorted();
  const entries = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      const found = await stat(path);
      return found.isFile() ? [{ name, path, sizeBytes: found.size }] : [];
    }),
  );
  return entries.flat();
}
