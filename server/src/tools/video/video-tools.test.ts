import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probe } from '../../engines/media/probe.ts';
import { runTool } from '../../../test/run-tool.ts';
import { complaints, makeVideos, pixelAt, probed } from '../../../test/video-fixtures.ts';
import type { Tool } from '../define.ts';
import type { Fields } from '../settings.ts';
import audioExtractor from './audio-extractor.ts';
import hlsPackager from './hls-packager.ts';
import slideshowMaker from './slideshow-maker.ts';
import videoCompressor from './video-compressor.ts';
import videoConverter from './video-converter.ts';
import videoCropper from './video-cropper.ts';
import videoFrameExtractor from './video-frame-extractor.ts';
import videoMerger from './video-merger.ts';
import videoMuter from './video-muter.ts';
import videoResizer from './video-resizer.ts';
import videoRotator from './video-rotator.ts';
import videoSpeedChanger from './video-speed-changer.ts';
import videoStabilizer from './video-stabilizer.ts';
import videoThumbnailer from './video-thumbnailer.ts';
import videoToGifConverter from './video-to-gif-converter.ts';
import videoTrimmer from './video-trimmer.ts';
import videoWatermarker from './video-watermarker.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeVideos>>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeVideos(directory);
}, 60_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

async function one<F extends Fields>(tool: Tool<F>, inputs: string | string[], form: Record<string, string> = {}) {
  const run = await runTool(tool, [inputs].flat(), form);
  const [output] = run.outputs;
  if (output === undefined) throw new Error('no output');
  return { ...run, ...output };
}

const isRed = ([r, g, b]: readonly number[]) => r! > 180 && g! < 90 && b! < 90;
const isBlue = ([r, g, b]: readonly number[]) => b! > 180 && r! < 90 && g! < 90;

describe.concurrent('conversion', () => {
  test('keeps all tracks and subtitles, maps ten bits of 4:4:4 to what players show, and makes sides even', async () => {
    await using mp4 = await one(videoConverter, files['tracks.mkv'], { format: 'mp4' });
    const { video, audio, subtitles, seconds } = probed(mp4.path);
    expect(video).toMatchObject({ codec_name: 'h264', pix_fmt: 'yuv420p', width: 160, height: 120 });
    expect(audio.map(({ codec_name, channels }) => [codec_name, channels])).toEqual([
      ['aac', 6],
      ['aac', 1],
    ]);
    expect(subtitles.map(({ codec_name }) => codec_name)).toEqual(['mov_text']);
    expect(seconds).toBeCloseTo(1, 1);
    // The index comes first, so that playing can start before everything has arrived.
    const bytes = await readFile(mp4.path);
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });

  test('takes the codecs of the format, and refuses those it cannot hold', async () => {
    await using webm = await one(videoConverter, files['plain.mp4'], { format: 'webm', preset: 'ultrafast' });
    expect(webm.type).toBe('webm');
    expect(probed(webm.path)).toMatchObject({ video: { codec_name: 'vp9' }, audio: [{ codec_name: 'opus' }] });
    const wrong = runTool(videoConverter, [files['plain.mp4']], { format: 'webm', video_codec: 'h264' });
    await expect(wrong).rejects.toThrow('h264 cannot be stored in webm');
    const copied = runTool(videoConverter, [files['plain.mp4']], { format: 'webm', video_codec: 'copy' });
    await expect(copied).rejects.toMatchObject({ code: 'invalid_input', message: /h264.*cannot be copied into WebM/ });
  });

  test('maps the tones of HDR for H.264 and keeps them for H.265, with the mark Apple asks for', async () => {
    await using h264 = await one(videoConverter, files['hdr.mov'], { preset: 'ultrafast' });
    expect(probed(h264.path).video).toMatchObject({ pix_fmt: 'yuv420p', color_transfer: 'bt709' });
    await using h265 = await one(videoConverter, files['hdr.mov'], { video_codec: 'h265', preset: 'ultrafast' });
    expect(probed(h265.path).video).toMatchObject({
      codec_tag_string: 'hvc1',
      pix_fmt: 'yuv420p10le',
      color_transfer: 'smpte2084',
    });
  });

  test('makes pixels square', async () => {
    await using mp4 = await one(videoConverter, files['wide-pixels.avi'], { preset: 'ultrafast', height: '60' });
    expect(probed(mp4.path).video).toMatchObject({ width: 160, height: 60, sample_aspect_ratio: '1:1' });
  });

  test('makes GIF and WebP of a part', async () => {
    await using gif = await one(videoToGifConverter, files['plain.mp4'], { start: '0.5', duration: '1', width: '64' });
    expect(probed(gif.path).video).toMatchObject({ codec_name: 'gif', width: 64, height: 48 });
    expect(probed(gif.path).seconds).toBeCloseTo(1, 1);
    await using webp = await one(videoToGifConverter, files['plain.mp4'], { duration: '0.5', format: 'webp' });
    expect(webp.type).toBe('webp');
    const late = runTool(videoToGifConverter, [files['plain.mp4']], { start: '2' });
    await expect(late).rejects.toMatchObject({ code: 'invalid_input', message: /nothing begins at 2/ });
  });
});

