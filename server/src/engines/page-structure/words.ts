import type { Box, ContentCharacter, PageContent } from '../pdfium-content.ts';
import type { RecognisedWord } from '../tesseract.ts';
import type { Segment, Word } from './types.ts';

const ligatures: Record<string, string> = { ﬀ: 'ff', ﬁ: 'fi', ﬂ: 'fl', ﬃ: 'ffi', ﬄ: 'ffl', ﬅ: 'st', ﬆ: 'st' };

function plain({ text, isHyphen }: ContentCharacter): string {
  if (isHyphen) return '-';
  if (/^[\p{Cc}\ufffe\uffff\ufeff\u00ad]$/u.test(text)) return '';
  return ligatures[text] ?? text;
}

/** The words of a page, upright ones first; the second list has those that stand at an angle, in reading order. */
export function wordsOf(content: PageContent): { upright: Word[]; tilted: Word[] } {
  const hasVisible = content.characters.some(
    (character) => character.style.isVisible && plain(character).trim() !== '',
  );
  const upright: Word[] = [];
  const tilted: Word[] = [];
  let current: Word | undefined;
  let previous: ContentCharacter | undefined;
  for (const character of content.characters) {
    const text = plain(character);
    if (text === '' || text.trim() === '' || (hasVisible && !character.style.isVisible)) {
      previous = text === '' ? previous : undefined;
      continue;
    }
    const isUpright = Math.abs(Math.sin(character.angle)) < 0.1 && Math.cos(character.angle) > 0;
    const joins = previous !== undefined && (isUpright ? touches(previous, character) : true);
    if (current !== undefined && joins && current.style === character.style) extend(current, character, text);
    else {
      const { left, right, baseline, style } = character;
      const { top, bottom } = bodyOf(character);
      current = { text, left, top, right, bottom, baseline, style, isGlued: joins, endsWithHyphen: false };
      (isUpright ? upright : tilted).push(current);
    }
    current.endsWithHyphen = character.isHyphen || text === '-' || text === '\u2010';
    previous = character;
  }
  upright.push(...drawnBullets(content, upright));
  for (const word of [...upright, ...tilted]) {
    word.text = word.text.normalize('NFC');
    const link = content.links.find((candidate) => contains(candidate, word));
    if (link !== undefined) word.link = link.address;
  }
  return { upright, tilted };
}

/** Browsers draw the bullets of lists: small discs, circles and squares before the first word of a line. */
function drawnBullets({ drawings, fills }: PageContent, words: readonly Word[]): Word[] {
  const dots = [...drawings, ...fills].filter(({ left, right, top, bottom }) => {
    const [width, height] = [right - left, bottom - top];
    return width > 1.2 && width < 9 && Math.abs(width / height - 1) < 0.25;
  });
  if (dots.length > maxBullets) return [];
  return dots.flatMap((dot) => {
    const middle = (dot.top + dot.bottom) / 2;
    const line = words.filter(({ top, bottom }) => middle > top && middle < bottom);
    const next = line.toSorted((a, b) => a.left - b.left).find(({ left }) => left > dot.right);
    const isFirst = line.every(({ right, left }) => left > dot.right || right < dot.left - 30);
    if (next === undefined || !isFirst || next.left - dot.right > next.style.size * 2) return [];
    if (dot.right - dot.left > next.style.size * 0.7) return [];
    return [{ ...next, text: '•', left: dot.left, right: dot.right, isGlued: false, endsWithHyphen: false }];
  });
}

/** More small shapes than this are a diagram. */
const maxBullets = 500;

function touches(previous: ContentCharacter, next: ContentCharacter): boolean {
  const size = Math.max(previous.style.size, next.style.size, 1);
  const gap = next.left - previous.right;
  return gap < size * 0.22 && gap > -size * 0.6 && Math.abs(next.baseline - previous.baseline) < size * 0.6;
}

function extend(word: Word, character: ContentCharacter, text: string): void {
  word.text += text;
  word.left = Math.min(word.left, character.left);
  word.right = Math.max(word.right, character.right);
  const { top, bottom } = bodyOf(character);
  word.top = Math.min(word.top, top);
  word.bottom = Math.max(word.bottom, bottom);
}

/** From the ascenders to the descenders of a usual font: what fonts say of themselves may be several lines high. */
function bodyOf({ top, bottom, baseline, angle, style: { size } }: ContentCharacter): { top: number; bottom: number } {
  const isUsual = Math.abs(Math.sin(angle)) < 0.1 && bottom - top > size * 0.5 && bottom - top < size * 4;
  return isUsual ? { top: baseline - size * 0.8, bottom: baseline + size * 0.22 } : { top, bottom };
}

