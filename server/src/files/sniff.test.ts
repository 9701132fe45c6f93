import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import type { FileTypeId } from '../lib/media-types.ts';
import { createSampler, isEmpty, sampleLength } from './content-sample.ts';
import { sniff, sniffFile } from './sniff.ts';

const fixtures = join(import.meta.dirname, '../../test/fixtures');

function typeOf(content: string | Buffer): Promise<FileTypeId> {
  const sampler = createSampler();
  sampler.push(Buffer.from(content));
  return sniff(sampler.sample());
}

function zip(names: readonly string[], compress = true, content: Buffer = Buffer.from('<x/>')): Promise<Buffer> {
  const file = new ZipFile();
  for (const name of names) file.addBuffer(content, name, { compress });
  file.end();
  return buffer(file.outputStream);
}

const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: '#336699' } });
const ole = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** A compound file as far as it is looked at: its mark, and the names of its streams in the directory sector. */
function compound(...streams: string[]): Buffer {
  const entries = streams.map((name) => {
    const entry = Buffer.alloc(128);
    entry.write(name, 'utf16le');
    return entry;
  });
  return Buffer.concat([ole, Buffer.alloc(504), Buffer.alloc(512, 0xff), ...entries]);
}

type TiffEntries = [tag: number, type: number, value: number][];

/** A TIFF with these entries in its first directory, which points to a second one when there are entries `below`. */
function tiff(entries: TiffEntries, below: TiffEntries = [], littleEndian = true): Buffer {
  const directory = (list: TiffEntries) => {
    const view = new DataView(new ArrayBuffer(2 + list.length * 12 + 4));
    view.setUint16(0, list.length, littleEndian);
    for (const [index, [tag, type, value]] of list.entries()) {
      view.setUint16(2 + index * 12, tag, littleEndian);
      view.setUint16(4 + index * 12, type, littleEndian);
      view.setUint32(6 + index * 12, 1, littleEndian);
      if (type === 3) view.setUint16(10 + index * 12, value, littleEndian);
      else view.setUint32(10 + index * 12, value, littleEndian);
    }
    return Buffer.from(view.buffer);
  };
  const header = latin1(littleEndian ? 'II*\0\x08\0\0\0' : 'MM\0*\0\0\0\x08');
  if (below.length === 0) return Buffer.concat([header, directory(entries)]);
  const pointer: TiffEntries = [[0x014a, 4, 8 + 2 + (entries.length + 1) * 12 + 4]];
  return Buffer.concat([header, directory([...entries, ...pointer]), directory(below)]);
}

function oldTar(name: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name);
  header.write('0000644\0', 100);
  header.write('00000000005\0', 124);
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, Buffer.alloc(1536)]);
}

