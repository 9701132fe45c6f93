import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { FileTypeId } from '../../../src/lib/media-types.ts';
import { sample } from '../../fixtures/samples.ts';
import type { Cases } from '../tool-case.ts';

const isPicture = (type: FileTypeId | undefined) => type === 'png' || type === 'jpeg';

const renamed = (type: FileTypeId, filename: string) => ({ filename, content: readFileSync(sample(type)) });

export const ebookCases: Cases = {
  'ebook-converter': {
    settingsFor: (type) => (isPicture(type) ? { cover: 'last_file' } : {}),
    files: (type) => (isPicture(type) ? [sample('epub'), sample(type ?? 'png')] : [sample(type ?? 'epub')]),
    fails: { 'cover=last_file': 'there is no picture' },
    expect: ([book]) => expect(book?.text).toMatch(/\w/),
  },
  'ebook-metadata-editor': {
    settings: { title: 'The Mill' },
    values: { author: ['Anna Müller'], series: ['Mills'], language: ['de'], isbn: ['9783161484100'] },
  },
  'epub-validator': { expect: ([report]) => expect(report?.text).toContain('"valid"') },
  'comic-converter': {
    // The samples of plain archives hold text: those of comic books are the same archives with pictures in them.
    replaces: {
      zip: renamed('cbz', 'comic.zip'),
      rar: renamed('cbr', 'comic.rar'),
      '7z': renamed('cb7', 'comic.7z'),
    },
    expect: ([book]) => expect(book?.entries?.length).toBeGreaterThanOrEqual(2),
  },
};
