import type { Tool } from '@millrun/sdk';
import { expect, test } from 'vitest';
import { findTools } from './find-tools.ts';

function tool(slug: string, description: string, reads: string[], writes: string[] | 'any'): Tool {
  const name = slug
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
  return {
    slug,
    name,
    category: slug.startsWith('pdf') ? 'pdf' : 'image',
    description,
    accepts: { media_types: [], extensions: reads },
    produces: writes === 'any' ? 'any' : { media_types: [], extensions: writes },
    min_files: 1,
    max_files: 1,
    settings: {},
    available: true,
  };
}

const tools = [
  tool('image-compressor', 'Makes images smaller.', ['jpg', 'png'], ['jpg', 'png']),
  tool('image-converter', 'Converts images.', ['jpg', 'heic'], ['png', 'webp']),
  tool('pdf-merger', 'Joins PDFs and images into one.', ['pdf', 'jpg'], ['pdf']),
  tool('pdf-compressor', 'Makes a PDF smaller.', ['pdf'], ['pdf']),
];
const found = (text: string) => findTools(tools, text).map(({ slug }) => slug);

test('without words, all of them in their order', () => {
  expect(found('')).toHaveLength(4);
  expect(found('  ')).toEqual(tools.map(({ slug }) => slug));
});

test('every word has to be found', () => {
  expect(found('pdf smaller')).toEqual(['pdf-compressor']);
  expect(found('pdf zebra')).toEqual([]);
});

test('formats are found, and filling words are not looked for', () => {
  expect(found('heic to png')).toEqual(['image-converter']);
  expect(found('webp')).toEqual(['image-converter']);
});

test('names come before descriptions', () => {
  expect(found('image')[0]).toBe('image-compressor');
  expect(found('image').at(-1)).toBe('pdf-merger');
  expect(found('COMPRÉSS')).toEqual(['image-compressor', 'pdf-compressor']);
});

test('a word that is only a filler is looked for', () => {
  expect(found('into')).toEqual(['pdf-merger']);
});
