import { type Cue, type Look, type Place, clock, markedText } from './cue.ts';
import { readTaggedText, timesOf, timingLine } from './srt.ts';

/** Reads WebVTT: notes, styles and regions are left out. */
export function readVtt(text: string): Cue[] {
  const blocks = text
    .split(/\r\n|\r|\n/)
    .join('\n')
    .split(/\n{2,}/);
  return blocks.flatMap((block) => {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => timingLine.test(line));
    const timing = timingLine.exec(lines[at] ?? '');
    if (timing === null || /^(NOTE|STYLE|REGION)\b/.test(lines[0] ?? '')) return [];
    const { runs } = readTaggedText(lines.slice(at + 1).join('\n'));
    return [{ ...timesOf(timing), runs, place: placeOf(timing[11] ?? '') }];
  });
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

function marksOf({ italic, bold, underline }: Look) {
  return [
    ...(bold ? [{ opens: '<b>', closes: '</b>' }] : []),
    ...(italic ? [{ opens: '<i>', closes: '</i>' }] : []),
    ...(underline ? [{ opens: '<u>', closes: '</u>' }] : []),
  ];
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function writeVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ start, end, place, runs }) => {
    const settings = `${lines[Math.floor((place - 1) / 3)]}${alignments[(place - 1) % 3]}`;
    return `${clock(start, '.')} --> ${clock(end, '.')}${settings}\n${markedText(runs, marksOf, escape)}\n`;
  });
  return ['WEBVTT\n', ...blocks].join('\n');
}
