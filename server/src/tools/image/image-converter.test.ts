import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { exiftool } from '../../engines/exiftool.ts';
import { heicEncoder } from '../../engines/heic.ts';
import { pngChunk } from '../../engines/png.ts';
import {
  animation,
  difference,
  grain,
  hugePngHeader,
  keptFixture,
  meanDifference,
  pixel,
  quarterColors,
  quarters,
  writeImages,
} from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import imageConverter from './image-converter.ts';
import imageToPdfConverter from './image-to-pdf-converter.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  return writeImages(directory, {
    'photo.png': quarters().png().toBuffer(),
    'turned.jpg': quarters().withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer(),
    'print.jpg': quarters().toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 95 }).toBuffer(),
    'deep.tiff': quarters().toColourspace('rgb16').tiff({ compression: 'deflate' }).toBuffer(),
    'wide.png': quarters().withIccProfile('p3').png().toBuffer(),
    'clear.png': sharp({ create: { width: 40, height: 30, channels: 4, background: clear } })
      .png()
      .toBuffer(),
    'moving.gif': animation('gif'),
    'drawing.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="48"><rect width="96" height="48" fill="#2850dc"/></svg>',
    'outside.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="50" height="50"><image width="50" height="50" xlink:href="photo.png"/><image width="50" height="50" href="file:///etc/hostname"/></svg>',
    'words.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="60"><text x="5" y="45" font-size="40" font-family="No Such Font">Words</text></svg>',
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function convert(path: string, form: Record<string, string>) {
  const run = await runTool(imageConverter, [path], form);
  const [output] = run.outputs;
  if (output === undefined) throw new Error('no output');
  return { ...run, ...output };
}

async function expectQuarters(path: string, tolerance: number) {
  const { width, height } = await sharp(path).metadata();
  const [right, bottom] = [width - Math.ceil(width / 8), height - Math.ceil(height / 8)];
  const [left, top] = [Math.floor(width / 8), Math.floor(height / 8)];
  expect(difference(await pixel(path, left, top), quarterColors.topLeft)).toBeLessThanOrEqual(tolerance);
  expect(difference(await pixel(path, right, top), quarterColors.topRight)).toBeLessThanOrEqual(tolerance);
  expect(difference(await pixel(path, right, bottom), quarterColors.bottomRight)).toBeLessThanOrEqual(tolerance);
  expect(difference(await pixel(path, left, bottom), quarterColors.bottomLeft)).toBeLessThanOrEqual(tolerance);
}

const extensions = {
  jpeg: 'jpg',
  png: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
  tiff: 'tiff',
  bmp: 'bmp',
  heic: 'heic',
  jxl: 'jxl',
};

for (const [format, extension] of Object.entries(extensions)) {
  test(`there and back by ${format} shows the same picture`, async () => {
    await using there = await convert(files['photo.png'], { format, quality: '90' });
    expect(there.filename).toBe(`photo.${extension}`);
    expect(there.type).toBe(format);
    const copy = join(directory, `copy.${extension}`);
    await writeFile(copy, await readFile(there.path));
    await using back = await convert(copy, { format: 'png' });
    expect(await sharp(back.path).metadata()).toMatchObject({ width: 240, height: 160 });
    await expectQuarters(back.path, 8);
  });
}

// HEIC holds luminance and colour apart, and the way back rounds.
for (const [format, rounding] of [
  ['webp', 0],
  ['avif', 0],
  ['jxl', 0],
  ['heic', 1],
] as const) {
  test(`lossless ${format} keeps every pixel`, async () => {
    await using there = await convert(files['photo.png'], { format, lossless: 'true' });
    const copy = join(directory, `lossless.${format}`);
    await writeFile(copy, await readFile(there.path));
    await using back = await convert(copy, { format: 'png' });
    await expectQuarters(back.path, rounding);
  });
}

for (const [name, tolerance] of [
  ['photo.heic', 8],
  ['layers.psd', 0],
  ['rgb16.psd', 0],
] as const) {
  test(`${name} from another program is read with its colours`, async () => {
    await using result = await convert(keptFixture(name), { format: 'png' });
    await expectQuarters(result.path, tolerance);
  });
}

test('16 bits stay 16 bits where the format has them', async () => {
  await using tiff = await convert(files['deep.tiff'], { format: 'png' });
  expect((await sharp(tiff.path).metadata()).depth).toBe('ushort');
  await using psd = await convert(keptFixture('rgb16.psd'), { format: 'tiff' });
  expect((await sharp(psd.path).metadata()).depth).toBe('ushort');
  await using jpeg = await convert(files['deep.tiff'], { format: 'jpeg', quality: '95' });
  await expectQuarters(jpeg.path, 6);
});