describe('pictures', () => {
  test.each(['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const)('%s as sharp writes it', async (format) => {
    expect(await typeOf(await picture.clone().toFormat(format).toBuffer())).toBe(format);
  });

  test.each([
    ['photo.heic', 'heic'],
    ['photo.dng', 'raw'],
    ['layers.psd', 'psd'],
  ])('the fixture %s', async (name, type) => {
    expect(await sniffFile(join(fixtures, name))).toBe(type);
  });

  test.each<[string, Buffer, FileTypeId]>([
    ['a JPEG XL codestream', latin1('\xff\x0a\xfa\x1f\x01\x90\x08\0'), 'jxl'],
    ['a JPEG XL container', latin1('\0\0\0\x0cJXL \r\n\x87\n\0\0\0\x14ftypjxl \0\0\0\0jxl '), 'jxl'],
    ['HEIF of HEVC behind a neutral brand', latin1('\0\0\0\x18ftypmif1\0\0\0\0mif1heic'), 'heic'],
    ['HEIF of AV1 behind a neutral brand', latin1('\0\0\0\x18ftypmif1\0\0\0\0mif1avif'), 'avif'],
    ['a Canon CR3', latin1('\0\0\0\x18ftypcrx \0\0\0\x01crx isom'), 'raw'],
    ['an MP4 film', latin1('\0\0\0\x18ftypmp42\0\0\0\0mp42isom'), 'mp4'],
    ['a Fujifilm RAF', latin1('FUJIFILMCCD-RAW 0201FF129502X-T1\0\0'), 'raw'],
    ['an Olympus ORF', latin1('IIRO\x08\0\0\0\0\0'), 'raw'],
    ['a Panasonic RW2', latin1('IIU\0\x18\0\0\0\0\0'), 'raw'],
    ['a Canon CR2', latin1('II*\0\x10\0\0\0CR\x02\0\0\0\0\0\0\0'), 'raw'],
    [
      'a DNG by its version tag',
      tiff([
        [0x0106, 3, 2],
        [0xc612, 1, 0x0401],
      ]),
      'raw',
    ],
    [
      'a raw by sensor data below the first directory, as NEF and ARW',
      tiff([[0x0106, 3, 2]], [[0x0106, 3, 32803]]),
      'raw',
    ],
    ['a TIFF with a reduced picture below', tiff([[0x0106, 3, 2]], [[0x0106, 3, 6]]), 'tiff'],
    ['a TIFF whose directory is out of reach', latin1('II*\0\xff\xff\xff\x7f\0\0'), 'tiff'],
    ['the same, big-endian', tiff([[0x0106, 3, 2]], [[0x0106, 3, 32803]], false), 'raw'],
    ['a TIFF of linear sensor data, big-endian', tiff([[0x0106, 3, 34892]], [], false), 'raw'],
    ['a TIFF that points to itself', tiff([[0x014a, 4, 8]]), 'tiff'],
    ['a BigTIFF', latin1('II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0'), 'tiff'],
    ['a Windows bitmap', Buffer.concat([latin1('BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0'), Buffer.alloc(52)]), 'bmp'],
    [
      'a Windows icon',
      Buffer.concat([latin1('\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0\x04\0\0\0\x16\0\0\0'), Buffer.alloc(4)]),
      'ico',
    ],
    ['the mark of an icon with nothing behind it', Buffer.concat([latin1('\0\0\x01\0'), Buffer.alloc(40)]), 'binary'],
  ])('%s', async (_what, content, type) => {
    expect(await typeOf(content)).toBe(type);
  });
});

describe('drawings and pages', () => {
  test.each<[string, FileTypeId]>([
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'svg'],
    ['\uFEFF<?xml version="1.0"?>\n<!-- made by hand -->\n<svg width="1"></svg>', 'svg'],
    ['<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd" [\n<!ENTITY ns "http://x>">\n]>\n<svg></svg>', 'svg'],
    ['<?xml version="1.0"?><s:svg xmlns:s="http://www.w3.org/2000/svg"/>', 'svg'],
    [`<!--${'x'.repeat(30_000)}-->${' '.repeat(20_000)}<svg/>`, 'svg'],
    ['<!doctype html><svg></svg>', 'html'],
    ['<!DOCTYPE HTML><p>Hi', 'html'],
    ['\n\n<html lang="de"><body>ü</body></html>', 'html'],
    ['<!-- note --><body>x', 'html'],
    ['<script>alert(1)</script>', 'html'],
    ['<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"/>', 'html'],
    ['<?xml version="1.0"?><feed><svg/></feed>', 'xml'],
    ['<note><to>you</to></note>\n', 'xml'],
    ['<note attribute="1"/>', 'xml'],
    ['<3 this is prose', 'txt'],
    ['<name> wrote: hello', 'txt'],
  ])('%j is %s', async (content, type) => {
    expect(await typeOf(content)).toBe(type);
  });

  test('an SVG in UTF-16 or Latin-1', async () => {
    expect(await typeOf(Buffer.from('\uFEFF<svg/>', 'utf16le'))).toBe('svg');
    expect(await typeOf(latin1('<?xml version="1.0" encoding="ISO-8859-1"?><svg><text>\xe9t\xe9</text></svg>'))).toBe(
      'svg',
    );
  });
});

