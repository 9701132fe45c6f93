import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, truncate, copyFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sample } from '../../../test/fixtures/samples.ts';
import { runTool } from '../../../test/run-tool.ts';
import audioCompressor from './audio-compressor.ts';
import audioConverter from './audio-converter.ts';
import audioMerger from './audio-merger.ts';
import audioNoiseReducer from './audio-noise-reducer.ts';
import audioNormalizer from './audio-normalizer.ts';
import audioSpeedChanger from './audio-speed-changer.ts';
import audioSplitter from './audio-splitter.ts';
import audioTagEditor from './audio-tag-editor.ts';
import audioTrimmer from './audio-trimmer.ts';
import audioVolumeChanger from './audio-volume-changer.ts';
import silenceRemover from './silence-remover.ts';
import waveformGenerator from './waveform-generator.ts';

let directory: string;
const at = (name: string) => join(directory, name);

function make(name: string, source: string, options: readonly string[] = []): void {
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...options, at(name)]);
}

interface Seen {
  streams: { codec_name: string; sample_rate: string; channels: number; bits_per_raw_sample?: string }[];
  format: { duration: string; tags?: Record<string, string> };
}

function look(path = ''): Seen {
  return JSON.parse(
    execFileSync('ffprobe', ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', path], {
      encoding: 'utf8',
    }),
  ) as Seen;
}

function seconds(path = ''): number {
  return Number(look(path).format.duration);
}

/** What filters say that only listen. */
function listen(path: string, filters: string): string {
  return spawnSync('ffmpeg', ['-hide_banner', '-i', path, '-af', filters, '-f', 'null', '-'], { encoding: 'utf8' })
    .stderr;
}

