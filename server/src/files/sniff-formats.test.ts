import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sample, sampleTypes } from '../../test/fixtures/samples.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { createSampler } from './content-sample.ts';
import { sniff } from './sniff.ts';

function typeOf(content: string | Buffer): Promise<FileTypeId> {
  const sampler = createSampler();
  sampler.push(Buffer.from(content));
  return sniff(sampler.sample());
}

const read = (type: FileTypeId) => readFile(sample(type));
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** What a name has to tell: these show as something more general. */
const shownAs: Partial<Record<FileTypeId, FileTypeId>> = {
  md: 'txt',
  css: 'txt',
  js: 'txt',
  typescript: 'txt',
  sql: 'txt',
  tex: 'txt',
  rst: 'txt',
  json5: 'txt',
  yaml: 'txt',
  cbz: 'zip',
  cbr: 'rar',
  cb7: '7z',
  br: 'binary',
};

test.each(sampleTypes)('the sample of %s', async (type) => {
  expect(await typeOf(await read(type))).toBe(shownAs[type] ?? type);
});

describe('sound and film', () => {
  test('MP3 without a tag, behind zeros, and behind a tag longer than the sample', async () => {
    const tagged = await read('mp3');
    const length = tagged.subarray(6, 10).reduce((sum, byte) => sum * 128 + byte, 0);
    const bare = tagged.subarray(10 + length);
    expect(await typeOf(bare)).toBe('mp3');
    expect(await typeOf(Buffer.concat([Buffer.alloc(500), bare]))).toBe('mp3');
    const longTag = Buffer.concat([latin1('ID3\x03\0\0\0\x08\0\0'), Buffer.alloc(2 ** 17)]);
    expect(await typeOf(Buffer.concat([longTag, bare]))).toBe('mp3');
  });

  test('FLAC and AAC behind a tag', async () => {
    const tag = latin1('ID3\x03\0\0\0\0\0\x05abcde');
    expect(await typeOf(Buffer.concat([tag, await read('flac')]))).toBe('flac');
    expect(await typeOf(Buffer.concat([tag, await read('aac')]))).toBe('aac');
  });

  test('a row of frames is needed, not the mark of one', async () => {
    const frames = await Promise.all((['mp3', 'aac', 'ac3'] as const).map(read));
    for (const bytes of frames) expect(await typeOf(Buffer.concat([bytes.subarray(-100, -60), bytes]))).toBe('binary');
  });

  test('a transport stream cut inside a packet, and one with time codes', async () => {
    const stream = await read('mpegts');
    expect(await typeOf(stream.subarray(100))).toBe('mpegts');
    const packets = Array.from({ length: 20 }, (_, n) => stream.subarray(n * 188, (n + 1) * 188));
    expect(await typeOf(Buffer.concat(packets.flatMap((packet) => [Buffer.alloc(4), packet])))).toBe('mpegts');
    expect(await typeOf(stream.subarray(0, 3 * 188))).toBe('mpegts');
  });

  test('MP4 whose only track is sound is M4A, QuickTime without its first box is QuickTime', async () => {
    const sound = Buffer.from(await read('m4a'));
    sound.write('isom', 8, 'latin1');
    expect(await typeOf(sound)).toBe('m4a');
    const film = await read('mov');
    expect(await typeOf(film.subarray(film.readUInt32BE(0)))).toBe('mov');
  });

  test.each<[string, string, FileTypeId]>([
    ['AMR wideband', '#!AMR-WB\n\x04\0\0', 'amr'],
    ['a wave file over 4 GB', 'RF64\xff\xff\xff\xffWAVEds64\x1c\0\0\0', 'wav'],
    ['compressed AIFF', 'FORM\0\0\x10\0AIFCFVER\0\0\0\x04', 'aiff'],
    ['a log of radio contacts', 'ADIF Export from a program\n', 'txt'],
    ['a sentence that begins like FLAC', 'fLaC is a mark.', 'txt'],
    ['an animated cursor', 'RIFF\x10\0\0\0ACONanih', 'binary'],
    ['a Matroska file of another kind', '\x1aE\xdf\xa3\x93B\x82\x84moon\0\0', 'binary'],
  ])('%s', async (_what, content, type) => {
    expect(await typeOf(latin1(content))).toBe(type);
  });
});

