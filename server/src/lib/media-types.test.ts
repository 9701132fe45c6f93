import { expect, test } from 'vitest';
import { articleAndName, type FileTypeId } from './media-types.ts';

test('formats are named within a sentence as people say them', () => {
  const spoken: Partial<Record<FileTypeId, string>> = {
    jpeg: 'a JPEG image',
    avif: 'an AVIF image',
    svg: 'an SVG drawing',
    mp4: 'an MP4 video',
    mp3: 'MP3 audio',
    html: 'an HTML page',
    xlsx: 'an Excel workbook',
    txt: 'plain text',
    json: 'JSON',
    xz: 'an XZ file',
  };
  for (const [type, words] of Object.entries(spoken)) expect(articleAndName(type as FileTypeId)).toBe(words);
});
