import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { stopLibreOffice } from '../../engines/libreoffice.ts';
import barcodeGenerator from './barcode-generator.ts';
import barcodeReader from './barcode-reader.ts';
import base64Decoder from './base64-decoder.ts';
import base64Encoder from './base64-encoder.ts';
import fileDecryptor from './file-decryptor.ts';
import fileEncryptor from './file-encryptor.ts';
import filePreviewer from './file-previewer.ts';
import fileTypeDetector from './file-type-detector.ts';
import hashCalculator from './hash-calculator.ts';
import metadataRemover from './metadata-remover.ts';
import metadataViewer from './metadata-viewer.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
});
afterAll(async () => {
  await stopLibreOffice();
  await rm(directory, { recursive: true, force: true });
});

async function file(name: string, content: Uint8Array | string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

const say = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });

describe('hash-calculator', () => {
  const sums = { md5: 'md5sum', sha1: 'sha1sum', sha256: 'sha256sum', sha512: 'sha512sum', blake2b: 'b2sum' } as const;

  test('computes what the programs of coreutils compute', async () => {
    const path = await file('data.bin', randomBytes(3_000_001));
    await using run = await runTool(hashCalculator, [path], { algorithms: Object.keys(sums).join(',') });
    const [report] = JSON.parse(await readFile(run.outputs[0]!.path, 'utf8')) as Record<string, unknown>[];
    expect(report).toMatchObject({ filename: 'data.bin', size_bytes: 3_000_001 });
    for (const [algorithm, program] of Object.entries(sums)) {
      expect(report?.[algorithm]).toBe(say(program, path).split(' ')[0]);
    }
  });

  test('writes lists that sha256sum can check, whatever the names', async () => {
    const paths = [await file('a b.txt', 'one'), await file('line\nbreak.txt', 'two')];
    await using run = await runTool(hashCalculator, paths, { algorithms: 'sha256, crc32', format: 'sumfile' });
    expect(run.outputs.map(({ filename }) => filename)).toEqual(['sha256sums.txt', 'crc32sums.txt']);
    const [sha256, crc32] = await Promise.all(run.outputs.map(({ path }) => readFile(path, 'utf8')));
    await writeFile(join(directory, 'sums'), sha256 ?? '');
    expect(execFileSync('sha256sum', ['-c', '--quiet', 'sums'], { cwd: directory, encoding: 'utf8' })).toBe('');
    // The CRC-32 of "one", as gzip stores it.
    const stored = execFileSync('gzip', ['-c', paths[0]!]).readUInt32LE(
      execFileSync('gzip', ['-c', paths[0]!]).length - 8,
    );
    expect(crc32).toContain(`${stored.toString(16).padStart(8, '0')}  a b.txt`);
  });

  test('refuses an algorithm that there is not', async () => {
    const path = await file('x.txt', 'x');
    await expect(runTool(hashCalculator, [path], { algorithms: 'sha256,sha3' })).rejects.toThrow('is not one of');
  });
});

describe('base64', () => {
  test('encodes as base64(1) does, and decodes it again, in pieces of any length', async () => {
    for (const length of [1, 2, 3, 65_537, 400_000]) {
      const bytes = randomBytes(length);
      const path = await file('data.bin', bytes);
      await using encoded = await runTool(base64Encoder, [path], { wrap: '76' });
      const [code] = encoded.outputs;
      expect(await readFile(code!.path, 'utf8')).toBe(say('base64', '-w', '76', path));
      await using decoded = await runTool(base64Decoder, [{ path: code!.path, filename: 'data.bin.txt' }]);
      expect(decoded.outputs[0]?.filename).toBe('data.bin');
      expect(await readFile(decoded.outputs[0]!.path)).toEqual(bytes);
    }
  });

  test('writes and reads data URIs and the alphabet of URLs', async () => {
    const bytes = Buffer.from([0xfb, 0xef, 0xff, 0x00]);
    const path = await file('four.bin', bytes);
    for (const form of [{ data_uri: 'true' }, { url_safe: 'true' }]) {
      await using encoded = await runTool(base64Encoder, [path], form as Record<string, string>);
      const code = await readFile(encoded.outputs[0]!.path, 'utf8');
      expect(code).toBe('data_uri' in form ? 'data:application/octet-stream;base64,++//AA==' : '--__AA');
      await using decoded = await runTool(base64Decoder, [await file('code.txt', code)], { filename: 'back.bin' });
      expect(decoded.outputs[0]?.filename).toBe('back.bin');
      expect(await readFile(decoded.outputs[0]!.path)).toEqual(bytes);
    }
  });

  test('opens PEM', async () => {
    const body = randomBytes(2000);
    const pem = `-----BEGIN DATA-----\n${body.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END DATA-----\n`;
    await using decoded = await runTool(base64Decoder, [await file('data.txt', pem)]);
    expect(await readFile(decoded.outputs[0]!.path)).toEqual(body);
  });

  test.each([
    ['prose.txt', 'This is, plainly, prose.', '"," stands at character 8'],
    ['cut.txt', 'AAAAA', 'ends in the middle'],
    ['blank.txt', ' \n ', 'holds no Base64'],
    ['twice.txt', 'QQ==QQ==', 'goes on after'],
  ])('says what is wrong with %s', async (name, content, words) => {
    await expect(runTool(base64Decoder, [await file(name, content)])).rejects.toThrow(words);
  });
});