test('CMYK becomes the same colours in RGB', async () => {
  await using result = await convert(files['print.jpg'], { format: 'png' });
  expect((await sharp(result.path).metadata()).space).toBe('srgb');
  // Blue and green of this strength do not exist in print; red and yellow do.
  await using psd = await convert(keptFixture('cmyk.psd'), { format: 'jpeg' });
  for (const { path } of [result, psd]) {
    expect(difference(await pixel(path, 20, 20), quarterColors.topLeft)).toBeLessThan(45);
    expect(difference(await pixel(path, 220, 140), quarterColors.bottomRight)).toBeLessThan(45);
  }
});

test('a wide-gamut profile stays with the pixels it belongs to', async () => {
  await using kept = await convert(files['wide.png'], { format: 'webp', lossless: 'true' });
  expect((await sharp(kept.path).metadata()).hasProfile).toBe(true);
  await expectQuarters(kept.path, 2);
  await using none = await convert(files['wide.png'], { format: 'gif' });
  await expectQuarters(none.path, 8);
});

test('a photo taken on its side comes out upright', async () => {
  await using result = await convert(files['turned.jpg'], { format: 'png' });
  expect(await sharp(result.path).metadata()).toMatchObject({ width: 160, height: 240 });
  expect((await sharp(result.path).metadata()).orientation ?? 1).toBe(1);
  expect(difference(await pixel(result.path, 140, 20), quarterColors.topLeft)).toBeLessThan(8);
});

test('a bitmap of OS/2, whose pixels start sooner than those of Windows can, is read', async () => {
  const path = join(directory, 'os2.bmp');
  const header = Buffer.alloc(26);
  header.write('BM', 0, 'latin1');
  header.writeUInt32LE(26 + 6, 10);
  header.writeUInt32LE(12, 14);
  for (const [index, value] of [8, 2, 1, 1].entries()) header.writeUInt16LE(value, 18 + index * 2);
  const palette = [20, 40, 220, 200, 180, 40];
  await writeFile(path, Buffer.concat([header, Buffer.from([...palette, 0x00, 0, 0, 0, 0xff, 0, 0, 0])]));
  await using result = await convert(path, { format: 'png' });
  expect(await sharp(result.path).metadata()).toMatchObject({ width: 8, height: 2 });
  expect(await pixel(result.path, 3, 0)).toEqual([40, 180, 200]);
  expect(await pixel(result.path, 3, 1)).toEqual([220, 40, 20]);
});

test('a raw photo is developed', async () => {
  await using result = await convert(keptFixture('photo.dng'), { format: 'jpeg' });
  expect(result.filename).toBe('photo.jpg');
  const [red, , blueInRed] = await pixel(result.path, 20, 30);
  const [redInBlue, , blue] = await pixel(result.path, 76, 30);
  expect(red - blueInRed).toBeGreaterThan(100);
  expect(blue - redInBlue).toBeGreaterThan(100);
});

test('transparency shows the background where the format has none', async () => {
  for (const format of ['jpeg', 'bmp']) {
    await using result = await convert(files['clear.png'], { format, background: '#28b43c' });
    const copy = join(directory, `flat.${format}`);
    await writeFile(copy, await readFile(result.path));
    await using back = await convert(copy, { format: 'png' });
    expect(difference(await pixel(back.path, 5, 5), [40, 180, 60])).toBeLessThan(6);
  }
  await using kept = await convert(files['clear.png'], { format: 'webp' });
  expect((await sharp(kept.path).stats()).isOpaque).toBe(false);
});

test('an icon holds every usual size, square and transparent around the picture', async () => {
  await using result = await convert(files['photo.png'], { format: 'ico' });
  expect(result.type).toBe('ico');
  const icon = await readFile(result.path);
  const sizes = Array.from({ length: icon.readUInt16LE(4) }, (_, index) => icon[6 + index * 16]);
  expect(sizes).toEqual([16, 24, 32, 48, 64, 128]);
  const copy = join(directory, 'copy.ico');
  await writeFile(copy, icon);
  await using back = await convert(copy, { format: 'png' });
  expect(await sharp(back.path).metadata()).toMatchObject({ width: 128, height: 128 });
  expect(difference(await pixel(back.path, 20, 40), quarterColors.topLeft)).toBeLessThan(3);
});

