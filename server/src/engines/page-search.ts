import type { Box, ContentCharacter } from './pdfium-content.ts';

/** The text of a page as one line that can be searched, and where each of its UTF-16 units comes from. */
export interface SearchableText {
  text: string;
  /** For every unit of `text`, the index of its character on the page. */
  sources: number[];
}

/**
 * Letters as people type them (ligatures, full-width and styled forms become plain ones), one space between words, and
 * words that a line end parts put together again.
 *
 * @param keepHyphens where a hyphen ends a line: some words have one anyway, and numbers too.
 */
export function searchableText(characters: readonly ContentCharacter[], keepHyphens = false): SearchableText {
  let text = '';
  const sources: number[] = [];
  let isJoining = false;
  for (const [index, character] of characters.entries()) {
    const plain = plainText(character, keepHyphens);
    if (character.isHyphen) isJoining = true;
    if (plain === '') continue;
    const isSpace = plain.trim() === '';
    if (isSpace && (isJoining || text.endsWith(' ') || text === '')) continue;
    if (!character.isHyphen) isJoining = false;
    const added = isSpace ? ' ' : plain;
    text += added;
    for (let unit = 0; unit < added.length; unit++) sources.push(index);
  }
  return { text, sources };
}

function plainText({ text, isHyphen }: ContentCharacter, keepHyphens: boolean): string {
  if (isHyphen) return keepHyphens ? '-' : '';
  // Soft hyphens and signs without width or meaning.
  if (/^[\u00ad\u200b-\u200f\u2060\ufeff\ufffe\uffff]$/u.test(text)) return '';
  const plain = text.normalize('NFKC').replaceAll(/[\u2010\u2011\u2012\u2013\u2212]/gu, '-');
  return /^[\p{Cc}\s]*$/u.test(plain) && plain !== '' ? ' ' : plain;
}

export interface PageWord {
  text: string;
  /** One a line: a word may be parted. */
  boxes: Box[];
}

/** The words of a page in reading order. */
export function pageWords(characters: readonly ContentCharacter[]): PageWord[] {
  const { text, sources } = searchableText(characters);
  return [...text.matchAll(/\S+/gu)].map((match) => ({
    text: match[0],
    boxes: boxesOf(characters, sources.slice(match.index, match.index + match[0].length)),
  }));
}

/** The boxes around characters of a page, those beside each other in one. */
export function boxesOf(characters: readonly ContentCharacter[], indexes: readonly number[]): Box[] {
  const boxes: Box[] = [];
  for (const index of new Set(indexes)) {
    const character = characters[index];
    if (character === undefined || character.isGenerated || !hasArea(character)) continue;
    const { left, top, right, bottom } = character;
    const last = boxes.at(-1);
    const overlap = last === undefined ? 0 : Math.min(bottom, last.bottom) - Math.max(top, last.top);
    const height = bottom - top;
    if (last !== undefined && overlap > height / 2 && left - last.right < height && last.left - right < height) {
      last.left = Math.min(last.left, left);
      last.top = Math.min(last.top, top);
      last.right = Math.max(last.right, right);
      last.bottom = Math.max(last.bottom, bottom);
    } else {
      boxes.push({ left, top, right, bottom });
    }
  }
  return boxes;
}

function hasArea({ left, top, right, bottom }: Box): boolean {
  return right > left && bottom > top;
}
