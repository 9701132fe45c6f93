import { isIP } from 'node:net';
import { runInNewContext } from 'node:vm';
import { Failure } from '../lib/failure.ts';

export const redactionPatterns = ['email', 'phone', 'iban', 'card', 'ssn', 'ip', 'date'] as const;
export type RedactionPattern = (typeof redactionPatterns)[number];

export interface RedactionTargets {
  terms: readonly string[];
  patterns: readonly RedactionPattern[];
  /** Of JavaScript, with Unicode. */
  regex: string | undefined;
  caseSensitive: boolean;
}

/** Where something was found in a text, in UTF-16 units. */
export interface Hit {
  start: number;
  end: number;
}

export type Search = (text: string) => Hit[];

/** A regular expression may take this long for one page, in milliseconds. */
const longestSearch = 5000;
/** From this length on, a term is also found with spaces between its letters. */
const spacedLength = 5;

/**
 * How to find everything that has to go, in text of `page-search.ts`.
 *
 * @throws Failure `invalid_input` from a search, when the regular expression takes too long.
 */
export function searchFor({ terms, patterns, regex, caseSensitive }: RedactionTargets): Search {
  const flags = caseSensitive ? 'gu' : 'giu';
  const simple = terms.map((term) => new RegExp(termPattern(term), flags));
  return (text) => [
    ...simple.flatMap((expression) => all(text, expression)),
    ...patterns.flatMap((pattern) => finders[pattern](text)),
    ...(regex === undefined ? [] : searchWithin(text, regex, flags)),
  ];
}

function termPattern(term: string): string {
  const plain = term
    .normalize('NFKC')
    .replaceAll(/[\u2010\u2011\u2012\u2013\u2212]/gu, '-')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  const signs = [...plain].map((sign) => (sign === ' ' ? String.raw`\s?` : escaped(sign)));
  const isSpaced = signs.length >= spacedLength;
  return signs.join(isSpaced ? String.raw`\s?` : '').replaceAll(String.raw`\s?\s?\s?`, String.raw`\s*`);
}

function escaped(sign: string): string {
  return /[\\^$.*+?()[\]{}|/]/u.test(sign) ? `\\${sign}` : sign;
}

/** A hostile expression would search for ever; this is the one way to end it from within. */
function searchWithin(text: string, source: string, flags: string): Hit[] {
  try {
    const code =
      'JSON.stringify([...text.matchAll(new RegExp(source, flags))].map((match) => [match.index, match[0].length]))';
    const found = runInNewContext(code, { text, source, flags }, { timeout: longestSearch }) as string;
    return (JSON.parse(found) as [number, number][])
      .filter(([, length]) => length > 0)
      .map(([start, length]) => ({ start, end: start + length }));
  } catch (cause) {
    const log = String(cause);
    throw new Failure('invalid_input', 'The regular expression takes too long to search a page with.', { cause, log });
  }
}

function all(text: string, expression: RegExp): Hit[] {
  return [...text.matchAll(expression)]
    .filter((match) => match[0] !== '')
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
}

const accepted = (text: string, expression: RegExp, isRight: (match: string) => boolean): Hit[] =>
  all(text, expression).filter(({ start, end }) => isRight(text.slice(start, end)));

const months =
  'jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?';

/** Every expression is bounded, so that a long page takes linear time. */
const finders: Record<RedactionPattern, (text: string) => Hit[]> = {
  email: (text) => all(text, /[\p{L}\p{N}._%+-]{1,64}\s?@\s?[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu),
  phone: (text) => accepted(text, /(?<![\p{L}\d])(?:\+|\()?\d(?:[ ()./-]{0,3}\d){5,16}(?!\d)/gu, isPhone),
  iban: (text) =>
    all(text, /(?<![\p{L}\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]){10,30}/giu).flatMap(({ start, end }) => {
      // Words behind it look like a part of it.
      for (let length = end - start; length >= 15; length--) {
        if (isIban(text.slice(start, start + length))) return [{ start, end: start + length }];
      }
      return [];
    }),
  card: (text) => accepted(text, /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/gu, isCard),
  ssn: (text) => all(text, /(?<!\d)(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?!\d)/gu),
  ip: (text) =>
    accepted(
      text,
      /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{0,4}(?::[\da-f]{0,4}){2,7})(?![\w:])/giu,
      (match) => isIP(match) > 0 && match !== '::',
    ),
  date: (text) => [
    ...all(text, /(?<![\d.])(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\s?\d{1,2}\2\s?\d{2,4})(?!\d)/gu),
    ...all(
      text,
      new RegExp(`(?<!\\d)\\d{1,2}(?:\\.|st|nd|rd|th)?\\s(?:of\\s)?(?:${months})\\.?,?\\s\\d{2,4}(?!\\d)`, 'giu'),
    ),
    ...all(text, new RegExp(`(?<!\\p{L})(?:${months})\\.?\\s\\d{1,2}(?:st|nd|rd|th)?,?\\s\\d{4}(?!\\d)`, 'giu')),
  ],
};

/** Numbers that begin as numbers of phones do, or stand in the groups of North America; dates and sums are none. */
function isPhone(match: string): boolean {
  const digits = match.replaceAll(/\D/g, '');
  if (digits.length < 7 || digits.length > 15 || /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/.test(match)) return false;
  return (
    /^(?:\+|\(|0)/.test(match) || /^(?:1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}$/.test(match) || /^\d{3}-\d{4}$/.test(match)
  );
}

function isIban(match: string): boolean {
  const plain = match.replaceAll(' ', '').toUpperCase();
  if (plain.length < 15 || plain.length > 34 || match.endsWith(' ')) return false;
  const moved = `${plain.slice(4)}${plain.slice(0, 4)}`;
  const digits = moved.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}

/** Luhn's sum. */
function isCard(match: string): boolean {
  const digits = [...match.replaceAll(/\D/g, '')].map(Number).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit : digit * 2;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0 && new Set(digits).size > 1;
}
