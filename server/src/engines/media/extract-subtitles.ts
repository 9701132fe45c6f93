import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/failure.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import type { Cue, SubtitleType } from '../subtitles/cue.ts';
import { readCues } from '../subtitles/subtitles.ts';
import type { Media, MediaStream } from './probe.ts';

export interface ExtractedSubtitles {
  /** As the track is stored or comes nearest to. */
  text: string;
  type: SubtitleType;
  cues: Cue[];
}

/** What tracks of text are taken out as, before anything is converted. */
const textCodecs: Readonly<Record<string, { type: SubtitleType; codec: string; muxer: string }>> = {
  subrip: { type: 'srt', codec: 'srt', muxer: 'srt' },
  mov_text: { type: 'srt', codec: 'srt', muxer: 'srt' },
  text: { type: 'srt', codec: 'srt', muxer: 'srt' },
  webvtt: { type: 'vtt', codec: 'webvtt', muxer: 'webvtt' },
  ass: { type: 'ass', codec: 'ass', muxer: 'ass' },
  ssa: { type: 'ass', codec: 'ass', muxer: 'ass' },
};

/** A track of text; others are pictures of it. */
export function isText({ codec }: MediaStream): boolean {
  return textCodecs[codec] !== undefined;
}

/**
 * Takes one track of text out of a video.
 *
 * @throws Failure `invalid_input` for a track of pictures, or one without any text; as `runFfmpeg`.
 */
export async function extractSubtitles(
  { file, durationSeconds }: Media,
  { index, codec }: MediaStream,
  { scratch, signal, onProgress }: { scratch: string; signal: AbortSignal; onProgress(percent: number): void },
): Promise<ExtractedSubtitles> {
  const { filename } = file;
  const kind = textCodecs[codec];
  if (kind === undefined) {
    const message = `The subtitles of "${filename}" are pictures of text (${codec}), which cannot be turned into text here.`;
    throw new Failure('invalid_input', message, { file: filename });
  }
  const path = join(scratch, `subtitles.${kind.type}`);
  await runFfmpeg({
    inputs: [{ source: file }],
    args: ['-map', `0:${index}`, '-c:s', kind.codec],
    output: { muxer: kind.muxer, path },
    durationSeconds,
    onProgress,
    signal,
  });
  const text = await readFile(path, 'utf8');
  return { text, type: kind.type, cues: await readCues(text, { filename, type: kind.type }) };
}
