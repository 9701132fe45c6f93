import type { PageCharacter } from './pdfium.ts';

/** Ligatures and what they stand for: searching for "find" must find it. */
const ligatures = new Map([
  ['\ufb00', 'ff'],
  ['\ufb01', 'fi'],
  ['\ufb02', 'fl'],
  ['\ufb03', 'ffi'],
  ['\ufb04', 'ffl'],
  ['\ufb05', 'st'],
  ['\ufb06', 'st'],
]);

/** What a character adds to a text: no control characters, hyphens at line ends as they are printed. */
function plain({ text, isHyphen }: PageCharacter): string {
  if (isHyphen) return '-';
  if (/^[\p{Cc}\ufffe\uffff\ufeff]$/u.test(text)) return '';
  return ligatures.get(text) ?? text;
}

/** The text of a page in reading order, tidied: lines end with `\n`, hyphens as printed, composed characters (NFC). */
export function readingText(text: string): string {
  const tidy = text
    .replaceAll('\ufffe', '-\n')
    .replaceAll(/[\ufb00-\ufb06]/g, (ligature) => ligatures.get(ligature) ?? ligature)
    .replaceAll(/(?!\n)[\p{Cc}\ufeff\uffff]/gu, '')
    .replaceAll(/[^\S\n]+$/gm, '');
  return endWithNewline(tidy.normalize('NFC'));
}

interface Line {
  /** Where the characters stand: points from the top. */
  top: number;
  bottom: number;
  characters: PageCharacter[];
}

/** Columns a page is at most given: a hostile page must not become gigabytes of spaces. */
const maxColumns = 1000;
/** Empty lines that a gap between two lines becomes at most. */
const maxEmptyLines = 5;

/**
 * The text of a page as it stands on the paper: columns side by side, gaps as spaces. The cell of this grid is as wide as
 * the page's usual character. Text that is not upright comes after the rest, in reading order.
 */
export function layoutText(characters: readonly PageCharacter[]): string {
  const printed = characters.filter((character) => !character.isGenerated && plain(character).trim() !== '');
  const upright = printed.filter(isUpright);
  const lines = toLines(upright);
  const cell = usualWidth(upright);
  const left = upright.reduce((least, character) => Math.min(least, character.left), Infinity);
  const text = lines.map((line, index) => emptyLinesBefore(lines, index) + drawLine(line, left, cell)).join('\n');
  const tilted = readingText(
    characters
      .filter((character) => !isUpright(character))
      .map(({ text: one }) => one)
      .join(''),
  );
  return endWithNewline(
    [text, tilted]
      .filter((part) => part.trim() !== '')
      .join('\n')
      .normalize('NFC'),
  );
}

function isUpright({ angle }: PageCharacter): boolean {
  return Math.abs(Math.sin(angle)) < 0.1 && Math.cos(angle) > 0;
}

function endWithNewline(text: string): string {
  const trimmed = text.replace(/\n+$/, '');
  return trimmed === '' ? '' : `${trimmed}\n`;
}

/** Characters whose middles lie within each other's height share a line. */
function toLines(characters: readonly PageCharacter[]): Line[] {
  const sorted = characters.toSorted((a, b) => a.top + a.bottom - b.top - b.bottom);
  const lines: Line[] = [];
  for (const character of sorted) {
    const line = lines.at(-1);
    const middle = (character.top + character.bottom) / 2;
    if (line !== undefined && middle < line.bottom - (line.bottom - line.top) * 0.25) line.characters.push(character);
    else lines.push({ top: character.top, bottom: character.bottom, characters: [character] });
  }
  for (const line of lines) line.characters.sort((a, b) => a.left - b.left);
  return lines;
}

/** The median width, in points. */
function usualWidth(characters: readonly PageCharacter[]): number {
  const widths = characters.map(({ left, right }) => right - left).filter((width) => width > 0.1);
  widths.sort((a, b) => a - b);
  return widths[Math.floor(widths.length / 2)] ?? 5;
}

function emptyLinesBefore(lines: readonly Line[], index: number): string {
  const [previous, line] = [lines[index - 1], lines[index]];
  if (previous === undefined || line === undefined) return '';
  const height = Math.max(1, line.bottom - line.top);
  const gap = Math.floor((line.top - previous.bottom) / height);
  return '\n'.repeat(Math.min(maxEmptyLines, Math.max(0, gap)));
}

function drawLine({ characters }: Line, left: number, cell: number): string {
  let text = '';
  let columns = 0;
  let end: number | undefined;
  for (const character of characters) {
    const gap = end === undefined ? Infinity : character.left - end;
    const size = character.bottom - character.top;
    if (gap > size * 0.12) {
      const column = Math.min(maxColumns, Math.round((character.left - left) / cell));
      // Neighbouring words are one space apart; what stands further away goes to its own column.
      const isWordGap = end !== undefined && gap < size * 0.7;
      const spaces = isWordGap ? 1 : Math.max(end === undefined ? 0 : 2, column - columns);
      text += ' '.repeat(spaces);
      columns += spaces;
    }
    const added = plain(character);
    text += added;
    columns += [...added].length;
    end = character.right;
  }
  return text.trimEnd();
}