test('frames that come at no steady rate keep their times', async () => {
  const path = join(directory, 'variable.mp4');
  const filters = "select='lt(n,10)+not(mod(n,5))',setpts='if(lt(N,10),N*0.04,0.4+(N-10)*0.23)/TB'";
  const source = ['-f', 'lavfi', '-i', 'testsrc2=s=64x64:r=25:d=2'];
  const steady = join(directory, 'steady.mkv');
  execFileSync('ffmpeg', ['-v', 'error', ...source, '-vf', filters, '-fps_mode', 'vfr', '-c:v', 'libx264', steady]);
  // Matroska would still say 25 a second.
  execFileSync('ffmpeg', ['-v', 'error', '-i', steady, '-c', 'copy', path]);
  await using mp4 = await one(videoConverter, path, { preset: 'ultrafast' });
  const times = (file: string) =>
    execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'frame=pts_time', '-of', 'csv=p=0', file]).toString();
  expect(times(mp4.path).trim().split('\n')).toHaveLength(times(path).trim().split('\n').length);
});

describe.concurrent('what cannot be a video', () => {
  test('is told apart: damaged, cut short, sound alone, a playlist', async () => {
    await expect(runTool(videoConverter, [files['no-index.mp4']])).rejects.toMatchObject({ code: 'invalid_input' });
    const cut = runTool(videoConverter, [files['cut.mp4']], { preset: 'ultrafast' });
    await expect(cut).rejects.toMatchObject({
      code: 'invalid_input',
      message: /only 1\.\d of 2\.0 seconds can be read/,
    });
    await expect(runTool(videoMuter, [files['cut.mp4']])).rejects.toMatchObject({ code: 'invalid_input' });
    const sound = runTool(videoMuter, [files['sound.mp4']]);
    await expect(sound).rejects.toMatchObject({ code: 'invalid_input', message: /has no video/ });
    const path = join(directory, 'list');
    await writeFile(path, `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${files['plain.mp4']}\n#EXT-X-ENDLIST\n`);
    for (const type of ['mp4', 'mpeg', 'mpegts'] as const) {
      await expect(probe({ path, type, filename: 'film' })).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });
});

describe.concurrent('size', () => {
  test('gets smaller, never larger', async () => {
    await using smaller = await one(videoCompressor, files['noisy.mp4']);
    expect(smaller.sizeBytes).toBeLessThan((await stat(files['noisy.mp4'])).size);
    await using kept = await one(videoCompressor, files['plain.mp4'], { crf: '18' });
    expect(kept.sizeBytes).toBeLessThanOrEqual((await stat(files['plain.mp4'])).size);
  });

  test('keeps to a target, and says when it cannot', async () => {
    const form = { mode: 'target_size', target_size_mb: '0.1' };
    await using small = await one(videoCompressor, files['noisy.mp4'], form);
    expect(small.sizeBytes).toBeLessThanOrEqual(100_000);
    expect(small.sizeBytes).toBeGreaterThan(60_000);
    const impossible = runTool(videoCompressor, [files['noisy.mp4']], { ...form, target_size_mb: '0.01' });
    await expect(impossible).rejects.toMatchObject({ code: 'invalid_input', message: /cannot be made as small/ });
    await expect(runTool(videoCompressor, [files['plain.mp4']], { mode: 'target_size' })).rejects.toThrow('required');
  });
});

describe.concurrent('time', () => {
  test('is cut at key frames without encoding, or at the very frame', async () => {
    await using quick = await one(videoTrimmer, files['plain.mp4'], { start: '0.5', end: '1.5' });
    expect(probed(quick.path).seconds).toBeCloseTo(1, 0);
    await using precise = await one(videoTrimmer, files['bars.webm'], {
      start: '0.3',
      duration: '0.5',
      precise: 'true',
    });
    expect(precise.type).toBe('webm');
    expect(probed(precise.path).seconds).toBeCloseTo(0.5, 1);
    await expect(runTool(videoTrimmer, [files['plain.mp4']], { start: '2' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(runTool(videoTrimmer, [files['plain.mp4']], { start: '1', end: '1' })).rejects.toThrow(
      'later than start',
    );
  });

  test.each(['wmv.wmv', 'mpegts.m2ts', 'ogv.ogv'])('is cut in %s', async (name) => {
    const path = join(import.meta.dirname, '../../../test/fixtures/samples', name);
    await using part = await one(videoTrimmer, path, { start: '0.5', duration: '1' });
    const { video, audio, seconds } = probed(part.path);
    expect([video?.width, audio.length]).toEqual([160, 1]);
    expect(seconds).toBeGreaterThan(0.85);
  });

  test('goes faster and slower with the sound', async () => {
    await using fast = await one(videoSpeedChanger, files['plain.mp4'], { factor: '4' });
    expect(probed(fast.path).seconds).toBeCloseTo(0.5, 1);
    await using slow = await one(videoSpeedChanger, files['plain.mp4'], { factor: '0.5', keep_pitch: 'false' });
    expect(probed(slow.path)).toMatchObject({ audio: [{ codec_name: 'aac' }], video: { avg_frame_rate: '25/1' } });
    expect(probed(slow.path).seconds).toBeCloseTo(4, 0);
  });
});

describe.concurrent('shape', () => {
  test('turns with the pixels, and by telling players alone', async () => {
    await using told = await one(videoRotator, files['plain.mp4'], { metadata_only: 'true' });
    expect(probed(told.path).video).toMatchObject({ width: 160, side_data_list: [{ rotation: -90 }] });
    expect(isRed(pixelAt(told.path, 0, 60, 20))).toBe(true);
    // A phone's video: turned once, not twice.
    await using upright = await one(videoConverter, told.path, { preset: 'ultrafast' });
    expect(probed(upright.path).video).toMatchObject({ width: 120, height: 160 });
    expect(probed(upright.path).video).not.toHaveProperty('side_data_list');
    expect([isRed(pixelAt(upright.path, 0, 60, 20)), isBlue(pixelAt(upright.path, 0, 60, 140))]).toEqual([true, true]);
    await using mirrored = await one(videoRotator, files['plain.mp4'], { transform: 'hflip' });
    expect(isBlue(pixelAt(mirrored.path, 0, 20, 60))).toBe(true);
    const mkv = runTool(videoRotator, [files['silent.mkv']], { metadata_only: 'true' });
    await expect(mkv).rejects.toThrow('cannot tell players');
  });

  test('is cropped by hand and by its borders', async () => {
    await using cropped = await one(videoCropper, files['plain.mp4'], { x: '90', y: '11', width: '51', height: '40' });
    expect(probed(cropped.path).video).toMatchObject({ width: 50, height: 40 });
    expect(isBlue(pixelAt(cropped.path, 0, 4, 4))).toBe(true);
    await using bare = await one(videoCropper, files['bars.webm'], { auto: 'true' });
    expect(probed(bare.path).video).toMatchObject({ width: 96, height: 96, codec_name: 'vp8' });
    const outside = runTool(videoCropper, [files['plain.mp4']], { x: '500', width: '10', height: '10' });
    await expect(outside).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is resized into a box, with borders and without', async () => {
    await using preset = await one(videoResizer, files['plain.mp4'], { preset: '360p' });
    expect(probed(preset.path).video).toMatchObject({ width: 480, height: 360 });
    for (const fit of ['pad', 'blur_pad']) {
      await using square = await one(videoResizer, files['plain.mp4'], { width: '64', aspect_ratio: '1:1', fit });
      expect(probed(square.path).video).toMatchObject({ width: 64, height: 64 });
      const [r, g, b] = pixelAt(square.path, 0, 10, 2);
      expect(r + g + b > 60).toBe(fit !== 'pad');
    }
  });

  test('keeps still with vidstab', async () => {
    await using still = await one(videoStabilizer, files['noisy.mp4'], { smoothing: '5' });
    expect(probed(still.path)).toMatchObject({ video: { width: 160, height: 120 }, audio: [{ codec_name: 'aac' }] });
  });
});

describe.concurrent('sound', () => {
  test('is removed without touching the picture', async () => {
    await using mute = await one(videoMuter, files['plain.mp4']);
    expect(probed(mute.path)).toMatchObject({ audio: [], video: { codec_name: 'h264' } });
  });

  test('is taken out of any track, in any format', async () => {
    for (const format of ['mp3', 'flac', 'ogg', 'opus']) {
      await using track = await one(audioExtractor, files['tracks.mkv'], { format, track: '1' });
      expect([track.type, track.filename]).toEqual([format, `tracks.${format}`]);
      expect(probed(track.path).audio).toHaveLength(1);
    }
    await using original = await one(audioExtractor, files['tracks.mkv'], { format: 'original' });
    expect(probed(original.path).audio[0]).toMatchObject({ codec_name: 'ac3', channels: 6 });
    const none = runTool(audioExtractor, [files['silent.mkv']]);
    await expect(none).rejects.toMatchObject({ code: 'invalid_input', message: '"silent.mkv" has no sound.' });
    const missing = runTool(audioExtractor, [files['tracks.mkv']], { track: '2' });
    await expect(missing).rejects.toMatchObject({ message: /has 2 tracks of sound/ });
  });
});

describe.concurrent('pictures', () => {
  test('are spread over the video, taken at moments, or laid on a sheet', async () => {
    const three = await runTool(videoThumbnailer, [files['plain.mp4']], { count: '3', width: '80' });
    expect(three.outputs.map(({ filename, type }) => [filename, type])).toEqual(
      [1, 2, 3].map((n) => [`plain-${n}.jpg`, 'jpeg']),
    );
    expect(probed(three.outputs[0]!.path).video).toMatchObject({ width: 80, height: 60 });
    await three[Symbol.asyncDispose]();
    await using sheet = await one(videoThumbnailer, files['plain.mp4'], {
      contact_sheet: 'true',
      offsets: '[0,0.5,1,1.9]',
      format: 'png',
    });
    expect(probed(sheet.path).video).toMatchObject({ width: 344, height: 264 });
  });

  test('are taken by rate, by number and by moment; very many come in a ZIP', async () => {
    const names = async (form: Record<string, string>) => {
      await using run = await runTool(videoFrameExtractor, [files['plain.mp4']], form);
      return run.outputs.map(({ filename }) => filename);
    };
    expect(await names({ value: '2' })).toHaveLength(4);
    expect(await names({ mode: 'every_nth', value: '25', format: 'png' })).toEqual([
      'plain-000001.png',
      'plain-000002.png',
    ]);
    expect(await names({ mode: 'timestamps', timestamps: '[0, 1.96]' })).toHaveLength(2);
    const long = join(directory, 'long.mp4');
    execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'color=red:s=16x16:r=100:d=10.1', long]);
    await using many = await one(videoFrameExtractor, long, { mode: 'every_nth' });
    expect(many.type).toBe('zip');
    expect(execFileSync('unzip', ['-Z1', many.path]).toString().trim().split('\n')).toHaveLength(1010);
  });

  test('and texts are laid over the video for a while', async () => {
    const logo = join(directory, 'logo.png');
    execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'color=lime:s=40x20', '-frames:v', '1', logo]);
    const form = { position: 'top-left', opacity: '1', scale: '0.25', start: '1' };
    await using marked = await one(videoWatermarker, [files['plain.mp4'], logo], form);
    expect(isRed(pixelAt(marked.path, 0.5, 20, 12))).toBe(true);
    expect(pixelAt(marked.path, 1.5, 20, 12)[1]).toBeGreaterThan(200);
    await using text = await one(videoWatermarker, files['plain.mp4'], { text: "50% of 'it': [a],\\n;" });
    expect(complaints(text.path)).toBe('');
    await expect(runTool(videoWatermarker, [files['plain.mp4']])).rejects.toThrow('is required');
  });
});

