import type { Box, ContentShape } from '../pdfium-content.ts';
import { paragraphsOf } from './paragraphs.ts';
import type { Cell, Table, Word } from './types.ts';
import { contains, segmentsOf } from './words.ts';

/** A straight line along the page: where it is across, and from where to where it goes. */
interface Line {
  at: number;
  from: number;
  to: number;
}

/** Lines end and meet this exactly, in points. */
const tolerance = 3;
/** More lines than this are a drawing. */
const maxLines = 3000;
const maxCells = 20_000;

interface Page extends Box {
  rules: readonly ContentShape[];
  fills: readonly ContentShape[];
}

/** Tables that are drawn with lines, and the words in them. Frames around a page and drawings without text are none. */
export function ruledTables(page: Page, words: readonly Word[]): { tables: Table[]; used: Set<Word> } {
  const tables: Table[] = [];
  const used = new Set<Word>();
  const across = joinLines(
    page.rules.filter(isAcross).map((rule) => ({ at: middle(rule.top, rule.bottom), from: rule.left, to: rule.right })),
  );
  const down = joinLines(
    page.rules
      .filter((rule) => !isAcross(rule))
      .map((rule) => ({ at: middle(rule.left, rule.right), from: rule.top, to: rule.bottom })),
  );
  if (across.length + down.length > maxLines) return { tables, used };
  for (const net of netsOf(across, down)) {
    const table = tableOf(
      net,
      words.filter((word) => !used.has(word)),
      page,
    );
    if (table === undefined) continue;
    tables.push(table.table);
    for (const word of table.used) used.add(word);
  }
  return { tables, used };
}

function isAcross({ left, right, top, bottom }: Box): boolean {
  return right - left >= bottom - top;
}

function middle(a: number, b: number): number {
  return (a + b) / 2;
}

/** Joins pieces of one line: dashes, the borders of cells side by side. */
function joinLines(lines: readonly Line[]): Line[] {
  const joined: Line[] = [];
  const sorted = lines.filter(({ from, to }) => to - from > 2).toSorted((a, b) => a.at - b.at || a.from - b.from);
  for (const line of sorted) {
    const near = joined.slice(-40).find((other) => {
      return (
        Math.abs(other.at - line.at) < tolerance / 2 &&
        line.from <= other.to + tolerance &&
        line.to >= other.from - tolerance
      );
    });
    if (near === undefined) joined.push({ ...line });
    else [near.from, near.to] = [Math.min(near.from, line.from), Math.max(near.to, line.to)];
  }
  return joined.filter(({ from, to }) => to - from > 5);
}

interface Net {
  across: Line[];
  down: Line[];
}

/** Lines that cross or touch each other belong together. */
function netsOf(across: readonly Line[], down: readonly Line[]): Net[] {
  const nets: Net[] = [];
  const free = new Set([...across, ...down]);
  for (const start of across) {
    if (!free.delete(start)) continue;
    const net: Net = { across: [start], down: [] };
    const waiting: { line: Line; isAcross: boolean }[] = [{ line: start, isAcross: true }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const other of next.isAcross ? down : across) {
        if (!free.has(other) || !meet(next.line, other)) continue;
        free.delete(other);
        (next.isAcross ? net.down : net.across).push(other);
        waiting.push({ line: other, isAcross: !next.isAcross });
      }
    }
    if (net.down.length > 0 && net.across.length > 1) nets.push(net);
  }
  return nets;
}

function meet(a: Line, b: Line): boolean {
  const within = (at: number, line: Line) => at >= line.from - tolerance && at <= line.to + tolerance;
  return within(a.at, b) && within(b.at, a);
}

/** The places of lines, those of one line once, with the ends of the lines that cross them where a border is not drawn. */
function edgesOf(lines: readonly Line[], crossing: readonly Line[]): number[] {
  const edges: number[] = [];
  for (const { at } of lines.toSorted((a, b) => a.at - b.at)) {
    const last = edges.at(-1);
    if (last === undefined || at - last > tolerance) edges.push(at);
  }
  const start = Math.min(...crossing.map(({ from }) => from));
  const end = Math.max(...crossing.map(({ to }) => to));
  if (start < (edges[0] ?? start) - 8) edges.unshift(start);
  if (end > (edges.at(-1) ?? end) + 8) edges.push(end);
  return edges;
}

