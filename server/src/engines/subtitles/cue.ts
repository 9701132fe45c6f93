import { Failure } from '../../lib/failure.ts';
import { type FileTypeId, fileTypes } from '../../lib/media-types.ts';

/** Subtitle formats that are read. */
export const subtitleTypes = ['srt', 'vtt', 'ass', 'sub', 'ttml'] as const satisfies readonly FileTypeId[];
export type SubtitleType = (typeof subtitleTypes)[number];

export interface Look {
  italic: boolean;
  bold: boolean;
  underline: boolean;
  /** `#rrggbb`; undefined for the colour of everything else. */
  color: string | undefined;
}

/** A piece of text that looks the same all over; lines end with `\n`. */
export interface Run extends Look {
  text: string;
}

/** As on a numeric keypad: 2 is bottom centre, where subtitles usually are; 8 is top centre. */
export type Place = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

export interface Cue {
  /** Milliseconds. */
  start: number;
  end: number;
  place: Place;
  runs: Run[];
}

export const plain: Look = { italic: false, bold: false, underline: false, color: undefined };
export const usualPlace: Place = 2;

/** Collects pieces of text in changing looks. */
export class RunList {
  readonly runs: Run[] = [];

  add(text: string, look: Look): void {
    if (text === '') return;
    const last = this.runs.at(-1);
    if (last !== undefined && isSameLook(last, look)) last.text += text;
    else this.runs.push({ ...look, text });
  }
}

function isSameLook(a: Look, b: Look): boolean {
  return a.italic === b.italic && a.bold === b.bold && a.underline === b.underline && a.color === b.color;
}

export function textOf({ runs }: Pick<Cue, 'runs'>): string {
  return runs.map(({ text }) => text).join('');
}

/** How long a cue without a usable end is shown, in milliseconds. */
const usualLength = 3000;

/**
 * Cues in the order they are shown, without blank lines and empty cues; one that ends before it begins is shown for three
 * seconds, or until the next begins.
 */
export function tidyCues(cues: readonly Cue[]): Cue[] {
  const inOrder = cues
    .map((cue) => ({ ...cue, start: Math.max(0, cue.start), runs: withoutBlankLines(cue.runs) }))
    .filter(({ runs, end }) => runs.length > 0 && end >= 0)
    .toSorted((a, b) => a.start - b.start);
  return inOrder.map((cue, index) => {
    if (cue.end > cue.start) return cue;
    const next = inOrder.slice(index + 1).find(({ start }) => start > cue.start)?.start ?? Infinity;
    return { ...cue, end: Math.min(next, cue.start + usualLength) };
  });
}

/** Blank lines end a cue in most formats. */
function withoutBlankLines(runs: readonly Run[]): Run[] {
  const list = new RunList();
  let atLineStart = true;
  for (const run of runs) {
    let text = '';
    for (const character of run.text) {
      if (character === '\n' && atLineStart) continue;
      if (/[ \t]/.test(character) && atLineStart) continue;
      atLineStart = character === '\n';
      text += character;
    }
    list.add(text, run);
  }
  for (let last = list.runs.at(-1); last !== undefined; last = list.runs.at(-1)) {
    last.text = last.text.trimEnd();
    if (last.text !== '') break;
    list.runs.pop();
  }
  return list.runs;
}

interface Mark {
  opens: string;
  closes: string;
}

/** Text with marks around what looks different, properly nested. */
export function markedText(
  runs: readonly Run[],
  marksOf: (look: Look) => readonly Mark[],
  escape: (text: string) => string,
): string {
  let text = '';
  let open: readonly Mark[] = [];
  const close = (upTo: number) => {
    for (const { closes } of open.slice(upTo).toReversed()) text += closes;
    open = open.slice(0, upTo);
  };
  for (const run of runs) {
    const wanted = marksOf(run);
    const different = wanted.findIndex(({ opens }, index) => open[index]?.opens !== opens);
    close(different === -1 ? wanted.length : different);
    for (const mark of wanted.slice(open.length)) text += mark.opens;
    open = wanted;
    text += escape(run.text);
  }
  close(0);
  return text;
}

/** `01:02:03,004` with the given separator. */
export function clock(milliseconds: number, separator: ',' | '.'): string {
  const rounded = Math.round(milliseconds);
  const pad = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, '0');
  const minutes = pad((rounded / 60_000) % 60);
  return `${pad(rounded / 3_600_000)}:${minutes}:${pad((rounded / 1000) % 60)}${separator}${pad(rounded % 1000, 3)}`;
}

/** The lines of a text, whatever ends them; some programs write CR CR LF. Bounded: a file of nothing else stays quick to read. */
export function linesOf(text: string): string[] {
  return text.split(/\r{0,4}\n|\r/);
}

/** @throws Failure `invalid_input` when a file has no cue. */
export function assertCues(cues: readonly Cue[], { filename, type }: { filename: string; type: FileTypeId }): void {
  if (cues.length > 0) return;
  const message = `"${filename}" has nothing that can be read as ${fileTypes[type].name}.`;
  throw new Failure('invalid_input', message, { file: filename });
}
