import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keptFixture, pixel } from '../../../test/image-fixtures.ts';
import { runTool, type ToolRun } from '../../../test/run-tool.ts';
import { readMetadata } from '../../engines/exiftool.ts';
import { runProgram } from '../../sandbox/program.ts';
import imageResizer from './image-resizer.ts';
import rawPhotoConverter from './raw-photo-converter.ts';

let directory: string;
let photo: string;

/** The kept photo as a camera held on its side would have written it: 96 x 64 stored, 64 x 96 upright. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  photo = join(directory, 'photo.dng');
  const exif = ['-Orientation#=6', '-Artist=Ann Önn', '-DateTimeOriginal=2024:05:06 07:08:09', '-ExposureTime=1/250'];
  const place = ['-GPSLatitude=48.1', '-GPSLatitudeRef=N', '-GPSLongitude=11.5', '-GPSLongitudeRef=E'];
  const stored = ['-ExifImageWidth=96', '-ExifImageHeight=64', '-ColorSpace#=2'];
  await runProgram('exiftool', ['-o', photo, ...exif, ...place, ...stored, keptFixture('photo.dng')]);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const shot = {
  Make: 'Millrun',
  Model: 'Millrun Test',
  Artist: 'Ann Önn',
  DateTimeOriginal: '2024:05:06 07:08:09',
  ExposureTime: '1/250',
  GPSLatitudeRef: 'North',
};

async function exifOf({ outputs: [output] }: ToolRun) {
  const signal = new AbortController().signal;
  const metadata = await readMetadata(output!, { groups: ['EXIF'], binary: false, signal });
  return metadata['EXIF'] ?? {};
}

test.each(['jpeg', 'tiff', 'png'])('a %s keeps what the camera wrote, and is turned once', async (format) => {
  await using run = await runTool(rawPhotoConverter, [photo], { format });
  const path = run.outputs[0]?.path ?? '';
  const exif = await exifOf(run);
  expect(exif).toMatchObject(shot);
  expect(exif['Orientation'] ?? 'Horizontal (normal)').toBe('Horizontal (normal)');
  expect(exif['ExifImageWidth'] ?? 64).toBe(64);
  expect(exif['ColorSpace']).not.toBe('Adobe RGB');
  expect(await sharp(path).metadata()).toMatchObject({ width: 64, height: 96 });
  const [red, , blue] = await pixel(path, 32, 20);
  expect(red - blue).toBeGreaterThan(100);
});

test('other tools keep it too', async () => {
  await using run = await runTool(imageResizer, [photo], { width: '32', format: 'webp' });
  expect(await exifOf(run)).toMatchObject(shot);
});

test('a photo with damaged pixels is refused, not developed to false colours', async () => {
  const path = join(directory, 'damaged.dng');
  await writeFile(path, withDamagedPixels(await readFile(keptFixture('photo.dng'))));
  await expect(runTool(rawPhotoConverter, [path])).rejects.toMatchObject({
    code: 'invalid_input',
    file: 'damaged.dng',
  });
});

/** The pixels as lossless JPEG of 12 bits, each 4095 darker than the one before: below black at once. */
function withDamagedPixels(photo: Buffer): Buffer {
  const compression = Buffer.from([0x03, 0x01, 3, 0, 1, 0, 0, 0]); // Tag 259, a short.
  photo.writeUInt16LE(7, photo.indexOf(compression) + compression.length);
  const huffmanTable = [0xff, 0xc4, 0, 20, 0, 1, ...Array<number>(15).fill(0), 12];
  const frame = [0xff, 0xc3, 0, 11, 12, 0, 64, 0, 96, 1, 0, 0x11, 0];
  const scan = [0xff, 0xda, 0, 8, 1, 0, 0, 1, 0, 0];
  const pixelsAt = 420;
  photo.fill(0, pixelsAt).set([0xff, 0xd8, ...huffmanTable, ...frame, ...scan], pixelsAt);
  return photo;
}

test('a photo that says nothing of itself is developed all the same', async () => {
  await using run = await runTool(rawPhotoConverter, [keptFixture('photo.dng')], { half_size: 'true' });
  expect(await sharp(run.outputs[0]?.path).metadata()).toMatchObject({ width: 48, height: 32 });
});
