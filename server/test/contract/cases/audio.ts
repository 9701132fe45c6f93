import { expect } from 'vitest';
import { sample } from '../../fixtures/samples.ts';
import type { Cases, Seen } from '../tool-case.ts';

/** The samples last two seconds; lossy formats pad what they hold. */
const lasts =
  (seconds: number) =>
  ([sound]: readonly Seen[]) =>
    expect(Math.abs((sound?.durationSeconds ?? 0) - seconds), 'seconds too long or short').toBeLessThan(0.3);

const longerThanTheFile = 'the samples last two seconds';

export const audioCases: Cases = {
  'audio-converter': {
    together: { sample_rate: { format: 'wav' }, vbr: {} },
    expect: lasts(2),
  },
  'audio-compressor': { expect: lasts(2) },
  'audio-trimmer': {
    settings: { end: '1.5' },
    values: { start: ['0.5'], end: [] },
    fails: { 'fade_in_s=30': longerThanTheFile, 'fade_out_s=30': longerThanTheFile },
    expect: lasts(1.5),
  },
  'audio-merger': {
    together: { crossfade_s: { gap_s: '' } },
    fails: { 'crossfade_s=30': longerThanTheFile },
    expect: lasts(4),
  },
  'audio-splitter': {
    settings: { segment_s: '1' },
    together: { parts: { mode: 'parts' }, mode: { parts: '' } },
    fails: {
      'mode=parts': 'it needs parts',
      'mode=silence': 'the sample has none',
      'parts=1000': longerThanTheFile,
    },
    expect: (parts) => expect(parts.length).toBeGreaterThanOrEqual(2),
  },
  'audio-normalizer': { expect: lasts(2) },
  'audio-volume-changer': { expect: lasts(2) },
  'audio-speed-changer': { settings: { factor: '2' }, expect: lasts(1) },
  'audio-noise-reducer': { expect: lasts(2) },
  'silence-remover': { expect: lasts(2) },
  'waveform-generator': {
    values: { color: ['#ff0000'], background: ['#ffffff'] },
    expect: ([image]) => expect(image).toMatchObject({ width: 1200, height: 200 }),
  },
  'audio-tag-editor': {
    settings: { title: 'The mill' },
    files: (type) => (type === 'jpeg' || type === 'png' ? [sample('mp3'), sample(type)] : [sample(type ?? 'mp3')]),
    values: {
      artist: ['Anna'],
      album: ['Mills'],
      album_artist: ['Bert'],
      year: ['2026-01-05'],
      genre: ['Podcast'],
      track: ['3/12'],
      comment: ['Größe'],
    },
    expect: lasts(2),
  },
};
