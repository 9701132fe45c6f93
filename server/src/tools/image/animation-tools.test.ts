import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  animation,
  difference,
  grain,
  pixel,
  quarterColors,
  quarters,
  writeImages,
} from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import gifMaker from './gif-maker.ts';
import gifOptimizer from './gif-optimizer.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  const photos = await Promise.all([1, 2, 3, 4, 5].map(async (seed) => (await grain(121, 91, seed)).png().toBuffer()));
  return writeImages(directory, {
    'one.png': quarters().png().toBuffer(),
    'two.jpg': quarters().withMetadata({ orientation: 3 }).jpeg({ quality: 95 }).toBuffer(),
    'tall.webp': quarters(40, 80).webp().toBuffer(),
    'bars.gif': animation('gif'),
    'photos.gif': sharp(photos, { join: { animated: true } })
      .gif({ delay: [100, 150, 100, 250, 400], loop: 3 })
      .toBuffer(),
    'still.gif': quarters().gif().toBuffer(),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function probe(path: string, entries: string): string {
  return execFileSync('ffprobe', ['-v', 'error', '-count_frames', '-show_entries', entries, '-of', 'csv=p=0', path], {
    encoding: 'utf8',
  }).trim();
}

for (const format of ['gif', 'webp', 'apng']) {
  test(`images become a ${format} in their order`, async () => {
    const inputs = [files['one.png'], files['two.jpg'], files['tall.webp']];
    const form = { format, delay_ms: '250', loop: '4', background: '#102030' };
    await using run = await runTool(gifMaker, inputs, form);
    const [output] = run.outputs;
    const path = output?.path ?? '';
    expect(output).toMatchObject({ filename: `animation.${format}`, type: format === 'apng' ? 'png' : format });
    if (format === 'apng') {
      expect(probe(path, 'stream=codec_name,width,height,nb_read_frames')).toBe('apng,240,160,3');
      expect(execFileSync('exiftool', ['-s3', '-AnimationPlays', path], { encoding: 'utf8' }).trim()).toBe('4');
      execFileSync('ffmpeg', ['-v', 'error', '-i', path, join(directory, 'apng-%d.png')]);
    } else {
      const metadata = await sharp(path, { pages: -1 }).metadata();
      expect(metadata).toMatchObject({ pages: 3, pageHeight: 160, width: 240, delay: [250, 250, 250], loop: 4 });
      for (const page of [0, 1, 2])
        await sharp(path, { page })
          .png()
          .toFile(join(directory, `apng-${page + 1}.png`));
    }
    const frame = (n: number) => join(directory, `apng-${n}.png`);
    expect(difference(await pixel(frame(1), 20, 20), quarterColors.topLeft)).toBeLessThan(8);
    expect(difference(await pixel(frame(2), 20, 20), quarterColors.bottomRight)).toBeLessThan(12);
    expect(difference(await pixel(frame(3), 20, 20), [0x10, 0x20, 0x30])).toBeLessThan(8);
    expect(difference(await pixel(frame(3), 90, 20), quarterColors.topLeft)).toBeLessThan(12);
    await Promise.all([1, 2, 3].map((n) => rm(frame(n))));
  });
}

test('a width is kept to, and too much is a failure', async () => {
  await using run = await runTool(gifMaker, [files['one.png'], files['two.jpg']], { width: '60' });
  expect(await sharp(run.outputs[0]?.path).metadata()).toMatchObject({ width: 60, height: 40 });
  const many = Array.from({ length: 12 }, () => files['one.png']);
  await expect(runTool(gifMaker, many, { width: '4096' })).rejects.toMatchObject({ code: 'resource_limit' });
});

test('an optimised GIF plays as long, and never grows', async () => {
  for (const name of ['bars.gif', 'photos.gif', 'still.gif'] as const) {
    for (const form of [{}, { lossy: '0' }, { lossy: '200', colors: '2' }] as Record<string, string>[]) {
      await using run = await runTool(gifOptimizer, [files[name]], form);
      const [before, after] = await Promise.all(
        [files[name], run.outputs[0]?.path].map((path) => sharp(path, { pages: -1 }).metadata()),
      );
      expect(after?.width).toBe(before?.width);
      const seconds = (delay: number[] = []) => delay.reduce((sum, part) => sum + part, 0);
      if (before?.pages !== 1) expect(seconds(after?.delay)).toBe(seconds(before?.delay));
      if (form['colors'] === undefined) expect(after?.pages).toBe(before?.pages);
      expect(after?.loop).toBe(before?.loop);
      expect(run.outputs[0]?.sizeBytes).toBeLessThanOrEqual((await readFile(files[name])).length);
    }
  }
});

test('frames are left out and the others show longer, in every format', async () => {
  await using gif = await runTool(gifOptimizer, [files['photos.gif']], { drop_frames: '1', width: '60', colors: '32' });
  expect(await sharp(gif.outputs[0]?.path, { pages: -1 }).metadata()).toMatchObject({
    width: 60,
    pages: 3,
    loop: 3,
    delay: [250, 350, 400],
  });
  await using webp = await runTool(gifOptimizer, [files['photos.gif']], { format: 'webp', drop_frames: '4' });
  expect((await sharp(webp.outputs[0]?.path, { pages: -1 }).metadata()).pages ?? 1).toBe(1);
  await using moving = await runTool(gifOptimizer, [files['photos.gif']], { format: 'webp', lossy: '0' });
  expect(await sharp(moving.outputs[0]?.path, { pages: -1 }).metadata()).toMatchObject({
    pages: 5,
    loop: 3,
    delay: [100, 150, 100, 250, 400],
  });
  for (const drop of ['0', '1']) {
    await using video = await runTool(gifOptimizer, [files['photos.gif']], { format: 'mp4', drop_frames: drop });
    expect(video.outputs[0]?.type).toBe('mp4');
    expect(probe(video.outputs[0]?.path ?? '', 'stream=codec_name,width,height')).toContain('h264,122,92');
    expect(
      Number(
        probe(video.outputs[0]?.path ?? '', 'format=duration')
          .split('\n')
          .at(-1),
      ),
    ).toBeCloseTo(1, 2);
  }
  await using still = await runTool(gifOptimizer, [files['still.gif']], { format: 'mp4' });
  expect(still.outputs[0]?.type).toBe('mp4');
});

test('a GIF cut short is a failure with its name', async () => {
  const path = join(directory, 'cut.gif');
  await writeFile(path, (await readFile(files['photos.gif'])).subarray(0, 3000));
  for (const format of ['gif', 'webp', 'mp4']) {
    const run = runTool(gifOptimizer, [path], { format });
    await expect(run).rejects.toMatchObject({ code: 'invalid_input', file: 'cut.gif' });
  }
});
