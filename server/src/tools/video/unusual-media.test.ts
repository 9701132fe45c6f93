import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { probed } from '../../../test/video-fixtures.ts';
import audioConverter from '../audio/audio-converter.ts';
import audioMerger from '../audio/audio-merger.ts';
import audioNormalizer from '../audio/audio-normalizer.ts';
import type { Tool } from '../define.ts';
import type { Fields } from '../settings.ts';
import hlsPackager from './hls-packager.ts';
import videoCompressor from './video-compressor.ts';
import videoConverter from './video-converter.ts';
import videoCropper from './video-cropper.ts';
import videoFrameExtractor from './video-frame-extractor.ts';
import videoMerger from './video-merger.ts';
import videoMuter from './video-muter.ts';
import videoResizer from './video-resizer.ts';
import videoSpeedChanger from './video-speed-changer.ts';
import videoStabilizer from './video-stabilizer.ts';
import videoToGifConverter from './video-to-gif-converter.ts';
import videoTrimmer from './video-trimmer.ts';

let directory: string;
const path = (name: string) => join(directory, name);

function ffmpeg(...args: string[]): void {
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
}

const picture = (seconds: number, size = '160x120') => ['-f', 'lavfi', '-i', `testsrc=s=${size}:r=25:d=${seconds}`];
const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=440:d=${seconds}`];
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  ffmpeg(...picture(4), ...tone(4), ...x264, '-c:a', 'aac', path('plain.mp4'));
  const streams = ['-i', path('plain.mp4'), '-itsoffset', '9', '-i', path('plain.mp4')];
  ffmpeg(...streams, '-map', '0:a', '-map', '1:v', '-c', 'copy', path('late-picture.mp4'));
  ffmpeg(...streams, '-map', '0:a', '-map', '1:v', '-c', 'copy', path('late-picture.mkv'));
  ffmpeg(...streams, '-map', '0:v', '-map', '1:a', '-c', 'copy', path('late-sound.mp4'));
  for (const name of ['late.mp4', 'late.mkv', 'late.ts']) {
    ffmpeg('-i', path('plain.mp4'), '-c', 'copy', '-output_ts_offset', '10', path(name));
  }
  const steps = "select='lt(n,30)+not(mod(n,7))'";
  ffmpeg(...picture(4), '-vf', steps, '-fps_mode', 'vfr', ...x264, path('steps.mkv'));
  // Matroska would still say 25 a second.
  ffmpeg('-i', path('steps.mkv'), '-c', 'copy', path('steps.mp4'));
}, 60_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

async function one<F extends Fields>(tool: Tool<F>, name: string, form: Record<string, string> = {}) {
  const run = await runTool(tool, [path(name)], form);
  const [output] = run.outputs;
  if (output === undefined) throw new Error('no output');
  return { ...run, ...output };
}

/** A copy of a file with other bytes from its middle on. */
async function damaged(name: string, damage: (bytes: Buffer, middle: number) => void): Promise<string> {
  const bytes = await readFile(path(name));
  damage(bytes, Math.floor(bytes.length / 2));
  await writeFile(path(`damaged-${name}`), bytes);
  return `damaged-${name}`;
}

function flipBit(bytes: Buffer, at: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
}

describe.concurrent('what lost a part in the middle is damaged', () => {
  test.each([
    ['long.ogg', 'libvorbis'],
    ['long.opus', 'libopus'],
  ])('one bit of %s', async (name, codec) => {
    ffmpeg(...tone(200), '-c:a', codec, '-b:a', '64k', path(name));
    await using whole = await one(audioConverter, name, { format: 'wav' });
    expect(probed(whole.path).seconds).toBeCloseTo(200, 1);
    const refusal = { code: 'invalid_input', message: /"damaged-long\.\w+" is damaged: .* checksum/ };
    const broken = await damaged(name, flipBit);
    await expect(one(audioConverter, broken, { format: 'wav' })).rejects.toMatchObject(refusal);
    const both = runTool(audioMerger, [path(name), path(broken)]);
    await expect(both).rejects.toMatchObject({ ...refusal, file: broken });
  });

  test('chunks of an AVI, clusters of a WebM, packets of a WMV', async () => {
    const length = 20;
    const made: [string, string[], number][] = [
      ['whole.avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame'], 4096],
      ['whole.webm', ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-c:a', 'libopus'], 4096],
      ['whole.wmv', ['-c:v', 'wmv2', '-c:a', 'wmav2'], 16_384],
    ];
    for (const [name, codecs, lost] of made) {
      ffmpeg(...picture(length), ...tone(length), ...codecs, path(name));
      await using whole = await one(videoMuter, name);
      expect(probed(whole.path).seconds).toBeCloseTo(length, 0);
      const broken = await damaged(name, (bytes, middle) => bytes.fill(0, middle, middle + lost));
      await expect(one(videoMuter, broken)).rejects.toMatchObject({ code: 'invalid_input', message: /is damaged/ });
    }
  });
});

describe.concurrent('streams that do not begin at 0', () => {
  test.each(['late.mp4', 'late.mkv', 'late.ts'])('keep their length: all of them in %s', async (name) => {
    for (const tool of [videoMuter, videoTrimmer, videoConverter] as Tool[]) {
      await using output = await one(tool, name);
      expect(probed(output.path).seconds).toBeCloseTo(4, 1);
    }
  });

  test.each(['late-picture.mp4', 'late-picture.mkv'])('keep their distance: the picture in %s', async (name) => {
    await using muted = await one(videoMuter, name);
    expect(probed(muted.path)).toMatchObject({ audio: [] });
    await using copied = await one(videoTrimmer, name);
    expect(probed(copied.path).seconds).toBeCloseTo(13, 1);
    await using faster = await one(videoSpeedChanger, name, { factor: '2' });
    expect(probed(faster.path).seconds).toBeCloseTo(6.5, 0);
    const before = one(videoTrimmer, name, { start: '1', duration: '2' });
    const refusal = { code: 'invalid_input', message: /no picture in that part: it begins at 9\.0/ };
    await expect(before).rejects.toMatchObject(refusal);
  });

  test('keep their distance: the sound', async () => {
    await using muted = await one(videoMuter, 'late-sound.mp4');
    expect(probed(muted.path).seconds).toBeCloseTo(4, 1);
    await using part = await one(videoTrimmer, 'late-sound.mp4', { start: '1', duration: '2' });
    expect(probed(part.path)).toMatchObject({ audio: [] });
    await using faster = await one(videoSpeedChanger, 'late-sound.mp4', { factor: '2' });
    expect(probed(faster.path).seconds).toBeCloseTo(6.5, 1);
    await using merged = await one(videoMerger, 'late-sound.mp4');
    const silence = ['-af', 'silencedetect=noise=-40dB', '-f', 'null', '-'];
    const heard = execFileSync('sh', ['-c', 'ffmpeg -i "$0" "$@" 2>&1', merged.path, ...silence]).toString();
    expect(Number(/silence_end: ([\d.]+)/.exec(heard)?.[1])).toBeCloseTo(9, 1);
    await using packed = await one(hlsPackager, 'late-sound.mp4');
    expect(packed.type).toBe('zip');
  });
});

test('what lasts longer than the picture is no damage', async () => {
  await writeFile(path('end.srt'), '1\n00:00:03,000 --> 00:00:09,000\nThe end\n');
  const copied = ['-map', '0:v', '-map', '1', '-c:v', 'copy', '-c:s', 'srt'];
  // Written to a pipe, a file has no lengths of streams; the length of the whole is put in by hand.
  ffmpeg('-i', path('plain.mp4'), '-i', path('end.srt'), ...copied, '-bitexact', path('subtitled.mkv'));
  const bytes = await readFile(path('subtitled.mkv'));
  const name = Buffer.from('DURATION');
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at)) bytes.write('ANYTHING', at);
  await writeFile(path('subtitled.mkv'), bytes);
  await using muted = await one(videoMuter, 'subtitled.mkv');
  expect(probed(muted.path).video?.codec_name).toBe('h264');
  // ASF tells one length for all, from the first beginning to the last end.
  const late = ['-i', path('plain.mp4'), '-itsoffset', '1', '-i', path('plain.mp4'), '-map', '0:v', '-map', '1:a'];
  ffmpeg(...late, '-c:v', 'wmv2', '-c:a', 'wmav2', path('late-sound.wmv'));
  await using converted = await one(videoConverter, 'late-sound.wmv', { preset: 'ultrafast' });
  expect(Math.abs(probed(converted.path).seconds - 5)).toBeLessThan(0.2);
});

test('a rate of frames gives as many in every format', async () => {
  const formats: Record<string, string[]> = {
    mp4: x264,
    mkv: [...x264, '-bf', '2'],
    flv: x264,
    ts: x264,
    avi: ['-c:v', 'mpeg4', '-bf', '2'],
    webm: ['-c:v', 'libvpx'],
    wmv: ['-c:v', 'wmv2'],
    mpg: ['-c:v', 'mpeg2video'],
  };
  for (const [extension, codec] of Object.entries(formats)) {
    ffmpeg(...picture(2), ...tone(2), ...codec, path(`two.${extension}`));
    for (const [fps, count] of [
      [1, 2],
      [2, 4],
    ] as const) {
      await using frames = await one(videoFrameExtractor, `two.${extension}`, { mode: 'fps', value: String(fps) });
      expect([extension, frames.outputs.length]).toEqual([extension, count]);
    }
  }
});

describe.concurrent('pictures of unusual kinds', () => {
  test('that come at no steady rate keep the last one, which others refer to', async () => {
    await using smaller = await one(videoResizer, 'steps.mp4', { width: '80' });
    expect(Number(probed(smaller.path).video?.duration)).toBeCloseTo(
      Number(probed(path('steps.mp4')).video?.duration),
      1,
    );
  });

  test('with odd sides are steadied', async () => {
    ffmpeg(...picture(1, '101x77'), '-c:v', 'ffv1', '-pix_fmt', 'yuv444p', path('odd.mkv'));
    await using steady = await one(videoStabilizer, 'odd.mkv');
    expect(probed(steady.path).video).toMatchObject({ width: 102, height: 78 });
  });

  test('with ten bits a channel become small', async () => {
    const x265 = [
      '-c:v',
      'libx265',
      '-preset',
      'ultrafast',
      '-x265-params',
      'log-level=none',
      '-pix_fmt',
      'yuv420p10le',
    ];
    ffmpeg(...picture(1), ...x265, path('deep.mp4'));
    await using small = await one(videoCropper, 'deep.mp4', { width: '48', height: '48', x: '0', y: '0' });
    expect(probed(small.path).video).toMatchObject({ codec_name: 'hevc', width: 48, pix_fmt: 'yuv420p' });
  });

  test('of a moment make an animation of one frame', async () => {
    ffmpeg(...picture(0.04), ...x264, path('moment.mp4'));
    await using gif = await one(videoToGifConverter, 'moment.mp4');
    expect(gif.type).toBe('gif');
  });

  test('are encoded in two passes where they begin after the sound', async () => {
    for (const name of ['begins.ts', 'begins.mkv']) {
      ffmpeg(...picture(4), ...tone(4), ...x264, '-crf', '1', '-c:a', 'aac', path(name));
      await using smaller = await one(videoCompressor, name, { mode: 'bitrate', video_bitrate_kbps: '50' });
      expect(probed(smaller.path).seconds).toBeCloseTo(4, 1);
    }
  });
});

test('subtitles keep their fonts, and one that is shown already does not delay a part', async () => {
  await writeFile(path('words.srt'), '1\n00:00:00,200 --> 00:00:03,000\nHello\n');
  await writeFile(path('font.ttf'), 'no font, but an attachment');
  const attached = ['-attach', path('font.ttf'), '-metadata:s:t', 'mimetype=application/x-truetype-font'];
  const inputs = [...picture(4), ...tone(4), '-i', path('words.srt')];
  ffmpeg(...inputs, ...x264, '-g', '25', '-c:a', 'aac', '-c:s', 'srt', ...attached, path('words.mkv'));
  const isAttached = async (file: string) => (await readFile(file)).includes('no font, but an attachment');
  for (const form of [{ start: '2.1' }, { start: '2.1', precise: 'true' }]) {
    await using part = await one(videoTrimmer, 'words.mkv', form);
    expect(probed(part.path).seconds).toBeCloseTo(2, 0);
    expect(await isAttached(part.path)).toBe(true);
  }
});

describe.concurrent('sound of unusual kinds', () => {
  test('without loss is kept in an MP4', async () => {
    ffmpeg(...picture(1), ...tone(1), ...x264, '-c:a', 'flac', path('flac.mkv'));
    await using smaller = await one(videoResizer, 'flac.mkv', { width: '80' });
    expect(probed(smaller.path).audio).toMatchObject([{ codec_name: 'flac' }]);
  });

  test('of 8 kHz keeps its length in MP3 and is read from one', async () => {
    ffmpeg(...tone(12), '-ar', '8000', path('slow.wav'));
    await using mp3 = await one(audioConverter, 'slow.wav');
    expect(Math.abs(probed(mp3.path).seconds - 12) / 12).toBeLessThan(0.01);
    ffmpeg(...tone(7), '-ar', '8000', path('slow.mp3'));
    await using louder = await one(audioNormalizer, 'slow.mp3');
    expect(louder.type).toBe('mp3');
  });

  test('of eight channels becomes Vorbis', async () => {
    ffmpeg(...tone(1), '-af', 'aformat=sample_rates=48000:channel_layouts=7.1', '-c:a', 'libopus', path('around.opus'));
    await using ogg = await one(audioConverter, 'around.opus', { format: 'ogg' });
    expect(probed(ogg.path).audio).toMatchObject([{ codec_name: 'vorbis', channels: 8 }]);
  });
});
