import type { Box } from '../pdfium-content.ts';
import type { Picture, Segment, Table } from './types.ts';
import { surround } from './words.ts';

/** What is put in order: a piece of a line, a table or a picture. */
export type Item = Segment | Table | Picture;

/** Part of a page from its left to its right, as one column or several. */
export interface ItemBand {
  columns: (Pick<Box, 'left' | 'right'> & { items: Item[] })[];
}

/** A space between columns is at least this wide, in points. */
const minGutter = 7;
/** Columns within columns. */
const maxDepth = 4;

/**
 * The things on a page in bands of columns, in reading order: what goes over several columns parts what is above it from
 * what is below.
 */
export function bandsOf(items: readonly Item[], extent: Pick<Box, 'left' | 'right'>, depth = 0): ItemBand[] {
  if (items.length === 0) return [];
  const gutter = depth < maxDepth ? findGutter(items) : undefined;
  if (gutter === undefined) return [{ columns: [{ ...extent, items: inRows(items) }] }];
  return stretchesOf(items, gutter).flatMap((stretch): ItemBand[] => {
    if ('over' in stretch) return bandsOf(stretch.over, extent, maxDepth);
    const { left, right } = stretch;
    const side = (part: Item[], edges: { left: number; right: number }) => columnsOf(bandsOf(part, edges, depth + 1));
    const columns = [
      ...side(left, { left: extent.left, right: gutter.left }),
      ...side(right, { left: gutter.right, right: extent.right }),
    ];
    return [{ columns }];
  });
}

type Stretch = { over: Item[] } | { left: Item[]; right: Item[] };

/** Parts what stands in two columns from what goes over both or has nothing beside it, from top to bottom. */
function stretchesOf(items: readonly Item[], gutter: { left: number; right: number }): Stretch[] {
  const stretches: Stretch[] = [];
  let [left, right]: [Item[], Item[]] = [[], []];
  const addOver = (over: Item[]) => {
    const last = stretches.at(-1);
    if (last !== undefined && 'over' in last) last.over.push(...over);
    else if (over.length > 0) stretches.push({ over });
  };
  const endColumns = () => {
    const above = aboveColumns(left, right);
    addOver([...above]);
    [left, right] = [left.filter((item) => !above.has(item)), right.filter((item) => !above.has(item))];
    const below = belowColumns(left, right);
    const inColumns = {
      left: left.filter((item) => !below.has(item)),
      right: right.filter((item) => !below.has(item)),
    };
    if (inColumns.left.length > 0 && inColumns.right.length > 0) stretches.push(inColumns);
    else addOver([...inColumns.left, ...inColumns.right]);
    addOver([...below]);
    [left, right] = [[], []];
  };
  for (const item of items.toSorted((a, b) => a.top - b.top)) {
    const isOver = item.left < gutter.left - 1 && item.right > gutter.right + 1;
    if (isOver) {
      endColumns();
      addOver([item]);
    } else (item.left + item.right < gutter.left + gutter.right ? left : right).push(item);
  }
  endColumns();
  return stretches;
}

/** What stands on one side only, before the other begins and parted from what follows, is not part of the columns. */
function aboveColumns(left: readonly Item[], right: readonly Item[]): Set<Item> {
  if (left.length === 0 || right.length === 0) return new Set();
  const [a, b] = [surround(left).top, surround(right).top];
  const [earlier, start] = a < b ? [left, b] : [right, a];
  const sorted = inRows(earlier);
  let bottom = -Infinity;
  let end = 0;
  for (const [index, item] of sorted.entries()) {
    const height = 'kind' in item ? 12 : item.bottom - item.top;
    if (bottom > start + height * 0.5) break;
    if (index > 0 && item.top - bottom > height * 0.35) end = index;
    bottom = Math.max(bottom, item.bottom);
  }
  return new Set(sorted.slice(0, end));
}

/** Columns that end at the same height have ended: what is further below on one side only is not part of them. */
function belowColumns(left: readonly Item[], right: readonly Item[]): Set<Item> {
  if (left.length === 0 || right.length === 0) return new Set();
  const [a, b] = [surround(left).bottom, surround(right).bottom];
  const [longer, end] = a > b ? [left, b] : [right, a];
  const sorted = inRows(longer);
  let bottom = -Infinity;
  for (const [index, item] of sorted.entries()) {
    const height = 'kind' in item ? 12 : item.bottom - item.top;
    const isGap = item.top - bottom > height * 0.35;
    if (index > 0 && isGap && item.top > end - height * 0.5 && Math.abs(bottom - end) < height * 2) {
      return new Set(sorted.slice(index));
    }
    bottom = Math.max(bottom, item.bottom);
  }
  return new Set();
}

/** A part that has columns itself is read one after the other when they cannot stand beside the rest. */
function columnsOf(bands: readonly ItemBand[]): ItemBand['columns'] {
  const [only] = bands;
  if (bands.length === 1 && only !== undefined) return only.columns;
  const all = bands.flatMap(({ columns }) => columns);
  const { left, right } = surround(all.map((column) => ({ ...column, top: 0, bottom: 0 })));
  return [{ left, right, items: all.flatMap(({ items }) => items) }];
}

function inRows(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => a.top - b.top || a.left - b.left);
}

/** The free strip between two columns of prose, when there is one. */
function findGutter(items: readonly Item[]): { left: number; right: number } | undefined {
  const starts = [...new Set(items.map(({ left }) => Math.round(left)))].toSorted((a, b) => a - b).slice(1, 200);
  let best: { left: number; right: number; crossing: number } | undefined;
  for (const start of starts) {
    const before = items.filter(({ right, left }) => right <= start && left < start);
    const after = items.filter(({ left }) => left >= start - 1);
    const leftEdge = Math.max(...before.map(({ right }) => right));
    if (start - leftEdge < minGutter || !areColumns(before, after)) continue;
    const crossing = items.length - before.length - after.length;
    if (best === undefined || crossing < best.crossing) best = { left: leftEdge, right: start, crossing };
  }
  return best;
}

function isSegment(item: Item): item is Segment {
  return !('kind' in item);
}

/** Both sides have lines of prose (or tables and pictures) beside each other; a column of labels or numbers is none. */
function areColumns(before: readonly Item[], after: readonly Item[]): boolean {
  if (before.length === 0 || after.length === 0) return false;
  const [a, b] = [surround(before), surround(after)];
  const shared = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return [before, after].every((side) => {
    const box = surround(side);
    const segments = side.filter(isSegment);
    const height = segments[0] === undefined ? 12 : segments[0].bottom - segments[0].top;
    if (shared < 2.5 * height) return false;
    if (segments.length < side.length) return true;
    const widths = segments.map(({ left, right }) => right - left).toSorted((x, y) => x - y);
    const words = segments.reduce((sum, segment) => sum + segment.words.length, 0) / segments.length;
    const usual = widths[Math.floor(widths.length / 2)] ?? 0;
    return segments.length >= 3 && words >= 2 && usual > (box.right - box.left) * 0.45;
  });
}