describe('documents', () => {
  const pdf = '%PDF-1.4\n1 0 obj\n<<>>\nendobj\nstartxref\n9\n%%EOF\n';

  test.each<[string, string | Buffer, FileTypeId]>([
    ['a PDF', pdf, 'pdf'],
    ['a PDF behind a mail header', `From: a\r\n\r\n${pdf}`, 'pdf'],
    ['a PDF behind bytes', Buffer.concat([randomBytes(500), Buffer.from(pdf)]), 'pdf'],
    ['a PDF more than 1,024 bytes down', 'x'.repeat(1100) + pdf, 'txt'],
    ['prose that mentions %PDF-', 'A file begins with %PDF-1.7 when it is one.', 'txt'],
    ['a page with a PDF in it', `<html><script>alert(1)</script>\n${pdf}\xff`, 'html'],
    ['RTF', '{\\rtf1\\ansi hello}', 'rtf'],
    ['an old Word file', compound('Root Entry', '1Table', 'WordDocument'), 'doc'],
    ['a locked Office file', compound('Root Entry', 'EncryptionInfo', 'EncryptedPackage'), 'encrypted_office'],
    ['an old Excel file', compound('Root Entry', 'Workbook'), 'xls'],
    ['an Outlook e-mail', compound('Root Entry', '__properties_version1.0'), 'msg'],
    ['an installer', compound('Root Entry', 'Property'), 'binary'],
  ])('%s', async (_what, content, type) => {
    expect(await typeOf(content)).toBe(type);
  });

  test.each<[FileTypeId, string[]]>([
    ['docx', ['[Content_Types].xml', '_rels/.rels', 'word/document.xml']],
    ['docx', ['docProps/app.xml', 'word/document2.xml', '[Content_Types].xml']],
    ['xlsx', ['[Content_Types].xml', 'xl/workbook.xml']],
    ['pptx', ['[Content_Types].xml', 'ppt/presentation.xml']],
    ['zip', ['word/document.xml', 'notes.txt']],
    ['zip', ['[Content_Types].xml', 'lib/package.nuspec']],
    ['zip', ['a.txt']],
    ['zip', []],
  ])('%s by the entries %j', async (type, names) => {
    expect(await typeOf(await zip(names))).toBe(type);
    expect(await typeOf(await zip(names, false))).toBe(type);
  });

  test('a large DOCX whose parts fill both ends of the sample', async () => {
    const names = ['[Content_Types].xml', ...Array.from({ length: 40 }, (_, n) => `word/media/image${n}.png`)];
    const large = await zip(names, false, randomBytes(20_000));
    expect(large.length).toBeGreaterThan(5 * sampleLength);
    expect(await typeOf(large)).toBe('docx');
  });

  test('slides with the workbook of a chart stored in them, an archive of documents', async () => {
    const workbook = await zip(['[Content_Types].xml', 'xl/workbook.xml']);
    const holding = async (...names: string[]) => {
      const file = new ZipFile();
      for (const name of names) file.addBuffer(Buffer.from('<x/>'), name);
      file.addBuffer(workbook, 'chart.xlsx', { compress: false });
      file.end();
      return typeOf(await buffer(file.outputStream));
    };
    expect(await holding('[Content_Types].xml', 'ppt/presentation.xml')).toBe('pptx');
    expect(await holding('notes.txt')).toBe('zip');
  });

  test('OpenDocument by its mimetype entry, a drawing is none that is read', async () => {
    const opened = async (mediaType: string) => {
      const file = new ZipFile();
      file.addBuffer(Buffer.from(mediaType), 'mimetype', { compress: false });
      file.addBuffer(Buffer.from('<x/>'), 'content.xml');
      file.end();
      return typeOf(await buffer(file.outputStream));
    };
    expect(await opened('application/vnd.oasis.opendocument.text')).toBe('odt');
    expect(await opened('application/vnd.oasis.opendocument.spreadsheet')).toBe('ods');
    expect(await opened('application/vnd.oasis.opendocument.graphics')).toBe('zip');
  });
});

