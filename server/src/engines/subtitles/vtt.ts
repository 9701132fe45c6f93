import { type Cue, type Look, type Place, clock, linesOf, markedText } from './cue.ts';
import { type ClassLooks, namedColor, readTaggedText, timesOf, timingLine } from './srt.ts';

/**
 * Reads WebVTT: of its styles the looks of classes are kept; notes and regions are left out. Blank lines between cues may
 * be missing or have spaces.
 */
export function readVtt(text: string): Cue[] {
  const classes = classLooks(text);
  const cues: { timing: RegExpExecArray; lines: string[] }[] = [];
  let block: 'none' | 'cue' | 'left out' = 'none';
  for (const line of linesOf(text)) {
    const timing = block === 'left out' ? null : timingLine.exec(line);
    if (timing !== null) {
      if (block === 'cue') dropIdentifier(cues.at(-1)?.lines);
      cues.push({ timing, lines: [] });
      block = 'cue';
    } else if (line === '') {
      block = 'none';
    } else if (block === 'cue') {
      cues.at(-1)?.lines.push(line);
    } else if (/^(NOTE|STYLE|REGION)\b/.test(line)) {
      block = 'left out';
    }
  }
  return cues.map(({ timing, lines }) => ({
    ...timesOf(timing),
    runs: readTaggedText(lines.join('\n'), classes).runs,
    place: placeOf(timing[11] ?? ''),
  }));
}

/** Behind a line of spaces alone, the text of a cue has ended, and what follows names the next. */
function dropIdentifier(lines: string[] = []): void {
  const blank = lines.findLastIndex((line) => line.trim() === '');
  if (blank > 0 && blank >= lines.length - 2) lines.splice(blank);
}

/** What `::cue(.name) { color: #ff0000 }` says of classes. */
function classLooks(text: string): ClassLooks {
  const looks = new Map<string, Partial<Look>>();
  for (const [, name = '', rules = ''] of text.matchAll(/::cue\(\s*c?\.([\w-]+)\s*\)\s*\{([^{}]*)\}/g)) {
    const value = (property: string) =>
      new RegExp(String.raw`(?:^|[;\s])${property}\s*:\s*([^;]+)`, 'i').exec(rules)?.[1]?.trim().toLowerCase();
    const color = namedColor(value('color') ?? '');
    const weight = value('font-weight');
    looks.set(name, {
      ...looks.get(name),
      ...(color === undefined ? {} : { color: color === '#ffffff' ? undefined : color }),
      ...(value('font-style') === 'italic' ? { italic: true } : {}),
      ...(weight === 'bold' || Number(weight) > 500 ? { bold: true } : {}),
      ...(value('text-decoration') === 'underline' ? { underline: true } : {}),
    });
  }
  return looks;
}

/** The settings of a cue as a place: its line from above, and to which side it is aligned. */
function placeOf(settings: string): Place {
  const line = /\bline:(-?[\d.]+)(%?)/.exec(settings);
  const align = /\balign:(\w+)/.exec(settings)?.[1] ?? 'center';
  const column = ['start', 'left'].includes(align) ? 0 : ['end', 'right'].includes(align) ? 2 : 1;
  return (rowOf(line) * 3 + column + 1) as Place;
}

/** 0 for the bottom, 2 for the top. Whole numbers count lines: from above, or negative ones from below. */
function rowOf(line: RegExpExecArray | null): number {
  if (line === null) return 0;
  const value = Number(line[1]);
  if (line[2] === '%') return value < 34 ? 2 : value < 67 ? 1 : 0;
  return value >= 0 && value < 5 ? 2 : value >= 5 && value < 10 ? 1 : 0;
}

const lines = ['', ' line:45%', ' line:5%'];
const alignments = [' align:start', '', ' align:end'];

function marksOf({ italic, bold, underline, color }: Look) {
  return [
    ...(color === undefined ? [] : [{ opens: `<c.${className(color)}>`, closes: '</c>' }]),
    ...(bold ? [{ opens: '<b>', closes: '</b>' }] : []),
    ...(italic ? [{ opens: '<i>', closes: '</i>' }] : []),
    ...(underline ? [{ opens: '<u>', closes: '</u>' }] : []),
  ];
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function className(color: string): string {
  return `color-${color.slice(1)}`;
}

/** What says how the classes of colours look; nothing without any. */
function styleBlock(cues: readonly Cue[]): string[] {
  const colors = new Set(cues.flatMap(({ runs }) => runs.flatMap(({ color }) => color ?? [])));
  if (colors.size === 0) return [];
  return [['STYLE', ...[...colors].map((color) => `::cue(.${className(color)}) { color: ${color} }`), ''].join('\n')];
}

export function writeVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ start, end, place, runs }) => {
    const settings = `${lines[Math.floor((place - 1) / 3)]}${alignments[(place - 1) % 3]}`;
    return `${clock(start, '.')} --> ${clock(end, '.')}${settings}\n${markedText(runs, marksOf, escape)}\n`;
  });
  return ['WEBVTT\n', ...styleBlock(cues), ...blocks].join('\n');
}
