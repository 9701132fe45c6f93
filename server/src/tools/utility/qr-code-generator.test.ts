import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { writeImages } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import qrCodeGenerator from './qr-code-generator.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  return writeImages(directory, {
    'list.txt': '\uFEFFfirst line\r\n\r\nsecond, with a comma\nthird “ünïcode” line\n',
    'table.csv': 'https://example.com/1,one\n"quoted, value",two\nplain,three\n',
    'empty.txt': '\n  \n',
    'logo.png': sharp({ create: { width: 80, height: 40, channels: 3, background: '#e02020' } })
      .png()
      .toBuffer(),
    'logo.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><circle cx="5" cy="5" r="5" fill="#00a000"/></svg>',
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
  const wasm = await readFile(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'));
  await prepareZXingModule({ overrides: { wasmBinary: wasm.buffer }, fireImmediately: true });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function generate(form: Record<string, string>, names: (keyof typeof files)[] = []) {
  const run = await runTool(
    qrCodeGenerator,
    names.map((name) => files[name]),
    form,
  );
  const [output] = run.outputs;
  if (output === undefined) throw new Error('no output');
  return { ...run, ...output };
}

async function read(picture: string | Buffer) {
  const png = await sharp(picture).flatten({ background: '#ffffff' }).png().toBuffer();
  const [found] = await readBarcodes(new Uint8Array(png), { formats: ['QRCode'] });
  return { text: found?.text, ecc: found?.ecLevel };
}

for (const [what, text] of [
  ['an address', 'https://example.com/a?b=c&d=%20'],
  ['other scripts', 'Grüße, 世界 👋'],
  ['digits', '0123456789'.repeat(20)],
  ['the longest text', 'x'.repeat(2331)],
] as const) {
  test(`${what} can be read back`, async () => {
    await using result = await generate({ text, size: '1024' });
    expect(result).toMatchObject({ filename: 'qr-code.png', type: 'png' });
    expect(await sharp(result.path).metadata()).toMatchObject({ width: 1024, height: 1024 });
    expect(await read(result.path)).toEqual({ text, ecc: 'M' });
  });
}

for (const ecc of ['L', 'M', 'Q', 'H']) {
  test(`error correction ${ecc} is used`, async () => {
    await using result = await generate({ text: 'level', ecc });
    expect(await read(result.path)).toEqual({ text: 'level', ecc });
  });
}

test('every size is exact and readable', async () => {
  for (const size of ['64', '65', '511', '4096']) {
    await using result = await generate({ text: 'size', size, margin: '4' });
    expect(await sharp(result.path).metadata()).toMatchObject({ width: Number(size), height: Number(size) });
    expect((await read(result.path)).text).toBe('size');
  }
});

test('colours and transparency are those asked for', async () => {
  await using colored = await generate({ text: 'colours', dark: '#1432c8', light: '#ffeecc' });
  const pixels = await sharp(colored.path).removeAlpha().raw().toBuffer();
  const seen = new Set(
    Array.from({ length: pixels.length / 3 }, (_, at) => pixels.toString('hex', at * 3, at * 3 + 3)),
  );
  expect([...seen].toSorted()).toEqual(['1432c8', 'ffeecc']);
  await using clear = await generate({ text: 'clear', light: 'transparent' });
  expect((await sharp(clear.path).stats()).isOpaque).toBe(false);
  expect((await read(clear.path)).text).toBe('clear');
});

test('SVG draws the same code', async () => {
  await using result = await generate({ text: 'as a drawing', format: 'svg', size: '300' });
  expect(result).toMatchObject({ filename: 'qr-code.svg', type: 'svg' });
  expect(await sharp(result.path).metadata()).toMatchObject({ width: 300, height: 300 });
  expect((await read(result.path)).text).toBe('as a drawing');
});

for (const logo of [undefined, 'logo.svg'] as const) {
  test(`PDF draws the same code${logo === undefined ? '' : ' with a logo'}`, async () => {
    await using result = await generate({ text: 'as a page', format: 'pdf' }, logo === undefined ? [] : [logo]);
    expect(result).toMatchObject({ filename: 'qr-code.pdf', type: 'pdf' });
    expect((await read(await pdfPicture(result.path))).text).toBe('as a page');
  });
}

async function pdfPicture(path: string): Promise<Buffer> {
  const { PDFiumLibrary } = await import('@hyzyla/pdfium');
  const library = await PDFiumLibrary.init();
  const document = await library.loadDocument(await readFile(path));
  const { data, width, height } = await document.getPage(0).render({ scale: 2, render: 'bitmap' });
  const png = await sharp(data, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
  document.destroy();
  library.destroy();
  return png;
}

for (const logo of ['logo.png', 'logo.svg'] as const) {
  test(`${logo} stands in the middle and the code can still be read`, async () => {
    for (const format of ['png', 'svg']) {
      await using result = await generate({ text: 'https://example.com/with-a-logo', ecc: 'L', format }, [logo]);
      expect(await read(result.path)).toEqual({ text: 'https://example.com/with-a-logo', ecc: 'Q' });
      const middle = await sharp(result.path).extract({ left: 250, top: 250, width: 12, height: 12 }).png().toBuffer();
      const { channels } = await sharp(middle).stats();
      expect(Math.abs((channels[0]?.mean ?? 0) - (channels[1]?.mean ?? 0))).toBeGreaterThan(100);
    }
  });
}

test('a list gives a code a line, in order', async () => {
  await using result = await generate({}, ['list.txt']);
  expect(result.outputs.map(({ filename }) => filename)).toEqual(['list-1.png', 'list-2.png', 'list-3.png']);
  const texts = await Promise.all(result.outputs.map(async ({ path }) => (await read(path)).text));
  expect(texts).toEqual(['first line', 'second, with a comma', 'third “ünïcode” line']);
});

test('a table gives a code for each value of its first column', async () => {
  await using result = await generate({}, ['table.csv']);
  const texts = await Promise.all(result.outputs.map(async ({ path }) => (await read(path)).text));
  expect(texts).toEqual(['https://example.com/1', 'quoted, value', 'plain']);
});

for (const [form, names, field] of [
  [{}, [], 'text'],
  [{ text: 'x'.repeat(2332) }, [], 'text'],
  [{ text: 'x'.repeat(1700) }, ['logo.png'], 'text'],
  [{ text: 'x' }, ['list.txt'], 'text'],
  [{ text: 'x', dark: '#ffffff' }, [], 'dark'],
  [{ text: 'x', dark: '#eeeeee', light: 'transparent' }, [], 'dark'],
] as const) {
  test(`${JSON.stringify(form).slice(0, 50)} with ${names.join() || 'no file'} is refused for its ${field}`, async () => {
    await expect(generate(form, [...names])).rejects.toThrow(`"${field}"`);
  });
}

test('a size with less than a pixel a module fails and says the smallest', async () => {
  await expect(generate({ text: 'x'.repeat(1000), size: '64' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/at least \d+ pixels/),
  });
});

test('an empty list fails', async () => {
  await expect(generate({}, ['empty.txt'])).rejects.toMatchObject({ code: 'invalid_input' });
});
