import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { pixelAt, probed } from '../../../test/video-fixtures.ts';
import videoToGifConverter from './video-to-gif-converter.ts';
import videoTrimmer from './video-trimmer.ts';

let directory: string;
/** Red, then blue from the sixth second on; one frame in five seconds, or no frame between the fourth and the eleventh. */
const videos = { slow: 'not(mod(n\\,50))', gap: 'not(between(t\\,4\\,11))' };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  const colours = [
    '-f',
    'lavfi',
    '-i',
    'color=red:s=64x48:r=10:d=6',
    '-f',
    'lavfi',
    '-i',
    'color=blue:s=64x48:r=10:d=14',
  ];
  for (const [name, select] of Object.entries(videos)) {
    const picture = `[0:v][1:v]concat,select=${select}`;
    const encoder = ['-c:v', 'libx264', '-g', '10', '-pix_fmt', 'yuv420p', '-vsync', 'vfr'];
    const file = join(directory, `${name}.mp4`);
    execFileSync('ffmpeg', ['-v', 'error', ...colours, '-filter_complex', picture, ...encoder, file]);
  }
}, 60_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

const isRed = ([r, g, b]: readonly number[]) => r! > 180 && g! < 90 && b! < 90;

describe.concurrent('a frame that stands for seconds', () => {
  test.each([
    ['slow', 'true'],
    ['slow', 'false'],
    ['gap', 'true'],
    ['gap', 'false'],
  ])('is in a part that begins and ends within it: %s, precise %s', async (name, precise) => {
    const form = { start: '7', end: '9', precise };
    await using run = await runTool(videoTrimmer, [join(directory, `${name}.mp4`)], form);
    const { path } = run.outputs[0]!;
    expect(probed(path).seconds).toBeCloseTo(2, 1);
    expect(isRed(pixelAt(path, 0.1, 20, 20))).toBe(true);
    expect(isRed(pixelAt(path, 1.8, 20, 20))).toBe(true);
  });

  test.each(['slow', 'gap'])('is in a part that goes on after it: %s', async (name) => {
    const form = { start: '7', end: '14', precise: 'true' };
    await using run = await runTool(videoTrimmer, [join(directory, `${name}.mp4`)], form);
    const { path } = run.outputs[0]!;
    expect(probed(path).seconds).toBeCloseTo(7, 1);
    expect(isRed(pixelAt(path, 0.1, 20, 20))).toBe(true);
    expect(isRed(pixelAt(path, 5.5, 20, 20))).toBe(false);
  });

  test.each(['slow', 'gap'])('is in an animation: %s', async (name) => {
    const form = { start: '7', duration: '2' };
    await using run = await runTool(videoToGifConverter, [join(directory, `${name}.mp4`)], form);
    const { path } = run.outputs[0]!;
    expect(probed(path).seconds).toBeCloseTo(2, 1);
    expect(isRed(pixelAt(path, 0, 20, 20))).toBe(true);
  });
});

test('a part whose key frame lies far before it is encoded again, and only then', async () => {
  const file = join(directory, 'far.mkv');
  const source = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=10:d=40'];
  execFileSync('ffmpeg', ['-v', 'error', ...source, '-c:v', 'libx264', '-g', '900', '-pix_fmt', 'yuv420p', file]);
  await using far = await runTool(videoTrimmer, [file], { start: '30', end: '32' });
  expect(probed(far.outputs[0]!.path).seconds).toBeCloseTo(2, 1);
  await using near = await runTool(videoTrimmer, [file], { start: '5', end: '7' });
  expect(probed(near.outputs[0]!.path).seconds).toBeGreaterThan(6);
});
