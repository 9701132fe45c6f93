import type { Alignment, Paragraph, Run, Segment, Word } from './types.ts';
import { bulletPattern, createSegment, linesOf, numberPattern } from './words.ts';

interface Extent {
  left: number;
  right: number;
}

/** Makes paragraphs of the segments of one column, or one cell. */
export function paragraphsOf(segments: readonly Segment[], column: Extent): Paragraph[] {
  const lines = linesOf(segments).map((parts) => createSegment(parts.flatMap(({ words }) => words)));
  const usual = usualLeading(lines);
  const groups: Segment[][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    if (group === undefined || beginsParagraph(line, group, usual, column)) groups.push([line]);
    else group.push(line);
  }
  const paragraphs = groups.map((group) => createParagraph(group, column));
  for (const [index, paragraph] of paragraphs.entries())
    tighten(paragraph, paragraphs[index - 1], paragraphs[index + 1]);
  return paragraphs;
}

/** A line by itself shows no leading: where lines of their own stand close, as in a listing, theirs is their distance. */
function tighten(paragraph: Paragraph, before: Paragraph | undefined, after: Paragraph | undefined): void {
  if (paragraph.lineCount > 1) return;
  const distances = [
    before === undefined ? Infinity : paragraph.firstBaseline - before.lastBaseline,
    after === undefined ? Infinity : after.firstBaseline - paragraph.lastBaseline,
  ].filter((distance) => distance > paragraph.size * 0.9);
  paragraph.leading = Math.min(paragraph.leading, ...distances);
}

/** The usual distance of baselines, in letter sizes. */
function usualLeading(lines: readonly Segment[]): number {
  const ratios = lines
    .slice(1)
    .map((line, index) => (line.baseline - (lines[index]?.baseline ?? 0)) / line.size)
    .filter((ratio) => ratio > 0.8 && ratio < 2.6)
    .toSorted((a, b) => a - b);
  return ratios[Math.floor(ratios.length * 0.4)] ?? 1.25;
}

function beginsParagraph(line: Segment, group: readonly Segment[], usual: number, column: Extent): boolean {
  const previous = group.at(-1) ?? line;
  const first = group[0] ?? line;
  const distance = line.baseline - previous.baseline;
  const leading = group.length > 1 ? previous.baseline - (group.at(-2)?.baseline ?? 0) : usual * line.size;
  if (distance > Math.max(leading * 1.25, leading + line.size * 0.25) || distance < -line.size * 0.5) return true;
  if (Math.abs(line.size / previous.size - 1) > 0.08) return true;
  if (markerOf(line) !== undefined) return true;
  if (isBold(line) !== isBold(previous) && (isBold(line) || group.every(isBold))) return true;
  if (wouldHaveFitted(line, previous, column)) return true;
  const body = group[1]?.left ?? line.left;
  const isList = markerOf(first) !== undefined;
  if (isList) return line.left < first.left + 1;
  const isRagged = Math.abs(first.left + first.right - line.left - line.right) < line.size;
  return !isRagged && line.left > body + line.size * 0.8 && group.length > 1;
}

function isBold({ words }: Segment): boolean {
  return words.every(({ style }) => style.bold);
}

/** The line before ended although the first word of this one had room on it: somebody ended it. */
function wouldHaveFitted(line: Segment, previous: Segment, column: Extent): boolean {
  const [word] = line.words;
  if (word === undefined) return false;
  const room = column.right - previous.right;
  const isCentred = Math.abs(previous.left - column.left - room) < line.size && room > line.size * 2;
  return (isCentred ? room * 2 : room) > word.right - word.left + line.size * 0.8 + (column.right - column.left) * 0.02;
}

/** The bullet or number a line of a list begins with. */
function markerOf({ words }: Segment): { marker: string; ordered: boolean } | undefined {
  const [first, second] = words;
  if (first === undefined || second === undefined || second.isGlued) return undefined;
  if (bulletPattern.test(first.text)) return { marker: '•', ordered: false };
  return numberPattern.test(first.text) ? { marker: first.text, ordered: true } : undefined;
}