test('dpi is stored, and a drawing is drawn that much finer', async () => {
  await using jpeg = await convert(files['photo.png'], { format: 'jpeg', dpi: '300' });
  expect(await sharp(jpeg.path).metadata()).toMatchObject({ density: 300, width: 240 });
  await using drawing = await convert(files['drawing.svg'], { format: 'png', dpi: '300' });
  expect(await sharp(drawing.path).metadata()).toMatchObject({ density: 300, width: 300, height: 150 });
  await using plain = await convert(files['drawing.svg'], { format: 'tiff', dpi: '96' });
  expect(await sharp(plain.path).metadata()).toMatchObject({ density: 96, width: 96, height: 48 });
});

test('an animation stays one in WebP and becomes its first frame elsewhere', async () => {
  await using webp = await convert(files['moving.gif'], { format: 'webp' });
  expect((await sharp(webp.path, { pages: -1 }).metadata()).pages).toBe(3);
  await using jpeg = await convert(files['moving.gif'], { format: 'jpeg' });
  expect(await sharp(jpeg.path).metadata()).toMatchObject({ width: 60, height: 40 });
  expect(difference(await pixel(jpeg.path, 40, 20), [220, 40, 40])).toBeLessThan(8);
});

test('a drawing reaches no other file', async () => {
  await using result = await convert(files['outside.svg'], { format: 'png' });
  expect((await sharp(result.path).stats()).channels[3]?.max).toBe(0);
});

test('words in a drawing show, whatever font it names', async () => {
  await using result = await convert(files['words.svg'], { format: 'png' });
  expect((await sharp(result.path).stats()).channels[3]?.mean).toBeGreaterThan(5);
});

for (const name of ['photo.heic', 'layers.psd', 'photo.dng', 'cmyk.psd']) {
  test(`${name} cut short is a failure with its name`, async () => {
    const file = await readFile(keptFixture(name));
    const path = join(directory, `cut-${name}`);
    await writeFile(path, file.subarray(0, Math.floor(file.length * 0.6)));
    await expect(convert(path, { format: 'png' })).rejects.toMatchObject({
      code: 'invalid_input',
      file: `cut-${name}`,
    });
  });
}

for (const format of ['bmp', 'ico', 'jxl', 'webp', 'avif', 'gif', 'tiff']) {
  test(`a ${format} cut short is a failure with its name`, async () => {
    await using made = await convert(files['photo.png'], { format });
    const file = await readFile(made.path);
    const path = join(directory, `cut.${format}`);
    await writeFile(path, file.subarray(0, Math.floor(file.length * 0.6)));
    await expect(convert(path, { format: 'png' })).rejects.toMatchObject({
      code: 'invalid_input',
      file: `cut.${format}`,
    });
  });
}

test('a broken JPEG XL does not break the next one', async () => {
  await using made = await convert(files['photo.png'], { format: 'jxl', lossless: 'true' });
  const whole = join(directory, 'whole.jxl');
  const broken = join(directory, 'broken.jxl');
  const file = await readFile(made.path);
  await writeFile(whole, file);
  await writeFile(broken, file.subarray(0, file.length / 2));
  await expect(convert(broken, { format: 'png' })).rejects.toMatchObject({ code: 'invalid_input' });
  await using back = await convert(whole, { format: 'png' });
  await expectQuarters(back.path, 0);
});

test('a PNG whose pixels are damaged is the file’s fault, not the engine’s', async () => {
  const file = await readFile(files['photo.png']);
  const path = join(directory, 'damaged.png');
  await writeFile(path, Buffer.concat([file.subarray(0, 200), Buffer.alloc(200, 7), file.subarray(400)]));
  await expect(convert(path, { format: 'png' })).rejects.toMatchObject({ code: 'invalid_input', file: 'damaged.png' });
});

