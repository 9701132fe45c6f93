import { assClock } from './ass.ts';
import { clock, linesOf } from './cue.ts';
import { timesOf, timingLine } from './srt.ts';

/** What becomes of a time: `time * scale + offset`, both in milliseconds, for cues that begin at `from` or later. */
export interface Shift {
  offset: number;
  scale: number;
  from: number;
}

export interface Shifted {
  text: string;
  /** Cues that are left, and those that would have ended before the beginning. */
  kept: number;
  dropped: number;
}

interface Span {
  start: number;
  end: number;
}

/** The times of a cue afterwards: one that begins before the beginning is cut, one wholly before it is undefined. */
function moved({ start, end }: Span, { offset, scale, from }: Shift): Span | undefined {
  if (start < from) return { start: Math.max(0, start), end: Math.max(0, end) };
  const after = { start: start * scale + offset, end: end * scale + offset };
  if (after.end <= 0) return undefined;
  return { start: Math.max(0, after.start), end: after.end };
}

/** Moves the cues of SubRip or WebVTT; everything but the times stays as it is written. */
export function shiftTimings(text: string, type: 'srt' | 'vtt', shift: Shift): Shifted {
  const counts = { kept: 0, dropped: 0 };
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = linesOf(text);
  const output: string[] = [];
  let isDropping = false;
  let cue: Span = { start: 0, end: 0 };
  for (const [index, line] of lines.entries()) {
    const timing = timingLine.exec(line);
    if (timing !== null) {
      cue = timesOf(timing);
      const after = moved(cue, shift);
      isDropping = after === undefined;
      if (after === undefined) {
        counts.dropped++;
        continue;
      }
      counts.kept++;
      const [start, end] = [timeLike(after.start, timing[2], type), timeLike(after.end, timing[7], type)];
      output.push(`${start} --> ${end}${timing[11] ?? ''}`);
      continue;
    }
    const announced = timingLine.exec(lines[index + 1] ?? '');
    if (announced !== null) isDropping = moved(timesOf(announced), shift) === undefined;
    if (isDropping) continue;
    // Numbers count the cues that are left.
    const isNumber = type === 'srt' && announced !== null && counts.dropped > 0 && /^\s*\d+\s*$/.test(line);
    output.push(isNumber ? String(counts.kept + 1) : type === 'vtt' ? shiftStamps(line, shift, cue) : line);
  }
  return { ...counts, text: output.join(newline) };
}

function timeLike(milliseconds: number, hours: string | undefined, type: 'srt' | 'vtt'): string {
  if (type === 'srt') return clock(milliseconds, ',');
  const written = clock(milliseconds, '.');
  return hours === undefined && written.startsWith('00:') ? written.slice(3) : written;
}

/** Times inside the text of WebVTT, `<00:01.500>`, move with their cue. */
function shiftStamps(line: string, shift: Shift, cue: Span): string {
  if (cue.start < shift.from) return line;
  return line.replaceAll(/<(?:(\d+):)?(\d\d):(\d\d\.\d{3})>/g, (_, hours: string | undefined, minutes, seconds) => {
    const time = ((Number(hours ?? 0) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    return `<${timeLike(Math.max(0, time * shift.scale + shift.offset), hours, 'vtt')}>`;
  });
}

/** Moves the events of SubStation Alpha; styles, comments and everything else stay as they are. */
export function shiftAss(text: string, shift: Shift): Shifted {
  const counts = { kept: 0, dropped: 0 };
  let positions = { start: 1, end: 2 };
  const lines = text.split(/(?<=\n)/).map((line) => {
    const format = /^Format\s*:(.*)/i
      .exec(line)?.[1]
      ?.split(',')
      .map((name) => name.trim().toLowerCase());
    if (format?.includes('start') === true) positions = { start: format.indexOf('start'), end: format.indexOf('end') };
    const [, kind, rest = ''] = /^((?:Dialogue|Comment)\s*:\s*)(.*\r?\n?)$/is.exec(line) ?? [];
    if (kind === undefined) return line;
    const fields = rest.split(',');
    const start = assTime(fields[positions.start]);
    const end = assTime(fields[positions.end]);
    if (start === undefined || end === undefined) return line;
    const after = moved({ start, end }, shift);
    if (after === undefined) {
      counts.dropped++;
      return '';
    }
    counts.kept++;
    fields[positions.start] = assClock(after.start);
    fields[positions.end] = assClock(after.end);
    return `${kind}${fields.join(',')}`;
  });
  return { ...counts, text: lines.join('') };
}

function assTime(text = ''): number | undefined {
  const [, hours, minutes, seconds] = /^\s*(\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)\s*$/.exec(text) ?? [];
  if (hours === undefined) return undefined;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}
