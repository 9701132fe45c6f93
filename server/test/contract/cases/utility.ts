import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { sample } from '../../fixtures/samples.ts';
import type { FileTypeId } from '../../../src/lib/media-types.ts';
import type { Cases } from '../tool-case.ts';

const list = { filename: 'list.txt', content: 'first line\nsecond line\n' };
const encoded = { filename: 'photo.png.txt', content: readFileSync(sample('png')).toString('base64') };

/** A code is made of a text, of each line of a list, or of a text with a picture in its middle. */
const takesLines = (type: FileTypeId | undefined) => type === 'txt' || type === 'csv';
const textAlone = (text: string) => (type: FileTypeId | undefined) => (takesLines(type) ? {} : { text });
const codeFiles = (type: FileTypeId | undefined) =>
  type === undefined ? [] : takesLines(type) ? [list] : [sample(type)];

/** The samples of age and gpg were encrypted with it. */
const passphrase = 'millrun';

export const utilityCases: Cases = {
  'qr-code-generator': {
    settingsFor: textAlone('https://example.com'),
    files: codeFiles,
    values: { dark: ['#003366'], light: ['transparent'], format: ['png', 'svg', 'pdf'] },
    expect: ([code]) => expect(code).toMatchObject({ width: 512, height: 512 }),
  },
  'barcode-generator': {
    settingsFor: textAlone('12345670'),
    files: codeFiles,
    fails: {
      'type=gs1-128': 'its text is made of identifiers in brackets',
      'type=itf14': 'it has 13 or 14 digits',
      'type=ean13': 'it has 12 or 13 digits',
      'type=isbn': 'it has 10 or 13 digits with dashes',
      'type=codabar': 'it starts and ends with a letter',
    },
  },
  'barcode-reader': {
    values: { formats: ['qrcode,ean13'], pages: ['1'], password: [] },
  },
  'metadata-remover': {
    values: { keep: ['Copyright'] },
    refuses: { encrypted_office: 'password_required' },
  },
  'metadata-viewer': { values: { groups: ['EXIF,GPS'] } },
  'file-type-detector': {},
  'hash-calculator': { values: { algorithms: ['md5,sha1,sha256,sha384,sha512,blake2b,crc32'] } },
  'file-encryptor': { settings: { passphrase: 'correct horse battery' } },
  'file-decryptor': { settings: { passphrase } },
  'base64-encoder': {},
  'base64-decoder': { files: () => [encoded], values: { filename: ['photo.png'] } },
  'file-previewer': {
    refuses: { encrypted_office: 'password_required' },
  },
};