test('a kind of TIFF that nobody here reads is not called damaged', async () => {
  const tiled = await sharp(files['photo.png']).tiff({ tile: true, compression: 'none' }).toBuffer();
  const planar = tiled.indexOf(Buffer.from([0x1c, 0x01, 3, 0, 1, 0, 0, 0])); // Tag 284, PlanarConfiguration.
  expect(planar).toBeGreaterThan(0);
  tiled.writeUInt16LE(2, planar + 8);
  const path = join(directory, 'planes.tiff');
  await writeFile(path, tiled);
  await expect(convert(path, { format: 'png' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: '"planes.tiff" is written in a way that cannot be opened here.',
  });
});

test('a size that is a lie is refused in every format before it is decoded', async () => {
  const bmp = Buffer.alloc(200);
  bmp.write('BM', 0, 'latin1');
  bmp.writeUInt32LE(54, 10);
  bmp.writeUInt32LE(40, 14);
  bmp.writeInt32LE(60_000, 18);
  bmp.writeInt32LE(60_000, 22);
  bmp.writeUInt16LE(1, 26);
  bmp.writeUInt16LE(24, 28);
  const psd = Buffer.from(await readFile(keptFixture('layers.psd')));
  psd.writeUInt32BE(30_000, 14);
  psd.writeUInt32BE(30_000, 18);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="60000" height="60000"><rect width="9" height="9"/></svg>';
  const lies = await writeImages(directory, {
    'lie.bmp': bmp,
    'lie.psd': psd,
    'lie.svg': svg,
    'lie.png': hugePngHeader(),
  });
  for (const path of Object.values(lies)) {
    await expect(convert(path, { format: 'webp' })).rejects.toMatchObject({ code: 'resource_limit' });
  }
});

test('an engine is asked for only where it is needed', () => {
  const values = { format: 'jpeg', quality: 85, lossless: false, background: '#fff', dpi: undefined } as const;
  const input = (type: 'jpeg' | 'heic' | 'raw') => [{ filename: 'x', type, sizeBytes: 1 }];
  expect(imageConverter.enginesFor?.(values, input('heic'))).toEqual([]);
  expect(imageConverter.enginesFor?.(values, input('raw'))).toEqual([cameraRawDecoder, exiftool]);
  expect(imageConverter.enginesFor?.({ ...values, format: 'heic' }, input('jpeg'))).toEqual([heicEncoder]);
});

test('lossless JPEG is refused before it runs', async () => {
  await expect(convert(files['photo.png'], { format: 'jpeg', lossless: 'true' })).rejects.toThrow('lossless');
});

test.each([
  ['colour', 2],
  ['grey', 0],
])('the gamma of a PNG in %s is followed, whatever the output is', async (kind, colorType) => {
  const mark = (gamma: number) => pngChunk('gAMA', Buffer.from(new Uint32Array([gamma]).buffer).swap32());
  const grey = sharp({ create: { width: 8, height: 8, channels: 3, background: '#555555' } });
  const png = await (colorType === 0 ? grey.toColourspace('b-w') : grey).png().toBuffer();
  const withGamma = (gamma: number) => Buffer.concat([png.subarray(0, 33), mark(gamma), png.subarray(33)]);
  const paths = await writeImages(directory, {
    [`linear-${kind}.png`]: withGamma(100_000),
    [`usual-${kind}.png`]: withGamma(45_455),
  });
  for (const format of ['jpeg', 'webp', 'png', 'tiff']) {
    await using linear = await convert(paths[`linear-${kind}.png`] ?? '', { format });
    // A third of the light is 156 of 255 in sRGB.
    const shown = await sharp(linear.path).toColourspace('srgb').withIccProfile('srgb').png().toBuffer();
    expect(difference(await pixel(shown, 4, 4), [156, 156, 156])).toBeLessThan(3);
    await using usual = await convert(paths[`usual-${kind}.png`] ?? '', { format });
    expect(difference(await pixel(usual.path, 4, 4), [85, 85, 85])).toBeLessThan(3);
  }
});

describe('a JPEG with damage in the middle', () => {
  const scan = async () => {
    const jpeg = await (await grain(600, 400)).jpeg({ quality: 90 }).toBuffer();
    return { jpeg, middle: Math.floor(jpeg.length / 2) };
  };

  test('is refused when its pixels contradict themselves', async () => {
    const { jpeg, middle } = await scan();
    const { 'torn.jpg': torn } = await writeImages(directory, {
      'torn.jpg': Buffer.concat([jpeg.subarray(0, middle), jpeg.subarray(middle + 5000)]),
    });
    for (const format of ['png', 'webp']) {
      const run = convert(torn, { format });
      await expect(run).rejects.toMatchObject({ code: 'invalid_input', file: 'torn.jpg' });
    }
    await expect(runTool(imageToPdfConverter, [torn])).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is not suspected for stray bytes that change no pixel, nor for the damage of another', async () => {
    const { jpeg } = await scan();
    const { 'stray.jpg': stray } = await writeImages(directory, {
      'stray.jpg': Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(7), jpeg.subarray(-2), Buffer.alloc(500)]),
    });
    await using result = await convert(stray, { format: 'png' });
    expect(await meanDifference(result.path, jpeg)).toBe(0);
  });
});

test('what HEIC cannot hold is said, not called a fault of the engine', async () => {
  const { 'long.png': long } = await writeImages(directory, {
    'long.png': sharp({ create: { width: 1, height: 10_000, channels: 3, background: '#fff' } })
      .png()
      .toBuffer(),
  });
  await expect(convert(long, { format: 'heic' })).rejects.toMatchObject({ code: 'invalid_input', file: 'long.png' });
});
