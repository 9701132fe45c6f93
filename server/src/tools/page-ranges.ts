import { Failure } from '../lib/failure.ts';
import type { Field } from './settings.ts';

interface PageRange {
  /** As it was written: for messages and names. */
  readonly text: string;
  readonly from: PageEnd;
  readonly to: PageEnd;
  readonly only?: 'odd' | 'even';
}

/** A page number from the start, or (`fromEnd`) counted from the last page, which is 1. */
interface PageEnd {
  readonly number: number;
  readonly fromEnd: boolean;
}

const first: PageEnd = { number: 1, fromEnd: false };
const last: PageEnd = { number: 1, fromEnd: true };

const words = new Map<string, PageRange>([
  ['all', { text: 'all', from: first, to: last }],
  ['last', { text: 'last', from: last, to: last }],
  ['z', { text: 'last', from: last, to: last }],
  ['odd', { text: 'odd', from: first, to: last, only: 'odd' }],
  ['even', { text: 'even', from: first, to: last, only: 'even' }],
]);

/** As many parts as a person would ever write; each can name every page of a file. */
const maxParts = 1000;
const maxLength = 8000;

/**
 * What is wrong with page ranges, judged without knowing the file; undefined when nothing is.
 *
 * Pages as people write them: `1-3,8`, `5-` or `5-z` (to the end), `-3` (from the start), `last`, `r2` (second from the
 * end), `9-1` (backwards), `odd`, `even`, `all`. Order and duplicates are kept. Page numbers count from 1.
 */
export function pageRangesProblem(text: string): string | undefined {
  const parsed = parsePageRanges(text);
  return 'problem' in parsed ? parsed.problem : undefined;
}

function parsePageRanges(text: string): { ranges: PageRange[] } | { problem: string } {
  if (text.length > maxLength) return { problem: `must be at most ${maxLength} characters` };
  const parts = text.split(',').map((part) => part.trim().toLowerCase());
  if (parts.length > maxParts) return { problem: `must have at most ${maxParts} parts` };
  const ranges: PageRange[] = [];
  for (const part of parts) {
    const range = parseRange(part);
    if (range === undefined) return { problem: `"${part.slice(0, 40)}" is not a page or a range; use 1-3,8 or 5-last` };
    ranges.push(range);
  }
  return { ranges };
}

function parseRange(part: string): PageRange | undefined {
  const word = words.get(part);
  if (word !== undefined) return word;
  const match = /^(?<from>[a-z0-9]*)\s*(?<dash>-?)\s*(?<to>[a-z0-9]*)$/.exec(part);
  if (match?.groups === undefined) return undefined;
  const { from = '', dash = '', to = '' } = match.groups;
  if (from === '' && to === '') return undefined;
  const start = from === '' ? first : parseEnd(from);
  if (start === undefined) return undefined;
  if (dash === '') return { text: part, from: start, to: start };
  const end = to === '' ? last : parseEnd(to);
  return end === undefined ? undefined : { text: part.replaceAll(/\s/g, ''), from: start, to: end };
}

function parseEnd(text: string): PageEnd | undefined {
  if (text === 'z' || text === 'last') return last;
  const match = /^(r?)([1-9]\d{0,6})$/.exec(text);
  return match === null ? undefined : { number: Number(match[2]), fromEnd: match[1] === 'r' };
}

/** The pages of one range: 0-based indexes in the order asked for. */
export interface PageGroup {
  /** The range as it was written. */
  text: string;
  pages: number[];
}

/**
 * The pages that each range of a setting selects in a file.
 *
 * @throws Failure `invalid_input` for a page the file does not have, or when a range selects nothing.
 */
export function selectPageGroups(ranges: string, pageCount: number, file: string): PageGroup[] {
  const parsed = parsePageRanges(ranges);
  if ('problem' in parsed) throw new Failure('invalid_input', `The pages of ${file}: ${parsed.problem}.`, { file });
  return parsed.ranges.map((range) => {
    const pages = pagesOf(range, pageCount, file);
    if (pages.length > 0) return { text: range.text, pages };
    throw new Failure('invalid_input', `"${range.text}" selects no page: ${describeCount(file, pageCount)}.`, { file });
  });
}

/** The pages of all ranges in one list of 0-based indexes: order and duplicates as asked for. */
export function selectPages(ranges: string, pageCount: number, file: string): number[] {
  return selectPageGroups(ranges, pageCount, file).flatMap(({ pages }) => pages);
}

function pagesOf({ text, from, to, only }: PageRange, pageCount: number, file: string): number[] {
  const [start, end] = [from, to].map(({ number, fromEnd }) => (fromEnd ? pageCount + 1 - number : number)) as [
    number,
    number,
  ];
  if (start < 1 || end < 1 || start > pageCount || end > pageCount) {
    throw new Failure('invalid_input', `There is no page "${text}": ${describeCount(file, pageCount)}.`, { file });
  }
  const step = start <= end ? 1 : -1;
  const pages = Array.from({ length: Math.abs(end - start) + 1 }, (_, index) => start - 1 + index * step);
  if (only === undefined) return pages;
  return pages.filter((page) => (page % 2 === 0) === (only === 'odd'));
}

function describeCount(file: string, pageCount: number): string {
  return `${file} has ${pageCount} ${pageCount === 1 ? 'page' : 'pages'}`;
}

interface PagesOptions {
  /** One sentence for the person who fills in the form. */
  describe: string;
}

/** A setting that holds page ranges, as text. Without a default it is `undefined` when not sent; `required` refuses that. */
export function pageRanges(options: PagesOptions & ({ default: 'all' } | { required: true })): Field<string>;
export function pageRanges(options: PagesOptions): Field<string | undefined>;
export function pageRanges(options: PagesOptions & { default?: 'all'; required?: boolean }): Field<string | undefined> {
  return {
    schema: {
      type: 'string',
      maxLength,
      description: options.describe,
      examples: ['1-3,8', '5-last', 'odd'],
      ...(options.default === undefined ? {} : { default: options.default }),
    },
    required: options.required ?? false,
    fallback: options.default,
    parse(text) {
      const problem = pageRangesProblem(text);
      return problem === undefined ? { value: text } : { problem };
    },
  };
}
