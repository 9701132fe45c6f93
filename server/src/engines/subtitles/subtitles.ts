import { readFile, stat } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { type TextEncoding, decodeText, detectTextEncoding } from '../text-encodings.ts';
import { maxTextBytes } from '../text-file.ts';
import { readAss, writeAss } from './ass.ts';
import { type Cue, type SubtitleType, assertCues, linesOf, textOf, tidyCues } from './cue.ts';
import { readMicroDvd } from './microdvd.ts';
import { assertTimings, readSrt, writeSrt } from './srt.ts';
import { readTtml, writeTtml } from './ttml.ts';
import { readVtt, writeVtt } from './vtt.ts';

/** TTML is XML; all other formats are read by our own hands. */
export const fastXmlParser: Engine = {
  id: 'fast-xml-parser',
  name: 'fast-xml-parser',
  license: 'MIT',
  version: () => packageVersion('fast-xml-parser'),
};

export interface SubtitleFile {
  path: string;
  filename: string;
  type: FileTypeId;
}

/** Formats that are written; `txt` is the text alone. */
export const writtenSubtitles = ['srt', 'vtt', 'ass', 'ttml', 'txt'] as const satisfies readonly FileTypeId[];
export type WrittenSubtitle = (typeof writtenSubtitles)[number];

/**
 * The text of a subtitle file, in its encoding or the one that is told.
 *
 * @throws Failure `invalid_input` when the encoding cannot be found out or is not the one told; `resource_limit` above 20 MB.
 */
export async function readSubtitleText(file: SubtitleFile, told: TextEncoding | 'auto' = 'auto'): Promise<string> {
  await assertSmall(file);
  const bytes = await readFile(file.path);
  const found = told === 'auto' ? await detectOrAsk(file) : told;
  const encoding = told === 'auto' && found === 'latin1' && isSouthSlavic(bytes) ? 'windows-1250' : found;
  return decodeText(bytes, encoding, file.filename);
}

/** @throws Failure `resource_limit` above 20 MB. */
export async function assertSmall({ path, filename }: SubtitleFile): Promise<void> {
  const { size } = await stat(path);
  if (size <= maxTextBytes) return;
  const message = `"${filename}" is larger than the ${maxTextBytes / 1e6} MB this tool takes.`;
  throw new Failure('resource_limit', message, { file: filename });
}

/**
 * Whether text that passes for Latin-1 is Croatian, Slovene or Serbian in windows-1250: both encodings have š and ž in the
 * same places, and no language that is written in Latin-1 has them beside what would be è or æ.
 */
function isSouthSlavic(bytes: Buffer): boolean {
  const counts = { carons: 0, beside: 0, all: 0 };
  for (const byte of bytes) {
    if (byte < 0x80) continue;
    counts.all++;
    if (byte === 0x9a || byte === 0x9e) counts.carons++;
    if (byte === 0xe8 || byte === 0xe6) counts.beside++;
  }
  return Math.min(counts.carons, counts.beside) >= Math.max(3, counts.all / 10);
}

async function detectOrAsk(file: SubtitleFile): Promise<TextEncoding> {
  try {
    return await detectTextEncoding(file);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const message = `"${file.filename}" is in an encoding that cannot be told from its content; say it with "encoding".`;
    throw new Failure('invalid_input', message, { file: file.filename });
  }
}

/**
 * The cues of a subtitle text, in the order they are shown. `fps` is for MicroDVD.
 *
 * @throws Failure `invalid_input` when there are none, or times cannot be read.
 */
export async function readCues(
  text: string,
  file: { filename: string; type: FileTypeId },
  fps?: number,
): Promise<Cue[]> {
  const cues = tidyCues(await parse(text, file, fps));
  assertCues(cues, file);
  return cues;
}

function parse(
  text: string,
  { filename, type }: { filename: string; type: FileTypeId },
  fps: number | undefined,
): Cue[] | Promise<Cue[]> {
  switch (type as SubtitleType) {
    case 'srt':
      assertTimings(linesOf(text), filename);
      return readSrt(text);
    case 'vtt':
      assertTimings(linesOf(text), filename);
      return readVtt(text);
    case 'ass':
      return readAss(text);
    case 'sub':
      return readMicroDvd(text, fps);
    case 'ttml':
      return readTtml(text, filename);
  }
}

/** Cues as a file of a format: italics, bold, underlining, colours and places stay where the format has them. */
export async function writeCues(cues: readonly Cue[], format: WrittenSubtitle): Promise<string> {
  switch (format) {
    case 'srt':
      return writeSrt(cues);
    case 'vtt':
      return writeVtt(cues);
    case 'ass':
      return writeAss(cues);
    case 'ttml':
      return writeTtml(cues);
    case 'txt':
      return `${cues.map(textOf).join('\n')}\n`;
  }
}