describe('archives', () => {
  test.each<[string, Buffer, FileTypeId]>([
    ['gzip', gzipSync('hello'), 'gz'],
    ['a TAR in gzip', gzipSync(oldTar('a.txt')), 'gz'],
    ['Zstandard', zstdCompressSync('hello'), 'zst'],
    ['XZ', latin1('\xfd7zXZ\0\0\x04\xe6\xd6\xb4F'), 'xz'],
    ['7-Zip', latin1("7z\xbc\xaf'\x1c\0\x04\0\0\0\0"), '7z'],
    ['a TAR without the ustar mark', oldTar('a.txt'), 'tar'],
    ['a TAR whose first name looks like a bitmap', oldTar('BMW.txt'), 'tar'],
    ['zeros', Buffer.alloc(10_240), 'binary'],
  ])('%s', async (_what, content, type) => {
    expect(await typeOf(content)).toBe(type);
  });
});

describe('text', () => {
  test.each<[string, FileTypeId]>([
    ['Dear reader,\nthis is it.\n', 'txt'],
    ['BMW is a car, MZ a motorcycle', 'txt'],
    ['ä', 'txt'],
    ['# Title\n\n- one\n- two\n', 'txt'],
    ['{"a": [1, 2]}', 'json'],
    ['[1, 2, 3]\n', 'json'],
    ['[]', 'json'],
    ['{"a": 1,}', 'json'],
    ['[INFO] started\n[INFO] done]', 'txt'],
    ['{"a":1}\n{"a":2}\n', 'ndjson'],
    ['{\n  "a": 1,\n  "b": 2\n}\n', 'json'],
    ['a,b\n1,2\n', 'csv'],
    ['a;b;c\r\n1,5;2;3\r\n4;5;6', 'csv'],
    ['name,quote\n"x","one\ntwo, three"\ny,z\n', 'csv'],
    ['a\tb\n1\t2\n', 'tsv'],
    ['name\nAnna\nBert\n', 'txt'],
    ['a,b,c\n', 'txt'],
    ['one, two\nthree\nfour, five, six\nseven\n', 'txt'],
    ['\x1b[31mred\x1b[0m\n', 'txt'],
  ])('%j is %s', async (content, type) => {
    expect(await typeOf(content)).toBe(type);
  });

  test.each<[string, Buffer, FileTypeId]>([
    ['UTF-16 with its mark', Buffer.from('\uFEFFa;b\n1;2\n', 'utf16le'), 'csv'],
    ['UTF-16 big-endian with its mark', Buffer.from('\uFEFFHällo', 'utf16le').swap16(), 'txt'],
    ['UTF-16 without a mark', Buffer.from('name,city\nAnna,Wien\n', 'utf16le'), 'csv'],
    ['UTF-8 with its mark', Buffer.from('\uFEFF{"a":1}'), 'json'],
    ['Latin-1', latin1('Stra\xdfe;Ort\nM\xfchlgasse;K\xf6ln\n'), 'csv'],
    ['Shift-JIS', Buffer.from('93fa967b8cea0a', 'hex'), 'txt'],
    ['a program', latin1('\x7fELF\x02\x01\x01\0\0\0'), 'binary'],
    ['text with a zero in it', Buffer.from('abc\0def'), 'binary'],
    ['noise', randomBytes(5000), 'binary'],
  ])('%s', async (_what, content, type) => {
    expect(await typeOf(content)).toBe(type);
  });

  test('a text whose characters are cut by both ends of the sample', async () => {
    for (const shift of [0, 1, 2, 3]) {
      expect(await typeOf('x'.repeat(shift) + '𝒳'.repeat(50_000) + '\n')).toBe('txt');
    }
  });

  test('a large table and large JSON are told from their ends', async () => {
    expect(await typeOf('id,"a ""name"""\n'.repeat(20_000))).toBe('csv');
    expect(await typeOf(JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ n }))))).toBe('json');
    expect(await typeOf('{"n":1}\n'.repeat(20_000))).toBe('ndjson');
  });

  test('text that ends in something else is not text', async () => {
    expect(await typeOf(Buffer.concat([Buffer.from('#!/bin/sh\n'.repeat(20_000)), randomBytes(70_000)]))).toBe(
      'binary',
    );
  });
});

