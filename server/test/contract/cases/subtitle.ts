import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FileTypeId } from '../../../src/lib/media-types.ts';
import type { FormFile } from '../../client.ts';
import { sample } from '../../fixtures/samples.ts';
import type { Cases, Seen } from '../tool-case.ts';

const greets = ([subtitles]: readonly Seen[]) => expect(subtitles?.text).toContain('Good morning, mill.');
const isSubtitle = (type: FileTypeId | undefined) =>
  type === 'srt' || type === 'vtt' || type === 'ass' || type === 'sub' || type === 'ttml';

/** The sample of a video with the sample of subtitles as a track. */
function withTrack(type: 'mkv' | 'mp4' | 'mov' | 'webm'): FormFile {
  const codec = { mkv: 'subrip', mp4: 'mov_text', mov: 'mov_text', webm: 'webvtt' }[type];
  const directory = mkdtempSync(join(tmpdir(), 'millrun-track-'));
  try {
    const path = join(directory, `track.${type}`);
    const inputs = ['-i', sample(type), '-i', sample('srt')];
    execFileSync('ffmpeg', ['-v', 'error', ...inputs, '-map', '0', '-map', '1', '-c', 'copy', '-c:s', codec, path]);
    return { filename: `track.${type}`, content: readFileSync(path) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const microDvdOnly = 'it is only for MicroDVD';
const otherEncodings = {
  'encoding=utf-16': 'the sample is UTF-8',
  'encoding=utf-16be': 'the sample is UTF-8',
  'encoding=ascii': 'the sample has an umlaut',
};

export const subtitleCases: Cases = {
  'subtitle-converter': {
    settingsFor: (type) => (type === 'sub' ? { fps: '25' } : {}),
    fails: { ...otherEncodings, 'fps=1': microDvdOnly, 'fps=240': microDvdOnly },
    expect: greets,
  },
  'subtitle-shifter': {
    settings: { offset_ms: '500' },
    values: { from: ['1'] },
    fails: { 'offset_ms=-86400000': 'no subtitle would be left' },
    expect: greets,
  },
  'subtitle-extractor': {
    replaces: { mkv: withTrack('mkv'), mp4: withTrack('mp4'), mov: withTrack('mov'), webm: withTrack('webm') },
    values: { track: ['0'] },
    expect: greets,
  },
  'subtitle-burner': {
    files: (type) =>
      isSubtitle(type) ? [sample('mp4'), sample(type ?? 'srt')] : [sample(type ?? 'mp4'), sample('srt')],
    values: { font_color: ['#ffff00'] },
    fails: otherEncodings,
    expect: ([video]) => expect(video).toMatchObject({ width: 160, height: 120 }),
  },
};