function createParagraph(lines: readonly Segment[], column: Extent): Paragraph {
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined) throw new RangeError('a paragraph has lines');
  const marker = markerOf(first);
  const kept = marker === undefined ? lines : [createSegment(first.words.slice(1)), ...lines.slice(1)];
  const body = kept.slice(1);
  const left = body.length > 0 ? Math.min(...body.map((line) => line.left)) : (kept[0]?.left ?? first.left);
  const leading = lines.length > 1 ? (last.baseline - first.baseline) / (lines.length - 1) : first.size * 1.22;
  return {
    kind: 'paragraph',
    left,
    right: Math.max(...kept.map(({ right }) => right)),
    top: Math.min(...kept.map(({ top }) => top)),
    bottom: Math.max(...kept.map(({ bottom }) => bottom)),
    runs: runsOf(kept),
    size: first.size,
    lineCount: lines.length,
    firstBaseline: first.baseline,
    lastBaseline: last.baseline,
    leading,
    firstIndent: (kept[0]?.left ?? left) - left,
    align: marker === undefined ? alignmentOf(lines, column) : 'left',
    ...(marker === undefined ? {} : { list: { ...marker, level: 0, left: first.left } }),
  };
}

function alignmentOf(lines: readonly Segment[], column: Extent): Alignment {
  const width = Math.max(1, column.right - column.left);
  const near = (a: number, b: number) => Math.abs(a - b) < Math.max(1.5, width * 0.006);
  const [first] = lines;
  if (first === undefined) return 'left';
  const leftGap = first.left - column.left;
  const rightGap = column.right - first.right;
  if (lines.length === 1) {
    if (leftGap > width * 0.08 && Math.abs(leftGap - rightGap) < width * 0.03) return 'center';
    return leftGap > width * 0.4 && rightGap < width * 0.01 ? 'right' : 'left';
  }
  const sameLeft = lines.slice(1).every((line) => near(line.left, lines[1]?.left ?? line.left));
  const sameRight = lines.slice(0, -1).every((line) => near(line.right, first.right));
  if (sameLeft && near(first.left, lines[1]?.left ?? first.left)) {
    return sameRight && lines.length > 2 ? 'justify' : 'left';
  }
  if (sameLeft) return sameRight && lines.length > 2 ? 'justify' : 'left';
  const sameMiddle = lines.every((line) => Math.abs(line.left + line.right - first.left - first.right) < width * 0.02);
  if (sameMiddle) return 'center';
  return lines.every((line) => near(line.right, first.right)) ? 'right' : 'left';
}

/** The text of lines in runs of one look. Words parted at the end of a line are joined again. */
function runsOf(lines: readonly Segment[]): Run[] {
  const runs: Run[] = [];
  let before: { word: Word; line: Segment } | undefined;
  for (const line of lines) {
    for (const word of line.words) {
      addWord(runs, word, line, before);
      before = { word, line };
    }
  }
  return runs;
}

function addWord(runs: Run[], word: Word, line: Segment, before: { word: Word; line: Segment } | undefined): void {
  const last = runs.at(-1);
  let space = '';
  if (before !== undefined && last !== undefined) {
    const isNewLine = before.line !== line;
    if (isNewLine && isPartedWord(before.word, word)) last.text = last.text.slice(0, -1);
    else if (isNewLine) space = ' ';
    else if (!word.isGlued) space = word.left - before.word.right > line.size * 2 ? '\t' : ' ';
  }
  const position = positionOf(word, line);
  const isSame = last?.style === word.style || (last !== undefined && sameStyle(last, word));
  if (last !== undefined && isSame && last.link === word.link && last.position === position) {
    last.text += space + word.text;
    return;
  }
  if (last !== undefined) last.text += space;
  runs.push({
    text: word.text,
    style: word.style,
    ...(word.link === undefined ? {} : { link: word.link }),
    ...(position === undefined ? {} : { position }),
  });
}

function sameStyle({ style: a }: Run, { style: b }: Word): boolean {
  return (
    a.family === b.family &&
    a.bold === b.bold &&
    a.italic === b.italic &&
    a.color === b.color &&
    Math.abs(a.size - b.size) < 0.3
  );
}

function isPartedWord(before: Word, after: Word): boolean {
  return before.endsWithHyphen && /\p{Ll}[-\u2010]$/u.test(before.text) && /^\p{Ll}/u.test(after.text);
}

function positionOf(word: Word, line: Segment): Run['position'] {
  if (word.style.size > line.size * 0.85) return undefined;
  const raised = line.baseline - word.baseline;
  if (raised > line.size * 0.15) return 'super';
  return raised < -line.size * 0.08 ? 'sub' : undefined;
}
