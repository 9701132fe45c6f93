import { expect } from 'vitest';
import { fileTypes, type FileTypeId } from '../../../src/lib/media-types.ts';
import { sample } from '../../fixtures/samples.ts';
import type { Cases, Seen } from '../tool-case.ts';

const isA = (kind: string, type: FileTypeId | undefined) =>
  type !== undefined && fileTypes[type].mediaType.startsWith(`${kind}/`);
const of = (type: FileTypeId | undefined) => sample(type ?? 'mp4');

/** The samples last two seconds; what is cut or written again may lose a frame or two of their eight to thirty a second. */
const lasts =
  (seconds: number) =>
  ([video]: readonly Seen[]) =>
    expect(Math.abs((video?.durationSeconds ?? 0) - seconds), 'seconds too long or short').toBeLessThan(0.3);

const onlyTime = (name: string, ...values: string[]) =>
  Object.fromEntries(values.map((value) => [`${name}=${value}`, 'only costs time: the samples are 160×120']));
const noGiants = { ...onlyTime('width', '8192'), ...onlyTime('height', '8192') };

export const videoCases: Cases = {
  'video-converter': {
    settings: { preset: 'ultrafast' },
    together: { video_codec: { format: 'mkv' }, audio_codec: { format: 'mkv' } },
    skips: noGiants,
    expect: (videos, type) => type !== 'gif' && lasts(2)(videos),
  },
  'video-compressor': {
    together: {
      mode: { target_size_mb: '1', video_bitrate_kbps: '100' },
      target_size_mb: { mode: 'target_size' },
      video_bitrate_kbps: { mode: 'bitrate' },
      format: { codec: 'vp9' },
      codec: {},
    },
    fails: { 'target_size_mb=0.01': 'too small for any picture' },
    expect: lasts(2),
  },
  'video-trimmer': {
    settings: { duration: '1' },
    values: { start: ['0.5'], end: ['1.5'] },
    together: { end: { duration: '' } },
    expect: ([video]) => expect(video?.durationSeconds).toBeLessThan(1.7),
  },
  'video-to-gif-converter': { values: { start: ['0.5'] }, expect: ([image]) => expect(image?.width).toBe(160) },
  'audio-extractor': { fails: { 'track=63': 'there is one track' }, expect: lasts(2) },
  'video-merger': {
    together: { transition_s: { transition: 'crossfade' } },
    fails: { 'transition_s=10': 'the samples last two seconds' },
    skips: noGiants,
    expect: lasts(4),
  },
  'video-resizer': {
    settings: { width: '80' },
    values: { aspect_ratio: ['1:1'] },
    together: { preset: { width: '' }, aspect_ratio: { fit: 'pad' } },
    skips: { ...noGiants, ...onlyTime('preset', '2160p', '1440p', '1080p') },
    expect: ([video]) => expect(video).toMatchObject({ width: 80, height: 60 }),
  },
  'video-cropper': {
    settings: { width: '80', height: '60' },
    together: { auto: { width: '', height: '' } },
    fails: {
      'x=16384': 'it lies outside',
      'y=16384': 'it lies outside',
    },
    expect: ([video]) => expect(video).toMatchObject({ width: 80, height: 60 }),
  },
  'video-rotator': {
    together: { metadata_only: {} },
    expect: ([video]) => expect(video).toMatchObject({ width: 120, height: 160 }),
  },
  'video-muter': { expect: ([video]) => expect(video).toMatchObject({ audioStreams: 0, videoStreams: 1 }) },
  'video-speed-changer': { expect: lasts(1) },
  'video-watermarker': {
    settingsFor: (type) => (isA('image', type) ? {} : { text: 'Draft' }),
    files: (type) => (isA('image', type) ? [sample('mp4'), of(type)] : [of(type)]),
    values: { color: ['#ff0000'], start: ['0.5'], end: ['1.5'] },
    expect: lasts(2),
  },
  'video-thumbnailer': {
    settings: { count: '2' },
    values: { offsets: ['[0.5]'] },
    skips: { ...onlyTime('width', '4096'), ...onlyTime('height', '4096'), ...onlyTime('count', '999') },
    expect: (images) => expect(images.map(({ width }) => width)).toEqual([160, 160]),
  },
  'video-frame-extractor': {
    values: { timestamps: ['[0.5]'] },
    together: {
      mode: { value: '10', timestamps: '' },
      value: { mode: 'every_nth' },
      timestamps: { mode: 'timestamps' },
    },
    fails: { 'mode=timestamps': 'it needs timestamps', 'value=0.001': 'there is no thousandth of a frame' },
    expect: (images) => expect(images.length).toBeGreaterThanOrEqual(2),
  },
  'video-stabilizer': { expect: lasts(2) },
  'hls-packager': {
    values: { renditions: ['[144]'] },
    expect: ([archive]) => expect(archive?.entries?.some((name) => name.endsWith('.m3u8'))).toBe(true),
  },
  'slideshow-maker': {
    settings: { resolution: '480p', seconds_per_image: '0.5', fps: '10' },
    files: (type) => [sample('png'), of(type === undefined ? 'png' : type), sample('png')],
    together: { seconds_per_image: {} },
    skips: onlyTime('resolution', '2160p', '1080p', 'vertical', 'square'),
    expect: ([video], type) => expect(video?.audioStreams).toBe(isA('audio', type) ? 1 : 0),
  },
};
