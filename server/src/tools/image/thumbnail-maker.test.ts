import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { difference, keptFixture, pixel, quarterColors, quarters, writeImages } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { runProgram } from '../../sandbox/program.ts';
import rawPhotoConverter from './raw-photo-converter.ts';
import thumbnailMaker from './thumbnail-maker.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  const video = join(directory, 'film.mp4');
  const source = [
    '-f',
    'lavfi',
    '-i',
    'color=red:size=96x64:duration=0.5:rate=10',
    '-f',
    'lavfi',
    '-i',
    'color=blue:size=96x64:duration=9.5:rate=10',
  ];
  await runProgram('ffmpeg', ['-v', 'error', ...source, '-filter_complex', 'concat=n=2', '-pix_fmt', 'yuv420p', video]);
  const made = await writeImages(directory, {
    'photo.jpg': quarters()
      .withMetadata({ orientation: 6 })
      .withExif({ IFD0: { Make: 'Phone' } })
      .jpeg()
      .toBuffer(),
    'one.png': quarters(2, 2).resize(1, 1).png().toBuffer(),
    'cut.mp4': readFile(video).then((bytes) => bytes.subarray(0, 900)),
  });
  return { ...made, 'film.mp4': video };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('an image, a page and a picture from a video, all of one size', async () => {
  const inputs = [
    files['photo.jpg'],
    keptFixture('samples/pdf.pdf'),
    files['film.mp4'],
    files['one.png'],
    keptFixture('photo.heic'),
  ];
  for (const format of ['webp', 'jpeg', 'png']) {
    await using run = await runTool(thumbnailMaker, inputs, { format, width: '90', height: '90' });
    expect(run.outputs).toHaveLength(inputs.length);
    for (const { path, type } of run.outputs) {
      expect(type).toBe(format);
      expect(await sharp(path).metadata()).toMatchObject({ width: 90, height: 90 });
      expect((await sharp(path).metadata()).exif).toBeUndefined();
    }
    // One second into ten: the picture has turned blue.
    expect(difference(await pixel(run.outputs[2]?.path ?? '', 45, 45), [0, 0, 255])).toBeLessThan(16);
  }
});

test('contain shows the whole picture and enlarges nothing', async () => {
  await using run = await runTool(thumbnailMaker, [files['photo.jpg'], files['one.png']], {
    fit: 'contain',
    width: '90',
    height: '90',
    format: 'png',
  });
  const [photo, one] = run.outputs;
  expect(await sharp(photo?.path).metadata()).toMatchObject({ width: 60, height: 90 });
  expect(difference(await pixel(photo?.path ?? '', 50, 10), quarterColors.topLeft)).toBeLessThan(12);
  expect(await sharp(one?.path).metadata()).toMatchObject({ width: 1, height: 1 });
});

test('a video cut short is a failure with its name', async () => {
  const run = runTool(thumbnailMaker, [files['film.mp4'], files['cut.mp4']]);
  await expect(run).rejects.toMatchObject({ code: 'invalid_input', file: 'cut.mp4' });
});

test.skipIf((await cameraRawDecoder.version()) === undefined)('a raw photo is developed as asked', async () => {
  const photo = keptFixture('photo.dng');
  await using jpeg = await runTool(rawPhotoConverter, [photo], {});
  expect(await sharp(jpeg.outputs[0]?.path).metadata()).toMatchObject({ format: 'jpeg', width: 96, height: 64 });
  for (const format of ['tiff', 'png']) {
    await using deep = await runTool(rawPhotoConverter, [photo], { format });
    expect(await sharp(deep.outputs[0]?.path).metadata()).toMatchObject({ format, depth: 'ushort' });
  }
  await using half = await runTool(rawPhotoConverter, [photo], { half_size: 'true', format: 'png' });
  expect(await sharp(half.outputs[0]?.path).metadata()).toMatchObject({ width: 48, height: 32 });
  await using auto = await runTool(rawPhotoConverter, [photo], { white_balance: 'auto', format: 'png' });
  await using camera = await runTool(rawPhotoConverter, [photo], { format: 'png' });
  const shown = await Promise.all([auto, camera].map(({ outputs }) => pixel(outputs[0]?.path ?? '', 20, 30)));
  expect(difference(shown[0] ?? [], shown[1] ?? [])).toBeGreaterThan(10);
  const cut = join(directory, 'cut.dng');
  await writeFile(cut, (await readFile(photo)).subarray(0, 5000));
  await expect(runTool(rawPhotoConverter, [cut])).rejects.toMatchObject({ code: 'invalid_input', file: 'cut.dng' });
});