test('a polyglot is what its beginning says', async () => {
  const archive = await zip(['a.class']);
  expect(await typeOf(Buffer.concat([await picture.clone().gif().toBuffer(), archive]))).toBe('gif');
  const png = await picture.clone().png().toBuffer();
  expect(await typeOf(Buffer.concat([png, Buffer.from('<script>alert(1)</script>')]))).toBe('png');
});

test('an empty file is empty and of no format', async () => {
  const sample = createSampler().sample();
  expect(isEmpty(sample)).toBe(true);
  expect(await sniff(sample)).toBe('binary');
});

test('cut and broken files are judged without an exception', async () => {
  const wholes = [
    tiff([[0x0106, 3, 2]], [[0x0106, 3, 32803]]),
    tiff([[0x014a, 4, 0xffffffff]]),
    await zip(['[Content_Types].xml', 'word/a.xml']),
    compound('WordDocument'),
    oldTar('a'),
    await picture.clone().avif().toBuffer(),
    await readFile(join(fixtures, 'photo.heic')),
    Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'),
  ];
  for (const whole of wholes) {
    for (let length = 0; length < Math.min(whole.length, 300); length++) await typeOf(whole.subarray(0, length));
    for (let at = 0; at < Math.min(whole.length, 300); at++) {
      const broken = Buffer.from(whole);
      broken[at] = 0xff;
      await typeOf(broken);
    }
  }
});

test('hostile text is judged in no time', async () => {
  const parts = [
    ' ',
    '\n',
    '<',
    '<!---->',
    '<??>',
    '<!doctype a [>]>',
    '[',
    '{"a":',
    '"',
    '",',
    '\r',
    '</a ',
    '{}\n',
    'PK\x01\x02',
  ];
  for (const start of ['', '<', '<a>', '[', '{', 'PK\x03\x04']) {
    for (const part of parts) {
      const startedAt = performance.now();
      await typeOf(start + part.repeat(Math.ceil((2 * sampleLength) / part.length)));
      expect(performance.now() - startedAt).toBeLessThan(1000);
    }
  }
});

describe('samples', () => {
  test.each([1, 1000, sampleLength - 1, sampleLength, sampleLength + 1, 3 * sampleLength + 17])(
    'both ends of %i bytes, from chunks of any length',
    (size) => {
      const content = randomBytes(size);
      for (const length of [37, 1000, sampleLength, 5 * sampleLength]) {
        const sampler = createSampler();
        const reused = Buffer.alloc(length);
        for (let at = 0; at < size; at += length) {
          const copied = content.copy(reused, 0, at);
          sampler.push(reused.subarray(0, copied));
        }
        const sample = sampler.sample();
        expect(sample.size).toBe(size);
        expect(sample.head.equals(content.subarray(0, sampleLength))).toBe(true);
        expect(sample.tail.equals(content.subarray(-sampleLength))).toBe(true);
      }
    },
  );

  test('a file on disk is judged as one that streams past', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'millrun-sniff-'));
    try {
      const contents = ['', 'a,b\n1,2\n', await zip(['[Content_Types].xml', 'xl/a.xml'], false, randomBytes(100_000))];
      for (const content of contents) {
        await writeFile(join(directory, 'file'), content);
        expect(await sniffFile(join(directory, 'file'))).toBe(await typeOf(content));
      }
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