describe('documents and books', () => {
  test('a drawing in gzip, in any encoding, and other things in gzip', async () => {
    const drawing = `<?xml version="1.0"?><!-- ${'x'.repeat(2000)} --><svg/>`;
    expect(await typeOf(gzipSync(drawing))).toBe('svgz');
    expect(await typeOf(gzipSync(Buffer.from(`\uFEFF${drawing}`, 'utf16le')))).toBe('svgz');
    expect(await typeOf(gzipSync(latin1('<svg><text>\xe9</text></svg>')))).toBe('svgz');
    expect(await typeOf(gzipSync(Buffer.alloc(50_000_000)))).toBe('gz');
  });

  test('a compound file is what its root holds, whatever lies deeper', async () => {
    const workbook = await read('xls');
    const name = Buffer.from('WordDocument\0', 'utf16le');
    expect(await typeOf(Buffer.concat([workbook, name, Buffer.alloc(512)]))).toBe('xls');
  });

  test('a compound file whose streams are in capitals', async () => {
    const workbook = (await read('xls')).toString('latin1');
    const capitals = (name: string) => Buffer.from(name, 'utf16le').toString('latin1');
    expect(await typeOf(latin1(workbook.replace(capitals('Workbook'), capitals('WORKBOOK'))))).toBe('xls');
  });

  test('a compound file whose directory is not at hand, by how its first stream begins', async () => {
    const starting = (...bytes: number[]) =>
      typeOf(Buffer.concat([latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), Buffer.alloc(504), Buffer.from(bytes)]));
    expect(await starting(0x00, 0x6e, 0x1e, 0xf0)).toBe('ppt');
    expect(await starting(0x0f, 0x00, 0xe8, 0x03)).toBe('ppt');
    expect(await starting(0xec, 0xa5, 0xc1, 0x00)).toBe('doc');
    expect(await starting(0xdc, 0xa5, 0x68, 0x00)).toBe('doc');
    expect(await starting(0x00, 0x00, 0x00, 0x00)).toBe('binary');
  });

  test('a Parquet file needs both of its ends', async () => {
    const table = await read('parquet');
    expect(await typeOf(table.subarray(0, -1))).toBe('binary');
    expect(await typeOf('PAR1 is a word')).toBe('txt');
  });

  test('OpenPGP: messages, not keys', async () => {
    const message = '-----BEGIN PGP MESSAGE-----\n\nwy4ECQMI\n-----END PGP MESSAGE-----\n';
    expect(await typeOf(message)).toBe('gpg');
    expect(await typeOf(message.replaceAll('MESSAGE', 'PUBLIC KEY BLOCK'))).toBe('txt');
    expect(await typeOf(`Somebody wrote:\n${message}`)).toBe('txt');
    expect(await typeOf('-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n')).toBe('age');
  });
});

describe('text with marks', () => {
  test.each<[string, FileTypeId]>([
    ['\uFEFF1\r\n00:00:01,000 --> 00:00:02,000\r\nHi\r\n', 'srt'],
    ['1\n00:00:01.5 --> 00:00:02.5\nHi', 'srt'],
    ['1\nOne\n2\nTwo\n', 'txt'],
    ['\uFEFFWEBVTT - film\n\n00:01.000 --> 00:02.000\nHi\n', 'vtt'],
    ['WEBVTTX\n', 'txt'],
    ['; made by hand\n[Script Info]\nScriptType: v4.00+\n', 'ass'],
    ['[Script Info]\n', 'txt'],
    ['{0}{25}Hi|there\n{30}{50}Bye\n', 'sub'],
    ['{0}{25}Hi\nBye\n', 'txt'],
    ['<tt xmlns="http://www.w3.org/2006/10/ttaf1"><body/></tt>', 'ttml'],
    ['<tt>typewriter</tt>', 'xml'],
    ['<?xml version="1.0"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"/>', 'fb2'],
    ["<html><body><div class='ocr_page' title='bbox 0 0 9 9'></div></body></html>", 'hocr'],
    ['<html><body>class ocr_page</body></html>', 'html'],
    ['Received: from a\n\tby b\nFrom: a@b\n\nHi\n', 'eml'],
    ['From a@b Tue May  5 10:00:00 2026\nFrom: a@b\nSubject: x\n\nHi\n', 'eml'],
    ['From: Monday\nTo: Friday\n', 'txt'],
    ['Date: 2026-05-05\nSubject: notes\n\nText\n', 'txt'],
    ['name: mill\nversion: 1\n', 'txt'],
    ['--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', 'patch'],
    ['diff --git a/x b/x\nsimilarity index 100%\n', 'patch'],
    ['*** a\n--- b\n***************\n*** 1 ****\n', 'patch'],
    ['--- title\n+++ nothing\n', 'txt'],
    ['Like this:\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n', 'txt'],
  ])('%j is %s', async (content, type) => {
    expect(await typeOf(content)).toBe(type);
  });
});

test('cut and changed samples are judged without an exception', async () => {
  for (const type of sampleTypes) {
    const whole = await read(type);
    for (let length = 1; length < 120; length += 7) await typeOf(whole.subarray(0, length));
    for (let at = 0; at < Math.min(160, whole.length - 4); at += 7) {
      const broken = Buffer.from(whole);
      broken.fill(at % 2 === 0 ? 0xff : 0, at, at + 4);
      await typeOf(broken);
    }
  }
});
