import { readOverrides } from './ass-text.ts';
import { Failure } from '../../lib/failure.ts';
import { type Cue, type Look, type Place, RunList, clock, linesOf, markedText, plain, usualPlace } from './cue.ts';

const time = String.raw`(-?)(?:(\d{1,3}) ?: ?)?(\d{1,3}) ?: ?(\d{1,2})(?: ?[,.:] ?(\d{1,9}))?`;
/** A line with two times; behind them SubRip may have a place in pixels, WebVTT settings. */
export const timingLine = new RegExp(String.raw`^\s*${time}\s*-+>\s*${time}((?![\d,.:]).*)?$`);
/** The beginning of such a line, whatever becomes of it. */
const timingStart = /^[\s-]*\d+ ?:[\d\s:.,]*-+>/;

/** @throws Failure `invalid_input` for a line of times that cannot be read: a cue would be lost. */
export function assertTimings(lines: readonly string[], filename: string): void {
  const at = lines.findIndex((line) => timingStart.test(line) && !timingLine.test(line));
  if (at === -1) return;
  const message = `"${filename}" is damaged or cut short: line ${at + 1} has times that cannot be read.`;
  throw new Failure('invalid_input', message, { file: filename });
}

/** The two times of such a line, in milliseconds. */
export function timesOf(match: RegExpExecArray): { start: number; end: number } {
  const at = (group: number) => {
    const [sign, hours = '0', minutes, seconds, fraction = ''] = match.slice(group, group + 5);
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return (whole * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))) * (sign === '-' ? -1 : 1);
  };
  return { start: at(1), end: at(6) };
}

/** Reads SubRip: numbers may be missing or wrong, blank lines may stand inside a cue. */
export function readSrt(text: string): Cue[] {
  const cues: { start: number; end: number; lines: string[] }[] = [];
  for (const line of linesOf(text)) {
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

/** The number of the next cue stands behind the text of this one; blank lines around it where every second one is blank. */
function dropNumber(lines: string[] | undefined): void {
  if (lines === undefined) return;
  const last = lines.findLastIndex((line) => line.trim() !== '');
  const isNumber = /^\s*\d+\s*$/.test(lines[last] ?? '');
  if (isNumber && (last === lines.length - 1 || lines[last - 1]?.trim() === '')) lines.splice(last);
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
  gray: '#808080',
  grey: '#808080',
  silver: '#c0c0c0',
  maroon: '#800000',
  purple: '#800080',
  fuchsia: '#ff00ff',
  olive: '#808000',
  navy: '#000080',
  teal: '#008080',
  aqua: '#00ffff',
  orange: '#ffa500',
  pink: '#ffc0cb',
};

/** A colour by its name, as `#ff0000`, `#f00` or `ff0000`, or as `rgb(255, 0, 0)`; what it lets through is left out. */
export function namedColor(name: string): string | undefined {
  const lower = name.trim().toLowerCase();
  const digits = /^#?([\da-f]{6})(?:[\da-f]{2})?$/.exec(lower)?.[1];
  if (digits !== undefined) return `#${digits}`;
  if (/^#[\da-f]{3}$/.test(lower)) return lower.replaceAll(/[\da-f]/g, '$&$&');
  const parts = /^rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})/.exec(lower)?.slice(1).map(Number);
  if (parts === undefined) return colorNames[lower];
  return `#${parts.map((part) => Math.min(255, part).toString(16).padStart(2, '0')).join('')}`;
}

/** How the classes of a WebVTT file look, by their names. */
export type ClassLooks = ReadonlyMap<string, Partial<Look>>;

/** Text with the tags of SubRip and WebVTT, and those of SubStation that are used in SubRip too. */
export function readTaggedText(text: string, classes?: ClassLooks): { runs: Cue['runs']; place: Place } {
  const list = new RunList();
  let place = usualPlace;
  let look: Look = plain;
  const colors: (string | undefined)[] = [];
  const outer: Look[] = [];
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
        if (isOpen) colors.push(look.color);
        look = { ...look, color: isOpen ? (colorIn(rest) ?? look.color) : colors.pop() };
        break;
      case 'c':
        if (isOpen) outer.push(look);
        look = isOpen ? classLook(look, rest, classes) : (outer.pop() ?? look);
    }
  }
  return { runs: list.runs, place };
}

/** `color="#ff0000"` */
function colorIn(attributes: string): string | undefined {
  const named = /color\s*=\s*["']?(rgba?\([^()]*\)|[#\w]+)/i.exec(attributes)?.[1];
  return named === undefined ? undefined : namedColor(named);
}

/** `.yellow.loud`: colours by their names, unless the file says how a class looks. */
function classLook(look: Look, names: string, classes?: ClassLooks): Look {
  const changed = { ...look };
  for (const name of names.split('.').slice(1)) {
    const color = colorNames[name.toLowerCase()];
    Object.assign(changed, classes?.get(name) ?? (color === undefined ? {} : { color }));
  }
  return changed;
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
