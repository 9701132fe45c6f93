import type { Box, PageContent } from '../pdfium-content.ts';
import type { Word } from './types.ts';
import { surround } from './words.ts';

/** What stands no further apart than this belongs to one drawing, in points. */
const maxGap = 6;
/** Smaller drawings are bullets and dots. */
const leastSize = 8;
/** What covers more of the page than this is its background. */
const backgroundShare = 0.6;
/** Even small shapes are a drawing when so many stand together: a curve is often drawn as short strokes. */
const leastStrokes = 8;
/** The part of its height that lines of text take in what lies behind them. */
const textShare = 0.4;
/** So many rectangles without text on them are a chart of bars. */
const leastBars = 3;
/** More separate drawings than this on a page are made one picture. */
const maxDrawings = 40;
/** More rectangles than these are not looked at. */
const maxFills = 2000;
/** Cells of the grid on which neighbours are found, at most each way. */
const maxCells = 600;

interface Shape {
  box: Box;
  kind: 'drawing' | 'fill' | 'rule';
}

/**
 * Where a page has free drawings: charts, logos, diagrams. Lines and rectangles count only as parts of one, not when they
 * make a table, underline words or colour what is behind them.
 *
 * @param tables where tables are
 */
export function drawingsOf(content: PageContent, words: readonly Word[], tables: readonly Box[]): Box[] {
  const area = content.width * content.height;
  // Labels of a chart that stand in rows, or its grid, may have been taken for a table.
  const isFree = ({ box, kind }: Shape) =>
    areaOf(box) < backgroundShare * area && (kind === 'drawing' || !tables.some((table) => meets(box, table)));
  const shapes: Shape[] = [
    ...content.drawings.filter((box) => !isBehindText(box, words)).map((box) => ({ box, kind: 'drawing' as const })),
    ...content.fills
      .slice(0, maxFills)
      .filter((box) => !words.some((word) => isOn(word, box)))
      .map((box) => ({ box, kind: 'fill' as const })),
    ...content.rules.map((box) => ({ box, kind: 'rule' as const })),
  ].filter(isFree);
  if (!shapes.some(({ kind }) => kind !== 'rule')) return [];
  const drawings = neighbours(shapes, content).flatMap((group) => {
    const counts = (kind: Shape['kind']) => group.filter((shape) => shape.kind === kind).length;
    const box = surround(group.map((shape) => shape.box));
    const isLarge = group.length >= leastStrokes ? isWide(box) : group.some((shape) => isWide(shape.box));
    const isDrawing = counts('drawing') > 0 || counts('fill') >= leastBars;
    return isLarge && isDrawing ? [onPage(box, content)] : [];
  });
  return drawings.length > maxDrawings ? [surround(drawings)] : drawings;
}

function areaOf({ left, top, right, bottom }: Box): number {
  return (right - left) * (bottom - top);
}

function meets(a: Box, b: Box): boolean {
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
}

function isWide({ left, top, right, bottom }: Box): boolean {
  return Math.max(right - left, bottom - top) >= leastSize;
}

/** A button or a frame around lines of text, unlike a chart with a few labels. */
function isBehindText(box: Box, words: readonly Word[]): boolean {
  const lines = new Map<number, number>();
  for (const word of words) if (isOn(word, box)) lines.set(Math.round(word.baseline), word.bottom - word.top);
  const text = [...lines.values()].reduce((sum, height) => sum + height, 0);
  return text > textShare * (box.bottom - box.top);
}

function isOn(word: Word, box: Box): boolean {
  const [x, y] = [(word.left + word.right) / 2, (word.top + word.bottom) / 2];
  return x > box.left && x < box.right && y > box.top && y < box.bottom;
}

/** With room for the thickness of its lines. */
function onPage(box: Box, { width, height }: PageContent): Box {
  return {
    left: Math.max(0, box.left - 1),
    top: Math.max(0, box.top - 1),
    right: Math.min(width, box.right + 1),
    bottom: Math.min(height, box.bottom + 1),
  };
}

/** Shapes in groups of those that stand together: on a grid, so that ten thousand cost no more than ten. */
function neighbours(shapes: readonly Shape[], { width, height }: PageContent): Shape[][] {
  const cell = Math.max(2, width / maxCells, height / maxCells);
  const [columns, rows] = [Math.ceil(width / cell) + 1, Math.ceil(height / cell) + 1];
  const cellOf = (x: number, y: number) => ({
    column: Math.max(0, Math.min(columns - 1, Math.floor(x / cell))),
    row: Math.max(0, Math.min(rows - 1, Math.floor(y / cell))),
  });
  const groupAt = components(
    covered(
      shapes.map(({ box }) => ({
        from: cellOf(box.left - maxGap / 2, box.top - maxGap / 2),
        to: cellOf(box.right + maxGap / 2, box.bottom + maxGap / 2),
      })),
      columns,
      rows,
    ),
    columns,
  );
  const groups = new Map<number, Shape[]>();
  for (const shape of shapes) {
    const { column, row } = cellOf(shape.box.left, shape.box.top);
    const group = groupAt[row * columns + column] ?? 0;
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [shape]);
    else known.push(shape);
  }
  return [...groups.values()];
}

interface Cell {
  column: number;
  row: number;
}

/** 1 for every cell that a box covers: sums of what begins and ends there. */
function covered(boxes: readonly { from: Cell; to: Cell }[], columns: number, rows: number): Int32Array {
  const stride = columns + 1;
  const sums = new Int32Array(stride * (rows + 1));
  const add = (row: number, column: number, value: number) => {
    sums[row * stride + column] = (sums[row * stride + column] ?? 0) + value;
  };
  for (const { from, to } of boxes) {
    add(from.row, from.column, 1);
    add(from.row, to.column + 1, -1);
    add(to.row + 1, from.column, -1);
    add(to.row + 1, to.column + 1, 1);
  }
  const cells = new Int32Array(columns * rows);
  const above = new Int32Array(columns);
  for (let row = 0; row < rows; row++) {
    let inRow = 0;
    for (let column = 0; column < columns; column++) {
      inRow += sums[row * stride + column] ?? 0;
      above[column] = (above[column] ?? 0) + inRow;
      cells[row * columns + column] = (above[column] ?? 0) > 0 ? 1 : 0;
    }
  }
  return cells;
}

/** Which group each covered cell is of, from 2 on: cells beside each other are of one. */
function components(cells: Int32Array, columns: number): Int32Array {
  let group = 1;
  for (let start = 0; start < cells.length; start++) {
    if (cells[start] !== 1) continue;
    group += 1;
    const waiting = [start];
    cells[start] = group;
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const column = at % columns;
      for (const next of [at - columns, at + columns, column > 0 ? at - 1 : -1, column < columns - 1 ? at + 1 : -1]) {
        if (cells[next] !== 1) continue;
        cells[next] = group;
        waiting.push(next);
      }
    }
  }
  return cells;
}
