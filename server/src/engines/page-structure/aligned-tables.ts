import type { ContentShape } from '../pdfium-content.ts';
import { paragraphsOf } from './paragraphs.ts';
import { fillBehind } from './ruled-tables.ts';
import type { Cell, Segment, Table } from './types.ts';
import { linesOf, surround } from './words.ts';

interface Column {
  left: number;
  right: number;
}

interface Group {
  rows: Segment[][];
  columns: Column[];
}

/** Rows further apart than this, in letter sizes, are not of one table. */
const maxRowDistance = 3.2;

/** Tables without lines: rows whose parts stand in the same columns. Columns of prose and lists are none. */
export function alignedTables(
  segments: readonly Segment[],
  fills: readonly ContentShape[],
): { tables: Table[]; used: Set<Segment> } {
  const groups: Group[] = [];
  let group: Group | undefined;
  for (const row of linesOf(segments)) {
    const grown = group === undefined ? undefined : withRow(group, row);
    if (grown !== undefined) {
      group = grown;
      continue;
    }
    if (group !== undefined) groups.push(group);
    group = row.length > 1 ? { rows: [row], columns: row.map(({ left, right }) => ({ left, right })) } : undefined;
  }
  if (group !== undefined) groups.push(group);
  const tables: Table[] = [];
  const used = new Set<Segment>();
  for (const candidate of groups.map(withoutLooseEnd)) {
    if (!isTable(candidate)) continue;
    tables.push(createTable(candidate, fills));
    for (const segment of candidate.rows.flat()) used.add(segment);
  }
  return { tables, used };
}

/** The group with one more row, or undefined when the row does not fit into its columns. */
function withRow({ rows, columns }: Group, row: Segment[]): Group | undefined {
  const [first, previous] = [row[0], rows.at(-1)?.[0]];
  if (first === undefined || previous === undefined) return undefined;
  const distance = first.baseline - previous.baseline;
  if (distance > Math.max(first.size, previous.size) * maxRowDistance) return undefined;
  const grown = columns.map((column) => ({ ...column }));
  const taken = new Set<Column>();
  for (const segment of row) {
    const over = grown.filter((column) => segment.left < column.right + 1 && segment.right > column.left - 1);
    const [column] = over;
    if (over.length > 1 || (column !== undefined && taken.has(column))) return undefined;
    if (row.length === 1 && column === undefined) return undefined;
    const target = column ?? { left: segment.left, right: segment.right };
    if (column === undefined) grown.push(target);
    target.left = Math.min(target.left, segment.left);
    target.right = Math.max(target.right, segment.right);
    taken.add(target);
  }
  grown.sort((a, b) => a.left - b.left);
  const overlap = grown.some((column, index) => index > 0 && column.left < (grown[index - 1]?.right ?? 0) + 2);
  return overlap ? undefined : { rows: [...rows, row], columns: grown };
}

/** Single lines at the end are the text below. */
function withoutLooseEnd({ rows, columns }: Group): Group {
  const last = rows.findLastIndex((row) => row.length > 1);
  return { rows: rows.slice(0, last + 1), columns };
}

function isTable({ rows, columns }: Group): boolean {
  const full = rows.filter((row) => row.length > 1);
  if (columns.length < 2 || full.length < (columns.length > 2 ? 2 : 3)) return false;
  const filled = rows.reduce((sum, row) => sum + row.length, 0);
  if (filled < rows.length * columns.length * 0.5) return false;
  const byColumn = columns.map((column) => rows.flatMap((row) => row.filter((segment) => isIn(segment, column))));
  const isProse = (column: readonly Segment[], index: number) => {
    const width = (columns[index]?.right ?? 0) - (columns[index]?.left ?? 0);
    const words = median(column.map((segment) => segment.words.length));
    return words >= 3 && median(column.map(({ left, right }) => right - left)) > width * 0.7;
  };
  if (byColumn.filter(isProse).length > 1) return false;
  // Words parted at the end of a line are prose.
  if (
    rows
      .flat()
      .some(({ words }) => words.at(-1)?.endsWithHyphen === true && /\p{Ll}[-\u2010]$/u.test(words.at(-1)?.text ?? ''))
  )
    return false;
  const markers = byColumn[0]?.every(
    ({ words }) => words.length === 1 && /^([•‣◦▪■●○–—*·-]|\(?\w{1,3}[.)]|\[\d+\])$/.test(words[0]?.text ?? ''),
  );
  return !(markers === true && columns.length === 2);
}

function isIn(segment: Segment, column: Column): boolean {
  const at = (segment.left + segment.right) / 2;
  return at >= column.left - 1 && at <= column.right + 1;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function createTable({ rows, columns }: Group, fills: readonly ContentShape[]): Table {
  const merged = withContinuations(rows, columns);
  const box = surround(rows.flat());
  const edges = (boxes: readonly { start: number; end: number }[]) => [
    (boxes[0]?.start ?? 0) - 2,
    ...boxes.slice(1).map((next, index) => ((boxes[index]?.end ?? 0) + next.start) / 2),
    (boxes.at(-1)?.end ?? 0) + 2,
  ];
  const columnEdges = edges(columns.map(({ left, right }) => ({ start: left, end: right })));
  const rowEdges = edges(
    merged.map((row) => {
      const { top, bottom } = surround(row);
      return { start: top, end: bottom };
    }),
  );
  const cells = merged.flatMap((row, rowIndex) =>
    columns.map((column, columnIndex): Cell => {
      const own = row.filter((segment) => isIn(segment, column));
      const fill = own.length === 0 ? undefined : fillBehind(surround(own), fills);
      const place = { row: rowIndex, column: columnIndex, rowSpan: 1, columnSpan: 1 };
      return { ...place, paragraphs: paragraphsOf(own, column), ...(fill === undefined ? {} : { fill }) };
    }),
  );
  return { kind: 'table', ...box, columnEdges, rowEdges, cells, isRuled: false };
}

/** A line with a part in one column only, close below a row, goes on with a cell of that row. */
function withContinuations(rows: readonly Segment[][], columns: readonly Column[]): Segment[][] {
  const merged: Segment[][] = [];
  for (const row of rows) {
    const [only] = row;
    const above = merged.at(-1);
    const [first] = columns;
    const isLabel = only !== undefined && first !== undefined && isIn(only, first);
    const last = above?.at(-1);
    const isClose =
      only !== undefined &&
      last !== undefined &&
      only.baseline - Math.max(...(above ?? []).map(({ baseline }) => baseline)) < only.size * 1.5;
    if (row.length === 1 && !isLabel && isClose && above !== undefined) above.push(...row);
    else merged.push([...row]);
  }
  return merged;
}