function tableOf(
  { across, down }: Net,
  words: readonly Word[],
  page: Page,
): { table: Table; used: Word[] } | undefined {
  const columnEdges = edgesOf(down, across);
  const rowEdges = edgesOf(across, down);
  const [columns, rows] = [columnEdges.length - 1, rowEdges.length - 1];
  if (columns < 2 || rows < 1 || columns * rows < 2 || columns * rows > maxCells) return undefined;
  const box = {
    left: columnEdges[0] ?? 0,
    right: columnEdges.at(-1) ?? 0,
    top: rowEdges[0] ?? 0,
    bottom: rowEdges.at(-1) ?? 0,
  };
  const inside = words.filter((word) => contains(box, word));
  const cells = cellsOf({ columnEdges, rowEdges }, { across, down }).map((cell) =>
    fillCell(cell, { columnEdges, rowEdges }, inside, page),
  );
  const filled = cells.filter(({ paragraphs }) => paragraphs.length > 0).length;
  const isFrame = cells.some((cell) => {
    const place = boxOfCell(cell, { columnEdges, rowEdges });
    return (
      (place.right - place.left) * (place.bottom - place.top) >
      0.55 * (page.right - page.left) * (page.bottom - page.top)
    );
  });
  if (filled < 2 || filled < cells.length * 0.15 || isFrame) return undefined;
  return { table: { kind: 'table', ...box, columnEdges, rowEdges, cells, isRuled: true }, used: inside };
}

interface Grid {
  columnEdges: readonly number[];
  rowEdges: readonly number[];
}

export function boxOfCell(cell: Omit<Cell, 'paragraphs'>, { columnEdges, rowEdges }: Grid): Box {
  return {
    left: columnEdges[cell.column] ?? 0,
    right: columnEdges[cell.column + cell.columnSpan] ?? 0,
    top: rowEdges[cell.row] ?? 0,
    bottom: rowEdges[cell.row + cell.rowSpan] ?? 0,
  };
}

type EmptyCell = Omit<Cell, 'paragraphs' | 'fill'>;

/** The cells of a grid: where no line parts two squares they are one cell, as long as the whole is a rectangle. */
function cellsOf({ columnEdges, rowEdges }: Grid, { across, down }: Net): EmptyCell[] {
  const [columns, rows] = [columnEdges.length - 1, rowEdges.length - 1];
  const isDrawn = (lines: readonly Line[], at: number, through: number) =>
    lines.some((line) => Math.abs(line.at - at) <= tolerance && line.from < through && line.to > through);
  const between = (edges: readonly number[], index: number) => middle(edges[index] ?? 0, edges[index + 1] ?? 0);
  const isOpenRight = (row: number, column: number) =>
    column + 1 < columns && !isDrawn(down, columnEdges[column + 1] ?? 0, between(rowEdges, row));
  const isOpenBelow = (row: number, column: number) =>
    row + 1 < rows && !isDrawn(across, rowEdges[row + 1] ?? 0, between(columnEdges, column));
  const taken = new Set<number>();
  const cells: EmptyCell[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      if (taken.has(row * columns + column)) continue;
      let columnSpan = 1;
      while (isOpenRight(row, column + columnSpan - 1) && !taken.has(row * columns + column + columnSpan)) columnSpan++;
      let rowSpan = 1;
      const spanned = Array.from({ length: columnSpan }, (_, index) => column + index);
      while (spanned.every((at) => isOpenBelow(row + rowSpan - 1, at) && !taken.has((row + rowSpan) * columns + at)))
        rowSpan++;
      for (let y = row; y < row + rowSpan; y++) for (const x of spanned) taken.add(y * columns + x);
      cells.push({ row, column, rowSpan, columnSpan });
    }
  }
  return cells;
}

function fillCell(cell: EmptyCell, grid: Grid, words: readonly Word[], page: Page): Cell {
  const box = boxOfCell(cell, grid);
  const own = words.filter((word) => contains(box, word));
  const column = { left: box.left + 2, right: box.right - 2 };
  const fill = fillBehind({ ...box, left: box.left + 1, right: box.right - 1 }, page.fills);
  return { ...cell, paragraphs: paragraphsOf(segmentsOf(own), column), ...(fill === undefined ? {} : { fill }) };
}

/** The colour of what is painted last behind the middle of a place; undefined for paper. */
export function fillBehind(box: Box, fills: readonly ContentShape[]): string | undefined {
  const fill = fills.findLast(
    (candidate) => contains(candidate, box) && candidate.bottom - candidate.top >= (box.bottom - box.top) * 0.6,
  );
  return fill === undefined || fill.color === 'ffffff' ? undefined : fill.color;
}