function level(path = '', filters = 'anull'): number {
  return Number(/RMS level dB: (-?[\d.]+)/.exec(listen(path, `${filters},astats`))?.[1]);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  make('deep.wav', 'sine=440:r=96000:d=1', ['-ac', '2', '-c:a', 'pcm_s24le']);
  make('noise.wav', 'anoisesrc=d=3:c=pink:r=44100:a=0.3:seed=1', ['-ac', '2']);
  make('silent.wav', 'anullsrc=r=8000:cl=mono:d=1');
  // A second of silence, of tone, two of silence, a tone, a short silence, a tone.
  make('pauses.wav', `aevalsrc='0.5*sin(2*PI*440*t)*(between(t,1,2)+between(t,4,5)+between(t,5.3,6))':d=6:s=16000`);
  make('hiss.wav', `aevalsrc='0.01*(random(0)-0.5)+0.3*sin(2*PI*800*t)*between(mod(t,2),0,1)':d=4:s=16000`);
  await sharp({ create: { width: 64, height: 64, channels: 3, background: '#c03020' } })
    .jpeg()
    .toFile(at('cover.jpg'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const codecs = {
  mp3: 'mp3',
  wav: 'pcm_s24le',
  flac: 'flac',
  ogg: 'vorbis',
  opus: 'opus',
  m4a: 'aac',
  aiff: 'pcm_s24be',
};

test.each(Object.entries(codecs))('converts to %s', async (format, codec) => {
  await using run = await runTool(audioConverter, [at('deep.wav')], { format, bitrate_kbps: '128' });
  const { streams, format: file } = look(run.outputs[0]?.path);
  expect(run.outputs[0]).toMatchObject({ type: format, filename: `deep.${format}` });
  expect(streams[0]).toMatchObject({ codec_name: codec, channels: 2 });
  expect(Number(file.duration)).toBeCloseTo(1, 1);
  if (['wav', 'flac', 'aiff'].includes(format)) {
    expect(streams[0]).toMatchObject({ sample_rate: '96000', bits_per_raw_sample: '24' });
  }
});

test('reads every format, and keeps tags across formats', async () => {
  const types = ['ogg', 'm4a', 'aac', 'wma', 'amr'] as const;
  await using run = await runTool(audioConverter, types.map(sample), { format: 'mp3', vbr: 'true', channels: '1' });
  expect(run.outputs).toHaveLength(types.length);
  expect(look(run.outputs[0]?.path).format.tags).toMatchObject({ title: 'Tone', artist: 'Millrun' });
  expect(look(run.outputs[1]?.path).format.tags).not.toHaveProperty('major_brand');
  for (const { path } of run.outputs) expect(Math.abs(seconds(path) - 2)).toBeLessThan(0.2);
});

test('counts sound whose length a file does not tell', async () => {
  const quietThenLoud = `aevalsrc='if(lt(t,20),0,random(0)-0.5)':d=40:s=44100`;
  make('untold.mp3', quietThenLoud, ['-c:a', 'libmp3lame', '-q:a', '4', '-write_xing', '0']);
  await using run = await runTool(audioSplitter, [at('untold.mp3')], { mode: 'parts', parts: '2' });
  for (const { path } of run.outputs) expect(Math.abs(seconds(path) - 20)).toBeLessThan(0.2);
});

test('takes a part from sound that cannot be jumped into', async () => {
  make('telephone.wav', 'sine=440:d=20:r=8000', ['-c:a', 'adpcm_ima_wav']);
  await using run = await runTool(audioTrimmer, [at('telephone.wav')], { start: '12', end: '15' });
  expect(seconds(run.outputs[0]?.path)).toBeCloseTo(3, 1);
  expect(level(run.outputs[0]?.path)).toBeGreaterThan(-30);
});

test('reads FLAC and AAC behind a large ID3 tag', async () => {
  make('plain.flac', 'sine=440:d=1');
  make('plain.aac', 'sine=440:d=1');
  // A tag of one frame of 500,000 bytes: sizes have seven bits a byte, but not that of a frame of version 2.3.
  const header = Buffer.from('ID3\x03\0\0\0\x1e\x42\x2aPRIV\0\x07\xa1\x20\0\0', 'latin1');
  for (const type of ['flac', 'aac']) {
    await writeFile(
      at(`tagged.${type}`),
      Buffer.concat([header, Buffer.alloc(500_000), await readFile(at(`plain.${type}`))]),
    );
    await using run = await runTool(audioTrimmer, [at(`tagged.${type}`)], { end: '0.5' });
    expect(look(run.outputs[0]?.path)).toMatchObject({ streams: [{ codec_name: type }] });
    expect(Math.abs(seconds(run.outputs[0]?.path) - 0.5)).toBeLessThan(0.1);
  }
});

test('refuses what a format cannot do, and broken files', async () => {
  await expect(runTool(audioConverter, [sample('wav')], { format: 'opus', sample_rate: '44100' })).rejects.toThrow(
    '48000',
  );
  await expect(runTool(audioConverter, [sample('wav')], { format: 'flac', vbr: 'true' })).rejects.toThrow('no effect');
  await copyFile(sample('flac'), at('cut.flac'));
  await truncate(at('cut.flac'), 9000);
  await expect(runTool(audioConverter, [at('cut.flac')])).rejects.toMatchObject({ code: 'invalid_input' });
  make('none.wav', 'anullsrc=r=8000', ['-t', '0']);
  await expect(runTool(audioConverter, [at('none.wav')])).rejects.toThrow('lasts 0 seconds');
});

test('compresses, to a size if asked, and never makes larger', async () => {
  await using run = await runTool(audioCompressor, [at('noise.wav'), sample('opus')], {
    bitrate_kbps: '32',
    mono: 'true',
  });
  expect(look(run.outputs[0]?.path).streams[0]).toMatchObject({ codec_name: 'opus', channels: 1 });
  expect(run.outputs[1]?.sizeBytes).toBeLessThanOrEqual((await stat(sample('opus'))).size);
  await using sized = await runTool(audioCompressor, [at('noise.wav')], { codec: 'mp3', target_size_mb: '0.02' });
  expect(sized.outputs[0]?.sizeBytes).toBeLessThanOrEqual(20_000);
  expect(seconds(sized.outputs[0]?.path)).toBeCloseTo(3, 0);
  make('long.wav', 'anoisesrc=d=20:r=16000');
  await expect(runTool(audioCompressor, [at('long.wav')], { codec: 'mp3', target_size_mb: '0.01' })).rejects.toThrow(
    'cannot be made as small',
  );
});

test('trims to the sample and fades', async () => {
  const form = { start: '1.5', end: '4.25', fade_in_s: '0.2', fade_out_s: '0.5' };
  await using run = await runTool(audioTrimmer, [at('pauses.wav')], form);
  expect(seconds(run.outputs[0]?.path)).toBeCloseTo(2.75, 3);
  await using rest = await runTool(audioTrimmer, [sample('mp3'), sample('amr')], { start: '1', end: '99' });
  expect(rest.outputs.map(({ type }) => type)).toEqual(['mp3', 'wav']);
  expect(seconds(rest.outputs[1]?.path)).toBeCloseTo(1, 3);
  await expect(runTool(audioTrimmer, [sample('wav')], { start: '2' })).rejects.toThrow('nothing begins at 2');
  await expect(runTool(audioTrimmer, [sample('wav')], { fade_in_s: '3' })).rejects.toThrow('do not fit');
});

test('merges what differs, with a gap or a crossfade', async () => {
  const files = [sample('flac'), at('deep.wav'), sample('ogg')];
  await using gap = await runTool(audioMerger, files, { format: 'wav', gap_s: '0.5' });
  expect(seconds(gap.outputs[0]?.path)).toBeCloseTo(6, 2);
  expect(look(gap.outputs[0]?.path).streams[0]).toMatchObject({ sample_rate: '96000', channels: 2 });
  await using faded = await runTool(audioMerger, files, { format: 'flac', crossfade_s: '0.5' });
  expect(seconds(faded.outputs[0]?.path)).toBeCloseTo(4, 1);
  await expect(runTool(audioMerger, files, { crossfade_s: '0.8' })).rejects.toThrow('too short for crossfades');
});

test('splits into parts that make the whole', async () => {
  await using parts = await runTool(audioSplitter, [at('pauses.wav')], { mode: 'parts', parts: '5' });
  expect(parts.outputs[0]?.filename).toBe('pauses-1.wav');
  expect(parts.outputs.reduce((sum, { path }) => sum + seconds(path), 0)).toBeCloseTo(6, 2);
  await using timed = await runTool(audioSplitter, [sample('mp3')], { segment_s: '1' });
  expect(timed.outputs.map(({ filename }) => filename)).toEqual(['mp3-1.mp3', 'mp3-2.mp3']);
  await using silence = await runTool(audioSplitter, [at('pauses.wav')], { mode: 'silence' });
  expect(silence.outputs.map(({ path }) => Math.round(seconds(path)))).toEqual([3, 3]);
  await expect(runTool(audioSplitter, [sample('mp3')], { mode: 'silence' })).rejects.toThrow('no silence');
});

test('normalizes to a loudness within one unit, and to a peak', async () => {
  await using run = await runTool(audioNormalizer, [at('noise.wav')], { lufs: '-20' });
  const [output] = run.outputs;
  const loudness = /I:\s+(-?[\d.]+) LUFS\s+Threshold/.exec(listen(output?.path ?? '', 'ebur128'))?.[1];
  expect(Math.abs(Number(loudness) + 20)).toBeLessThan(1);
  await using peak = await runTool(audioNormalizer, [at('pauses.wav')], { mode: 'peak', true_peak: '-3' });
  expect(Number(/max_volume: (-?[\d.]+)/.exec(listen(peak.outputs[0]?.path ?? '', 'volumedetect'))?.[1])).toBeCloseTo(
    -3,
    0,
  );
  await expect(runTool(audioNormalizer, [at('silent.wav')])).rejects.toThrow('is silent');
});

test('changes volume and speed', async () => {
  await using quiet = await runTool(audioVolumeChanger, [at('noise.wav')], { gain_db: '-10' });
  expect(level(quiet.outputs[0]?.path)).toBeCloseTo(level(at('noise.wav')) - 10, 0);
  for (const factor of [0.25, 4]) {
    await using run = await runTool(audioSpeedChanger, [at('deep.wav')], { factor: String(factor), semitones: '3' });
    expect(seconds(run.outputs[0]?.path)).toBeCloseTo(1 / factor, 2);
  }
  await using higher = await runTool(audioSpeedChanger, [sample('flac')], { factor: '1', semitones: '12' });
  // An octave above the 440 Hz of the sample.
  const path = higher.outputs[0]?.path;
  expect(level(path, 'bandpass=f=880:w=50')).toBeGreaterThan(level(path, 'bandpass=f=440:w=50') + 10);
});

test('lowers noise and keeps what is louder', async () => {
  await using run = await runTool(audioNoiseReducer, [at('hiss.wav')], { strength: 'strong' });
  const path = run.outputs[0]?.path;
  const pause = 'atrim=1.3:1.9';
  expect(level(path, pause)).toBeLessThan(level(at('hiss.wav'), pause) - 6);
  expect(level(path, 'atrim=2.2:2.8')).toBeCloseTo(level(at('hiss.wav'), 'atrim=2.2:2.8'), 0);
});

test('takes out silences', async () => {
  await using run = await runTool(silenceRemover, [at('pauses.wav')], { keep_s: '0' });
  expect(seconds(run.outputs[0]?.path)).toBeCloseTo(3, 1);
  await expect(runTool(silenceRemover, [at('silent.wav')])).rejects.toThrow('is silent from beginning to end');
});

test('draws waveforms', async () => {
  await using png = await runTool(waveformGenerator, [at('pauses.wav')], {
    width: '600',
    height: '100',
    color: '#ff0000',
  });
  const image = sharp(png.outputs[0]?.path);
  expect(await image.metadata()).toMatchObject({ width: 600, height: 100, hasAlpha: true });
  const pixels = await image.raw().toBuffer();
  const pixel = (x: number, y: number) => [...pixels.subarray((y * 600 + x) * 4, (y * 600 + x) * 4 + 4)];
  expect(pixel(150, 30)).toEqual([255, 0, 0, 255]); // In the first tone.
  expect(pixel(50, 30)[3]).toBe(0); // In the silence before.
  await using json = await runTool(waveformGenerator, [at('pauses.wav')], { format: 'json', width: '60' });
  const { data, length } = JSON.parse(await readFile(json.outputs[0]?.path ?? '', 'utf8')) as {
    data: number[];
    length: number;
  };
  expect(length).toBe(60);
  expect(data).toHaveLength(120);
  expect(data[2 * 15 + 1]).toBeCloseTo(16_384, -2);
  await using svg = await runTool(waveformGenerator, [at('silent.wav')], { format: 'svg', background: '#fff' });
  expect(svg.outputs[0]?.type).toBe('svg');
});

test.each(['mp3', 'm4a', 'flac', 'ogg', 'opus'] as const)(
  'edits tags and covers of %s and leaves the sound',
  async (type) => {
    const title = 'A = "b";\n# \\ c';
    const form = { title, year: '2026', track: '3/12' };
    await using run = await runTool(audioTagEditor, [sample(type), at('cover.jpg')], form);
    const path = run.outputs[0]?.path ?? '';
    const { streams, format } = look(path);
    const tags = { ...format.tags, ...(streams[0] as { tags?: Record<string, string> }).tags };
    expect(tags).toMatchObject({ title, artist: 'Millrun', track: '3/12' });
    expect(streams[1]?.codec_name).toBe('mjpeg');
    const hash = (file: string) =>
      execFileSync('ffmpeg', [
        '-v',
        'error',
        '-i',
        file,
        '-map',
        '0:a',
        '-c',
        'copy',
        '-f',
        'streamhash',
        '-',
      ]).toString();
    expect(hash(path)).toBe(hash(sample(type)));
    await using cleared = await runTool(audioTagEditor, [{ path, filename: `x.${type}` }], { clear: 'true' });
    const bare = look(cleared.outputs[0]?.path);
    expect(bare.streams).toHaveLength(1);
    expect({ ...bare.format.tags, ...(bare.streams[0] as { tags?: object }).tags }).not.toHaveProperty('title');
  },
);

test('says which files cannot be tagged', async () => {
  await expect(runTool(audioTagEditor, [sample('mp3')])).rejects.toThrow('required');
  await expect(runTool(audioTagEditor, [at('cover.jpg'), sample('mp3')])).rejects.toThrow('last file');
});