/** Whether the middle of `inner` is in `outer`. */
export function contains(outer: Box, inner: Box): boolean {
  const [x, y] = [(inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2];
  return x >= outer.left && x <= outer.right && y >= outer.top && y <= outer.bottom;
}

/** Letters are about this much higher than Tesseract's height of a line. */
const sizeOfLineHeight = 1.1;

/** Recognised words as words of the page; `dpi` is that of the picture they were recognised in. */
export function recognisedWords(recognised: readonly RecognisedWord[], dpi: number): Word[] {
  const points = 72 / dpi;
  const sizes = recognised.map(({ lineHeight }) => lineHeight * points * sizeOfLineHeight).toSorted((a, b) => a - b);
  const usual = sizes[Math.floor(sizes.length / 2)] ?? 10;
  return recognised.map((word) => {
    const measured = word.lineHeight * points * sizeOfLineHeight;
    // Heights of lines differ by the letters in them: only clearly larger ones are another size.
    const size = Math.abs(measured / usual - 1) < 0.25 ? usual : measured;
    const descends = /[gjpqy,;()[\]Q]/.test(word.text);
    const baseline = word.bottom * points - (descends ? size * 0.2 : 0);
    return {
      text: word.text.normalize('NFC'),
      left: word.left * points,
      right: word.right * points,
      top: baseline - size * 0.9,
      bottom: baseline + size * 0.22,
      baseline,
      isGlued: false,
      endsWithHyphen: word.text.endsWith('-'),
      style: {
        family: 'Arial',
        kind: 'sans',
        size: Math.round(size * 2) / 2,
        bold: false,
        italic: false,
        color: '000000',
        isVisible: true,
      },
    };
  });
}

const bullets = '•‣◦▪▫■□●○◆◇➢➤✓✔–—*·\uf0b7\uf0a7\uf0d8\uf076-';
export const bulletPattern = new RegExp(`^[${bullets}]$`, 'u');
export const numberPattern = /^\(?(\d{1,3}|[a-z]|[ivx]{1,5})[.)]$/;
const markerPattern = new RegExp(`${bulletPattern.source}|${numberPattern.source}`, 'u');

/** A gap wider than this, in letter sizes, parts two columns or cells. */
const wideGap = 0.85;

/** Groups words into lines, and parts lines at wide gaps. Sorted from top to bottom. */
export function segmentsOf(words: readonly Word[]): Segment[] {
  return linesOf(words).flatMap((line) => {
    const segments: Segment[] = [];
    let current: Word[] = [];
    let end = -Infinity;
    for (const word of line) {
      const isApart = word.left - end > Math.max(word.style.size, 4) * wideGap;
      if (isApart && current.length > 0) {
        segments.push(createSegment(current));
        current = [];
      }
      current.push(word);
      end = Math.max(isApart ? -Infinity : end, word.right);
    }
    if (current.length > 0) segments.push(createSegment(current));
    return withMarkers(segments);
  });
}

/** The bullet or number of an item stands apart, but belongs to what follows. */
function withMarkers(segments: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments) {
    const before = joined.at(-1);
    const isMarker = before?.words.length === 1 && markerPattern.test(before.words[0]?.text ?? '');
    if (before !== undefined && isMarker && segment.left - before.right < segment.size * 4) {
      joined[joined.length - 1] = createSegment([...before.words, ...segment.words]);
    } else joined.push(segment);
  }
  return joined;
}

/** Things whose heights overlap enough share a line; each line from left to right. */
export function linesOf<T extends Box>(things: readonly T[]): T[][] {
  const lines: { top: number; bottom: number; things: T[] }[] = [];
  const sorted = things.toSorted((a, b) => a.top + a.bottom - b.top - b.bottom);
  for (const thing of sorted) {
    const height = thing.bottom - thing.top;
    const line = lines.slice(-4).findLast(({ top, bottom }) => {
      const shared = Math.min(bottom, thing.bottom) - Math.max(top, thing.top);
      return shared > 0.5 * Math.min(bottom - top, height);
    });
    if (line === undefined) {
      lines.push({ top: thing.top, bottom: thing.bottom, things: [thing] });
      continue;
    }
    line.things.push(thing);
    if (height > line.bottom - line.top) [line.top, line.bottom] = [thing.top, thing.bottom];
  }
  lines.sort((a, b) => a.top - b.top);
  return lines.map((line) => line.things.toSorted((a, b) => a.left - b.left));
}

export function createSegment(words: Word[]): Segment {
  const sizes = new Map<number, { letters: number; baseline: number }>();
  for (const { style, text, baseline } of words) {
    const known = sizes.get(style.size);
    sizes.set(style.size, { letters: (known?.letters ?? 0) + text.length, baseline: known?.baseline ?? baseline });
  }
  const [size, { baseline }] = [...sizes].toSorted((a, b) => b[1].letters - a[1].letters)[0] ?? [10, { baseline: 0 }];
  return { ...surround(words), words, size: Math.max(1, size), baseline };
}

/** The smallest box around all of them. */
export function surround(boxes: readonly Box[]): Box {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { left, top, right, bottom } of boxes) {
    box.left = Math.min(box.left, left);
    box.top = Math.min(box.top, top);
    box.right = Math.max(box.right, right);
    box.bottom = Math.max(box.bottom, bottom);
  }
  return box;
}