describe.concurrent('joining', () => {
  test('brings videos of any kind into one, without a gap', async () => {
    const inputs = [files['plain.mp4'], files['tracks.mkv'], files['silent.mkv'], files['hdr.mov']];
    await using merged = await one(videoMerger, inputs, { fps: '25' });
    expect(probed(merged.path)).toMatchObject({ video: { width: 160, height: 120 }, audio: [{ channels: 2 }] });
    expect(probed(merged.path).seconds).toBeCloseTo(6, 1);
    expect(complaints(merged.path)).toBe('');
  });

  test('lets one video become the next', async () => {
    const inputs = [files['plain.mp4'], files['bars.webm']];
    const form = { transition: 'crossfade', transition_s: '0.4', format: 'webm', fps: '25' };
    await using merged = await one(videoMerger, inputs, form);
    expect(probed(merged.path).seconds).toBeCloseTo(2.6, 1);
    const [red, green] = pixelAt(merged.path, 1.8, 60, 60);
    expect(red > 60 && red < 200 && green > 30).toBe(true);
    const long = runTool(videoMerger, inputs, { ...form, transition_s: '1.5' });
    await expect(long).rejects.toMatchObject({ code: 'invalid_input', message: /too short for crossfades/ });
  });

  test('makes a slideshow with music', async () => {
    const slides = ['red', 'blue', 'red'].map((color, index) => {
      const path = join(directory, `${index}.png`);
      execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', `color=${color}:s=64x36`, '-frames:v', '1', path]);
      return path;
    });
    const sound = join(directory, 'sound.mp3');
    execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=d=1', sound]);
    const form = { resolution: '480p', seconds_per_image: '1', fps: '10', transition: 'crossfade' };
    await using show = await one(slideshowMaker, [...slides, sound], form);
    expect(probed(show.path)).toMatchObject({ video: { width: 854, height: 480 }, audio: [{ codec_name: 'aac' }] });
    expect(probed(show.path).seconds).toBeCloseTo(3, 1);
    expect([isRed(pixelAt(show.path, 0.1, 400, 200)), isBlue(pixelAt(show.path, 1.2, 400, 200))]).toEqual([true, true]);
    const [red, , blue] = pixelAt(show.path, 0.8, 400, 200);
    expect(red > 50 && blue > 50).toBe(true);
  });
});

test('an HLS package plays from its master playlist, in sizes no larger than the video', async () => {
  await using zip = await one(hlsPackager, files['plain.mp4'], {
    renditions: '[720,144]',
    segment_s: '2',
    encrypt: 'true',
  });
  const place = join(directory, 'hls');
  execFileSync('unzip', ['-q', zip.path, '-d', place]);
  const master = join(place, 'master.m3u8');
  expect((await readFile(master, 'utf8')).match(/RESOLUTION=\S+?,/g)).toEqual(['RESOLUTION=160x120,']);
  expect(await readFile(join(place, '120p/index.m3u8'), 'utf8')).toContain('METHOD=AES-128,URI="../encryption.key"');
  const played = execFileSync('ffprobe', [
    '-v',
    'error',
    '-allowed_extensions',
    'ALL',
    '-show_entries',
    'format=duration',
    '-of',
    'csv=p=0',
    master,
  ]);
  expect(Number(played.toString())).toBeCloseTo(2, 1);
});
