import { describe, expect, test } from 'vitest';
import { extensionOf, kindOf, stemOf } from './file-kind.ts';

describe('the kind of a file', () => {
  test.each([
    ['photo.JPG', '', 'image'],
    ['a.bin', 'image/webp', 'image'],
    ['data.csv', 'text/plain', 'table'],
    ['data.csv', 'application/vnd.ms-excel', 'spreadsheet'],
    ['movie.ts', 'video/mp2t', 'video'],
    ['notes', 'text/plain; charset=utf-8', 'text'],
    ['backup.tar.gz', '', 'archive'],
    ['letter', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'document'],
    ['.env', '', 'other'],
    ['constructor', '', 'other'],
  ])('%s of type %s', (filename, mediaType, kind) => {
    expect(kindOf({ filename, mediaType })).toBe(kind);
  });

  test('extension and stem', () => {
    expect(extensionOf('a.b.PnG')).toBe('png');
    expect(extensionOf('.gitignore')).toBe('');
    expect(extensionOf('no dot')).toBe('');
    expect(stemOf('photo.final.jpg')).toBe('photo.final');
    expect(stemOf('backup.tar.gz')).toBe('backup');
    expect(stemOf('.env')).toBe('.env');
  });
});
