import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

function run(program: 'ffmpeg' | 'ffprobe', args: readonly string[]): Buffer {
  return execFileSync(program, ['-v', 'error', ...args], { maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Red on the left, blue on the right, with a tone; a key frame every ten. */
const halves = [
  ...['-f', 'lavfi', '-i', 'color=red:s=80x120:r=25:d=2[l];color=blue:s=80x120:r=25:d=2[r];[l][r]hstack'],
  ...['-f', 'lavfi', '-i', 'sine=440:d=2'],
];
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];

const recipes = {
  'plain.mp4': [...halves, ...x264, '-movflags', '+faststart'],
  'noisy.mp4': [
    ...['-f', 'lavfi', '-i', 'testsrc2=s=160x120:r=25:d=2,noise=alls=40:allf=t', '-f', 'lavfi', '-i', 'sine=440:d=2'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '8', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '192k'],
  ],
  'silent.mkv': [...halves.slice(0, 4), '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
  'wide-pixels.avi': [...halves, '-vf', 'setsar=2', '-c:v', 'mpeg4', '-c:a', 'libmp3lame'],
  'sound.mp4': ['-f', 'lavfi', '-i', 'sine=440:d=1', '-c:a', 'aac', '-f', 'mp4', '-brand', 'isom'],
  'bars.webm': [
    ...['-f', 'lavfi', '-i', 'color=green:s=96x96:r=10:d=1,pad=160:96:32:0', '-f', 'lavfi', '-i', 'sine=880:d=1'],
    ...['-c:v', 'libvpx', '-b:v', '200k', '-c:a', 'libopus'],
  ],
} satisfies Record<string, string[]>;

type Name = keyof typeof recipes | 'tracks.mkv' | 'cut.mp4' | 'no-index.mp4' | 'hdr.mov';

/** Small videos, each with something of its own; paths by name. */
export async function makeVideos(directory: string): Promise<Record<Name, string>> {
  const path = (name: string) => join(directory, name);
  for (const [name, args] of Object.entries(recipes)) run('ffmpeg', ['-y', ...args, path(name)]);
  await writeFile(path('words.srt'), '1\n00:00:00,200 --> 00:00:00,900\nHello\n');
  run('ffmpeg', [
    ...['-y', '-f', 'lavfi', '-i', 'testsrc2=s=161x121:r=30000/1001:d=1', '-f', 'lavfi'],
    ...[
      '-i',
      'sine=440:d=1,aformat=channel_layouts=5.1(side)',
      '-f',
      'lavfi',
      '-i',
      'sine=880:d=1',
      '-i',
      path('words.srt'),
    ],
    ...['-map', '0', '-map', '1', '-map', '2', '-map', '3', '-c:v', 'libx264', '-preset', 'ultrafast'],
    ...['-pix_fmt', 'yuv444p10le', '-c:a', 'ac3', '-metadata:s:a:0', 'language=deu', path('tracks.mkv')],
  ]);
  run('ffmpeg', [
    ...['-y', '-f', 'lavfi', '-i', 'testsrc2=s=160x120:r=25:d=1', '-c:v', 'libx265', '-preset', 'ultrafast'],
    ...['-x265-params', 'log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc'],
    ...['-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1', path('hdr.mov')],
  ]);
  const whole = await readFile(path('noisy.mp4'));
  run('ffmpeg', ['-y', '-i', path('noisy.mp4'), '-c', 'copy', '-movflags', '+faststart', path('whole.mp4')]);
  const indexed = await readFile(path('whole.mp4'));
  await writeFile(path('cut.mp4'), indexed.subarray(0, Math.floor(indexed.length * 0.6)));
  await writeFile(path('no-index.mp4'), whole.subarray(0, Math.floor(whole.length * 0.6)));
  const names = [...Object.keys(recipes), 'tracks.mkv', 'cut.mp4', 'no-index.mp4', 'hdr.mov'];
  return Object.fromEntries(names.map((name) => [name, path(name)])) as Record<Name, string>;
}

interface Stream {
  codec_type: string;
  codec_name: string;
  codec_tag_string: string;
  width?: number;
  height?: number;
  sample_aspect_ratio?: string;
  pix_fmt?: string;
  channels?: number;
  color_transfer?: string;
  avg_frame_rate: string;
  duration?: string;
  side_data_list?: { rotation?: number }[];
}

/** What ffprobe says of a file. */
export function probed(path: string): {
  seconds: number;
  video: Stream | undefined;
  audio: Stream[];
  subtitles: Stream[];
} {
  const { streams, format } = JSON.parse(
    run('ffprobe', ['-of', 'json', '-show_streams', '-show_format', path]).toString(),
  ) as { streams: Stream[]; format: { duration: string } };
  const of = (type: string) => streams.filter(({ codec_type }) => codec_type === type);
  return { seconds: Number(format.duration), video: of('video')[0], audio: of('audio'), subtitles: of('subtitle') };
}

/** The colour in the middle of a box at a moment, as it is shown: red, green and blue from 0 to 255. */
export function pixelAt(path: string, seconds: number, x: number, y: number): [number, number, number] {
  const filters = `crop=1:1:${x}:${y}:exact=1,format=rgb24`;
  const bytes = run('ffmpeg', [
    '-ss',
    String(seconds),
    '-i',
    path,
    '-frames:v',
    '1',
    '-vf',
    `format=rgb24,${filters}`,
    '-f',
    'rawvideo',
    '-',
  ]);
  return [bytes[0] ?? 0, bytes[1] ?? 0, bytes[2] ?? 0];
}

/** Whether everything can be decoded without a complaint. */
export function complaints(path: string): string {
  return execFileSync('sh', ['-c', 'ffmpeg -v error -i "$1" -f null - 2>&1', 'sh', path]).toString();
}
