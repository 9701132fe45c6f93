import { readOverrides } from './ass-text.ts';
import { type Cue, type Look, type Place, RunList, clock, markedText, plain, usualPlace } from './cue.ts';

const time = String.raw`(-?)(?:(\d{1,3}):)?(\d{1,3}):(\d{1,2})[,.:](\d{1,3})`;
/** A line with two times; behind them SubRip may have a place in pixels, WebVTT settings. */
export const timingLine = new RegExp(String.raw`^\s*${time}\s*-+>\s*${time}(.*)$`);

/** The two times of such a line, in milliseconds. */
export function timesOf(match: RegExpExecArray): { start: number; end: number } {
  const at = (group: number) => {
    const [sign, hours = '0', minutes, seconds, fraction = ''] = match.slice(group, group + 5);
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return (whole * 1000 + Number(fraction.padEnd(3, '0'))) * (sign === '-' ? -1 : 1);
  };
  return { start: at(1), end: at(6) };
}

/** Reads SubRip: numbers may be missing or wrong, blank lines may stand inside a cue. */
export function readSrt(text: string): Cue[] {
  const cues: { start: number; end: number; lines: string[] }[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    const timing = timingLine.exec(line);
    if (timing === null) {
      cues.at(-1)?.lines.push(line);
      continue;
    }
    dropNumber(cues.at(-1)?.lines);
    cues.push({ ...timesOf(timing), lines: [] });
  }
  return cues.map(({ start, end, lines }) => ({ start, end, ...readTaggedText(lines.join('\n').trim()) }));
}

/** The number of the next cue stands behind the text of this one. */
function dropNumber(lines: string[] | undefined): void {
  if (lines !== undefined && /^\s*\d+\s*$/.test(lines.at(-1) ?? '')) lines.pop();
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
};

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,5}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Names of colours that subtitles use. */
const colorNames: Readonly<Record<string, string>> = {
  white: '#ffffff',
  yellow: '#ffff00',
  cyan: '#00ffff',
  lime: '#00ff00',
  green: '#008000',
  red: '#ff0000',
  blue: '#0000ff',
  magenta: '#ff00ff',
  black: '#000000',
};

export function namedColor(name: string): string | undefined {
  const lower = name.toLowerCase();
  return /^#[\da-f]{6}/.exec(lower)?.[0] ?? colorNames[lower];
}

/** Text with the tags of SubRip and WebVTT, and those of SubStation that are used in SubRip too. */
export function readTaggedText(text: string): { runs: Cue['runs']; place: Place } {
  const list = new RunList();
  let place = usualPlace;
  let look: Look = plain;
  const colors: (string | undefined)[] = [];
  const parts = text.split(/(<\/?[a-z][^<>]*>|<[\d:.]+>|\{\\[^{}]*\})/i);
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 0) {
      list.add(decodeEntities(part), look);
      continue;
    }
    if (part.startsWith('{')) {
      const read = readOverrides(part.slice(1, -1), look, plain);
      look = read.look;
      place = read.place ?? place;
      continue;
    }
    const [, slash, name = '', rest = ''] = /^<(\/?)([a-z]+)([^>]*)>$/i.exec(part) ?? [];
    const isOpen = slash === '';
    switch (name.toLowerCase()) {
      case 'i':
        look = { ...look, italic: isOpen };
        break;
      case 'b':
        look = { ...look, bold: isOpen };
        break;
      case 'u':
        look = { ...look, underline: isOpen };
        break;
      case 'font':
      case 'c':
        if (isOpen) colors.push(look.color);
        look = { ...look, color: isOpen ? (colorIn(rest) ?? look.color) : colors.pop() };
    }
  }
  return { runs: list.runs, place };
}

/** `color="#ff0000"` of SubRip, `.yellow` of WebVTT. */
function colorIn(attributes: string): string | undefined {
  const named = /color\s*=\s*["']?([#\w]+)/i.exec(attributes)?.[1] ?? /^\.(\w+)/.exec(attributes)?.[1];
  return named === undefined ? undefined : namedColor(named);
}

function marksOf({ italic, bold, underline, color }: Look) {
  return [
    ...(color === undefined ? [] : [{ opens: `<font color="${color}">`, closes: '</font>' }]),
    ...(bold ? [{ opens: '<b>', closes: '</b>' }] : []),
    ...(italic ? [{ opens: '<i>', closes: '</i>' }] : []),
    ...(underline ? [{ opens: '<u>', closes: '</u>' }] : []),
  ];
}

export function writeSrt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ start, end, place, runs }, index) => {
    const where = place === usualPlace ? '' : `{\\an${place}}`;
    // An arrow in the text would be taken for a line of times.
    const text = markedText(runs, marksOf, (piece) => piece.replaceAll('-->', '->'));
    return `${index + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${where}${text}\n`;
  });
  return blocks.join('\n');
}
