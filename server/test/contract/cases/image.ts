import { join } from 'node:path';
import { expect } from 'vitest';
import { sample } from '../../fixtures/samples.ts';
import type { Cases } from '../tool-case.ts';

/** 96×64 pixels. */
const small = { jpeg: join(import.meta.dirname, '..', '..', 'fixtures', 'thumbnail.jpg') };
const sameAnywhere = 'only costs time: the other side shows it';

export const imageCases: Cases = {
  'image-compressor': {
    together: { target_size_kb: { mode: 'target_size' }, mode: {} },
    fails: { 'mode=target_size': 'it needs target_size_kb' },
    expect: ([image], type) => type === 'png' && expect(image).toMatchObject({ width: 240, height: 160 }),
  },
  'image-resizer': {
    settings: { width: '80' },
    values: { background: ['#000'] },
    together: { percent: { width: '' } },
    expect: ([image]) => expect(image?.width).toBeLessThanOrEqual(80),
  },
  'image-converter': {
    settings: { format: 'png' },
    values: { background: ['#000'] },
    together: { lossless: { format: 'webp' } },
    expect: ([image]) => expect(image?.mediaType).toBe('image/png'),
  },
  'image-cropper': {
    settings: { x: '10', y: '10', width: '20', height: '20' },
    values: { aspect_ratio: ['16:9'] },
    together: { aspect_ratio: { width: '', height: '' }, strategy: { x: '', y: '' } },
    expect: ([image], type) => type !== 'ico' && expect(image).toMatchObject({ width: 20, height: 20 }),
    fails: {
      'x=100000': 'it lies outside',
      'y=100000': 'it lies outside',
    },
  },
  'image-rotator': {
    values: { background: ['#123456'] },
    expect: ([image], type) => type === 'png' && expect(image).toMatchObject({ width: 160, height: 240 }),
  },
  'image-watermarker': {
    settingsFor: (type) => (type === 'svg' ? { mark: 'last_file' } : { text: 'Draft' }),
    files: (type) => (type === 'svg' ? [sample('png'), sample('svg')] : [sample(type ?? 'png')]),
    values: { color: ['#f00'] },
    fails: { 'mark=last_file': 'there is only one file' },
    expect: ([image], type) => type === 'png' && expect(image).toMatchObject({ width: 240, height: 160 }),
  },
  'heic-converter': { expect: ([image]) => expect(image).toMatchObject({ width: 240, height: 160 }) },
  'image-to-pdf-converter': {
    together: { orientation: { page_size: 'a4' } },
    expect: ([document]) => expect(document?.pages).toBeGreaterThan(0),
  },
  'thumbnail-maker': {
    settings: { width: '60', height: '40' },
    skips: { 'height=4096': sameAnywhere },
    expect: ([image]) => expect(image).toMatchObject({ width: 60, height: 40 }),
  },
  'image-color-adjuster': {},
  'image-filter-applier': {
    settings: { effect: 'grayscale' },
    values: { regions: ['[{"x":0,"y":0,"width":10,"height":10}]'] },
  },
  'image-border-adder': {
    values: { color: ['#ff0000'], background: ['#eeeeee'] },
    expect: ([image], type) => type === 'png' && expect(image).toMatchObject({ width: 280, height: 200 }),
  },
  'image-collager': {
    settings: { cell_width: '60' },
    values: { background: ['#000000'] },
    skips: { 'cell_height=4096': sameAnywhere },
    expect: ([image]) => expect(image?.width).toBe(2 * 60 + 3 * 8),
  },
  'image-splitter': {
    replaces: small,
    together: { tile_width: { rows: '1' }, tile_height: { columns: '1' } },
    expect: (tiles) => expect(tiles).toHaveLength(4),
  },
  'image-comparer': { replaces: small, expect: (outputs) => expect(outputs).toHaveLength(2) },
  'duplicate-image-finder': { replaces: small },
  'svg-rasterizer': {
    values: { background: ['#ffffff'] },
    together: { dpi: {} },
    skips: {
      'width=16384': 'only costs time: scale=10 shows it',
      'height=16384': 'only costs time: scale=10 shows it',
    },
    expect: ([image]) => expect(image).toMatchObject({ width: 240, height: 160 }),
  },
  'svg-optimizer': { expect: ([drawing]) => expect(drawing?.text).toContain('<svg') },
  'image-vectorizer': { expect: ([drawing]) => expect(drawing?.text).toContain('<path') },
  'gif-maker': {
    settings: { width: '60' },
    values: { background: ['#000000'] },
    skips: { 'width=4096': 'only costs time' },
    expect: ([image]) => expect(image?.width).toBe(60),
  },
  'gif-optimizer': { together: { colors: {} } },
  'favicon-generator': {
    values: { background: ['#ffffff'] },
    expect: ([archive]) => expect(archive?.entries?.length).toBeGreaterThan(4),
  },
  'sprite-sheet-maker': {},
  'raw-photo-converter': {},
  'color-palette-extractor': { replaces: small },
};
