/** The beginning of a table, as text. */
export interface TableHead {
  /** Empty when the rows have no names for their columns. */
  columns: string[];
  rows: string[][];
  /** There is more than these rows, or more columns than these. */
  more: boolean;
}

const mostRows = 100;
const mostColumns = 50;
/** Characters of a cell that are shown. */
const longestCell = 500;

/**
 * Reads the first rows of a CSV (RFC 4180, any delimiter). `complete` says that `text` is the whole file: else its last
 * row is left out, because it may have been cut.
 */
export function readDelimited(text: string, delimiter: string, complete: boolean): TableHead {
  const records = readRecords(text.replace(/^\uFEFF/, ''), delimiter, mostRows + 2);
  if (!complete && records.length < mostRows + 2) records.pop();
  const [columns = [], ...rows] = records;
  return limit(columns, rows, !complete);
}

/** The delimiter that stands most often in the first line, outside quotes. */
export function guessDelimiter(text: string): string {
  const firstLine = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replace(/"[^"]*"/g, '');
  const counts = [',', ';', '\t', '|'].map((delimiter) => [delimiter, firstLine.split(delimiter).length] as const);
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

function readRecords(text: string, delimiter: string, most: number): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length && records.length < most) {
    const { cell, end } = readCell(text, at, delimiter);
    record.push(cell);
    if (text[end] === delimiter) {
      at = end + 1;
      // A delimiter as the very last character has one more, empty cell behind it.
      if (at === text.length) record.push('');
      else continue;
    } else at = end + (text.startsWith('\r\n', end) ? 2 : 1);
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  }
  if (record.length > 0) records.push(record);
  return records;
}

function readCell(text: string, start: number, delimiter: string): { cell: string; end: number } {
  let end = start;
  let cell = '';
  if (text[start] === '"') {
    let from = start + 1;
    let quote = text.indexOf('"', from);
    while (quote !== -1 && text[quote + 1] === '"') {
      cell += text.slice(from, quote + 1);
      from = quote + 2;
      quote = text.indexOf('"', from);
    }
    cell += text.slice(from, quote === -1 ? text.length : quote);
    end = quote === -1 ? text.length : quote + 1;
  }
  const rest = end;
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end++;
  return { cell: cell + text.slice(rest, end), end };
}

/**
 * Reads the first rows of a JSON array, or of JSON lines, that may be cut off anywhere. Undefined when the text is neither,
 * or has nothing that makes a row.
 */
export function readJsonRows(text: string): TableHead | undefined {
  const trimmed = text.replace(/^\uFEFF/, '').trimStart();
  const { values, more } = trimmed.startsWith('[') ? readArrayHead(trimmed) : readLines(trimmed);
  if (values.length === 0) return undefined;
  if (values.every(Array.isArray)) {
    const rows = values.map((row: unknown[]) => row.map(show));
    return limit([], rows, more);
  }
  if (!values.every(isRecord)) return undefined;
  const columns = [...new Set(values.flatMap((value) => Object.keys(value)))];
  const rows = values.map((value) => columns.map((name) => (Object.hasOwn(value, name) ? show(value[name]) : '')));
  return limit(columns, rows, more);
}

interface Head {
  values: unknown[];
  more: boolean;
}

/** Every element of the array that is there whole, up to the most that is shown. */
function readArrayHead(text: string): Head {
  const values: unknown[] = [];
  let depth = 0;
  let start = 1;
  const take = (end: number) => {
    const value = parse(text.slice(start, end));
    if (value !== undefined) values.push(value);
    start = end + 1;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (character === '[' || character === '{') depth++;
    if (character === ']' || character === '}') depth--;
    if (depth === 0) {
      take(at);
      return { values, more: false };
    }
    if (depth === 1 && character === ',') take(at);
    if (values.length > mostRows) return { values, more: true };
  }
  return { values, more: true };
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** JSON lines: the last line may have been cut, so it need not be readable. One line alone is a value like any other. */
function readLines(text: string): Head {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length < 2) return { values: [], more: false };
  const values = lines.slice(0, mostRows + 1).map(parse);
  if (values.at(-1) === undefined) values.pop();
  return values.includes(undefined) ? { values: [], more: false } : { values, more: lines.length > values.length };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

function limit(columns: string[], rows: string[][], more: boolean): TableHead {
  const wide = Math.max(columns.length, ...rows.slice(0, mostRows).map((row) => row.length));
  const cut = (cells: string[]) =>
    cells.slice(0, mostColumns).map((cell) => (cell.length > longestCell ? `${cell.slice(0, longestCell)}…` : cell));
  return {
    columns: cut(columns),
    rows: rows.slice(0, mostRows).map(cut),
    more: more || rows.length > mostRows || wide > mostColumns,
  };
}