describe('file-encryptor and file-decryptor', () => {
  test.each(['age', 'gpg'])('open with %s what they encrypted, and nothing else', async (format) => {
    const bytes = randomBytes(200_000);
    const path = await file('secret.pdf', bytes);
    const form = { passphrase: 'correct horse', format };
    await using encrypted = await runTool(fileEncryptor, [path], form);
    const [output] = encrypted.outputs;
    expect(output).toMatchObject({ filename: `secret.pdf.${format}` });
    await using decrypted = await runTool(fileDecryptor, [output!], { passphrase: 'correct horse' });
    expect(decrypted.outputs[0]?.filename).toBe('secret.pdf');
    expect(await readFile(decrypted.outputs[0]!.path)).toEqual(bytes);

    const wrong = runTool(fileDecryptor, [output!], { passphrase: 'wrong horse' });
    await expect(wrong).rejects.toMatchObject({ code: 'password_required' });
    const cut = await file(`cut.${format}`, (await readFile(output!.path)).subarray(0, 150_000));
    await expect(runTool(fileDecryptor, [cut], { passphrase: form.passphrase })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test('opens what gpg itself encrypted, and gpg opens ours', async () => {
    const path = await file('plain.txt', 'plain words');
    const home = await mkdtemp(join(tmpdir(), 'millrun-test-'));
    const gpg = (...args: string[]) =>
      say(
        'gpg',
        '--homedir',
        home,
        '--batch',
        '--yes',
        '--pinentry-mode',
        'loopback',
        '--passphrase',
        'correct horse',
        ...args,
      );
    try {
      gpg('--armor', '--symmetric', '-o', join(directory, 'plain.asc'), path);
      await using run = await runTool(fileDecryptor, [join(directory, 'plain.asc')], { passphrase: 'correct horse' });
      expect(await readFile(run.outputs[0]!.path, 'utf8')).toBe('plain words');
      await using ours = await runTool(fileEncryptor, [path], { passphrase: 'correct horse', format: 'gpg' });
      expect(gpg('--quiet', '--decrypt', ours.outputs[0]!.path)).toBe('plain words');
    } finally {
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'all']);
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('bar codes', () => {
  test.each([
    ['code128', 'Hello-128', 'Code128'],
    ['ean13', '5901234123457', 'EAN13'],
    ['upca', '012345678905', 'UPCA'],
    ['datamatrix', 'in a matrix', 'DataMatrix'],
    ['pdf417', 'stacked text', 'PDF417'],
    ['aztec', 'aztec text', 'Aztec'],
    ['qrcode', 'https://example.com', 'QRCode'],
    ['code39', 'CODE-39', 'Code39'],
    ['itf14', '15400141288763', 'ITF'],
  ])('of kind %s can be read again', async (type, text, seen) => {
    await using made = await runTool(barcodeGenerator, [], { type, text });
    await using read = await runTool(barcodeReader, [made.outputs[0]!]);
    const report = JSON.parse(await readFile(read.outputs[0]!.path, 'utf8')) as {
      codes: { type: string; text: string }[];
    };
    expect(report.codes.map((code) => code.text)).toEqual([text]);
    expect(report.codes[0]?.type).toContain(seen);
  });

  test.each(['04965802', '01234531', '01234543', '04124498'])('of kind upce are read as printed: %s', async (text) => {
    await using made = await runTool(barcodeGenerator, [], { type: 'upce', text });
    await using read = await runTool(barcodeReader, [made.outputs[0]!]);
    expect(JSON.parse(await readFile(read.outputs[0]!.path, 'utf8'))).toMatchObject({
      codes: [{ type: 'UPCE', text }],
    });
  });

  test('are made of a list, and drawn as SVG', async () => {
    const list = await file('list.csv', 'code;name\n4006381333931;pen\n');
    await using run = await runTool(barcodeGenerator, [list], { format: 'svg', type: 'code128' });
    expect(run.outputs.map(({ filename }) => filename)).toEqual(['list-1.svg', 'list-2.svg']);
    await using read = await runTool(barcodeReader, [run.outputs[1]!]);
    expect(await readFile(read.outputs[0]!.path, 'utf8')).toContain('"4006381333931"');
  });

  test('are read on every page of a TIFF', async () => {
    await using first = await runTool(barcodeGenerator, [], { type: 'qrcode', text: 'one' });
    await using second = await runTool(barcodeGenerator, [], { type: 'code128', text: 'two' });
    const scan = join(directory, 'scan.tiff');
    say('convert', first.outputs[0]!.path, second.outputs[0]!.path, scan);
    for (const [pages, codes] of [
      [
        'all',
        [
          { page: 1, text: 'one' },
          { page: 2, text: 'two' },
        ],
      ],
      ['2', [{ page: 2, text: 'two' }]],
    ] as const) {
      await using read = await runTool(barcodeReader, [scan], { pages });
      expect(JSON.parse(await readFile(read.outputs[0]!.path, 'utf8'))).toMatchObject({ count: codes.length, codes });
    }
  });

  test('that a kind cannot hold are refused with the reason', async () => {
    const wrong = runTool(barcodeGenerator, [], { type: 'ean13', text: '5901234123450' });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('check digit'),
    });
  });
});

describe('metadata-viewer', () => {
  const photo = join(import.meta.dirname, '../../../test/fixtures/samples/jpeg.jpg');

  async function view(form: Record<string, string>): Promise<Record<string, Record<string, unknown>>> {
    await using run = await runTool(metadataViewer, [photo], form);
    return (JSON.parse(await readFile(run.outputs[0]!.path, 'utf8')) as { metadata: never }).metadata;
  }

  test('shows what is in the file and nothing of our disk', async () => {
    const metadata = await view({});
    expect(metadata['EXIF']).toMatchObject({ Make: 'Millrun', DateTimeOriginal: '2026:05:04 10:20:30' });
    expect(Object.keys(metadata)).not.toContain('System');
    expect(JSON.stringify(metadata)).not.toMatch(/jpeg\.jpg|samples/);
  });

  test('shows only the groups that are asked for', async () => {
    expect(Object.keys(await view({ groups: 'GPS' }))).toEqual(['EXIF']);
    await expect(runTool(metadataViewer, [photo], { groups: '-exec' })).rejects.toThrow('groups');
  });
});

test('file-type-detector believes the content, not the name', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const paths = [await file('holiday.pdf', png), await file('words.txt', 'Grüße')];
  await using run = await runTool(fileTypeDetector, paths);
  expect(JSON.parse(await readFile(run.outputs[0]!.path, 'utf8'))).toMatchObject([
    { filename: 'holiday.pdf', media_type: 'image/png', extension_matches: false },
    { filename: 'words.txt', media_type: 'text/plain', extension_matches: true, encoding: 'utf-8' },
  ]);
});

describe('metadata-remover', () => {
  const samples = join(import.meta.dirname, '../../../test/fixtures/samples');
  const pixels = (path: string) => say('convert', path, '-format', '%#', 'info:');
  const tags = (path: string, ...names: string[]) =>
    say('exiftool', '-s', '-s', '-s', ...names.map((name) => `-${name}`), path).trim();

  test.each(['jpeg.jpg', 'tiff.tiff', 'png.png', 'gif.gif', 'webp.webp'])(
    'takes everything out of %s but the picture',
    async (name) => {
      const path = join(directory, name);
      await writeFile(path, await readFile(join(samples, name)));
      if (name !== 'webp.webp') {
        execFileSync('exiftool', ['-q', '-overwrite_original', '-XMP:Creator=Somebody', '-Comment=Words', path]);
      }
      await using run = await runTool(metadataRemover, [path]);
      const [output] = run.outputs;
      expect(output?.filename).toBe(name);
      expect(
        tags(output!.path, 'Creator', 'Comment', 'Make', 'Model', 'GPSLatitude', 'DateTimeOriginal', 'XMP:all'),
      ).toBe('');
      expect(tags(output!.path, 'Orientation')).toBe(tags(path, 'Orientation') === '' ? '' : tags(path, 'Orientation'));
      expect(pixels(output!.path)).toBe(pixels(path));
    },
  );

  test('cleans every page of a TIFF, and keeps all of them', async () => {
    const path = join(directory, 'pages.tiff');
    execFileSync('convert', ['-size', '40x30', 'xc:red', 'xc:blue', 'xc:green', path]);
    const facts = ['Artist=Anna', 'Software=Program', 'HostComputer=Here', 'DocumentName=Secret'];
    const ofPages = ['IFD0', 'IFD1', 'IFD2'].flatMap((page) => facts.map((fact) => `-${page}:${fact}`));
    execFileSync('exiftool', ['-q', '-overwrite_original', '-XMP:Creator=Anna', ...ofPages, path]);
    const told = ['Artist', 'Software', 'HostComputer', 'DocumentName'];
    expect(tags(path, ...told)).toContain('Anna');
    await using run = await runTool(metadataRemover, [path]);
    const output = run.outputs[0]!.path;
    expect(say('exiftool', '-a', '-s3', ...told.map((name) => `-${name}`), output)).toBe('');
    expect(pixels(output)).toBe(pixels(path));

    await using kept = await runTool(metadataRemover, [path], { keep: 'Artist' });
    expect(say('exiftool', '-a', '-G1', '-s', '-Artist', '-Software', kept.outputs[0]!.path).match(/IFD\d/g)).toEqual([
      'IFD0',
      'IFD1',
      'IFD2',
    ]);
  });

  test('keeps what it is told to keep, and drops the profile when it is told to', async () => {
    const form = { keep: 'Copyright', keep_icc: 'false', keep_orientation: 'false' };
    await using run = await runTool(metadataRemover, [join(samples, 'jpeg.jpg')], form);
    const path = run.outputs[0]!.path;
    expect(tags(path, 'Copyright')).toBe('CC0');
    expect(tags(path, 'ProfileDescription', 'Orientation', 'Make')).toBe('');
  });

  test.each(['docx.docx', 'xlsx.xlsx', 'pptx.pptx', 'odt.odt', 'ods.ods', 'odp.odp'])(
    'leaves %s a document without properties',
    async (name) => {
      await using run = await runTool(metadataRemover, [join(samples, name)]);
      const path = run.outputs[0]!.path;
      execFileSync('unzip', ['-tqq', path]);
      expect(
        tags(path, 'Creator', 'Author', 'Title', 'Application', 'LastModifiedBy', 'CreateDate', 'Initial-creator'),
      ).toBe('');
      expect(run.outputs[0]?.type).toBe(name.split('.')[0]);
    },
  );

  test('clears the properties of a PDF', async () => {
    await using run = await runTool(metadataRemover, [join(samples, 'pdf.pdf')]);
    const info = say('pdfinfo', run.outputs[0]!.path);
    expect(info).not.toMatch(/^(Title|Author|Creator|Producer|CreationDate):/m);
    expect(info).toMatch(/^Pages:/m);
  });

  test.each(['mp4.mp4', 'mov.mov', 'mp3.mp3', 'flac.flac', 'mkv.mkv'])('copies %s without its tags', async (name) => {
    const path = join(directory, name);
    execFileSync('ffmpeg', [
      '-v',
      'error',
      '-y',
      '-i',
      join(samples, name),
      '-c',
      'copy',
      '-metadata',
      'title=Secret',
      '-metadata',
      'location=+48+016/',
      path,
    ]);
    await using run = await runTool(metadataRemover, [path]);
    const shown = say('ffprobe', '-v', 'error', '-show_entries', 'format_tags:stream_tags', run.outputs[0]!.path);
    expect(shown).not.toMatch(/Secret|\+48/);
  });

  test('says that an encrypted document needs its password removed', async () => {
    const locked = runTool(metadataRemover, [join(samples, 'encrypted_office.docx')]);
    await expect(locked).rejects.toMatchObject({ code: 'password_required' });
  });
});

describe('file-previewer', () => {
  const samples = join(import.meta.dirname, '../../../test/fixtures/samples');

  test.each(['jpeg.jpg', 'pdf.pdf', 'docx.docx', 'xlsx.xlsx', 'odp.odp', 'mp4.mp4', 'mp3.mp3', 'ttf.ttf', 'csv.csv'])(
    'shows %s',
    async (name) => {
      await using run = await runTool(filePreviewer, [join(samples, name)], { format: 'png' });
      const facts = say('convert', run.outputs[0]!.path, '-format', '%w %h %[fx:standard_deviation]', 'info:');
      const [width = 0, height = 0, spread = 0] = facts.split(' ').map(Number);
      expect(width).toBeLessThanOrEqual(300);
      expect(height).toBeLessThanOrEqual(200);
      expect(Math.max(width / 300, height / 200)).toBeGreaterThan(0.5);
      expect(spread, 'it shows something').toBeGreaterThan(0.01);
    },
  );
});
