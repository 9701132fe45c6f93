import type { Box, ContentShape, PageContent } from '../pdfium-content.ts';
import { alignedTables } from './aligned-tables.ts';
import { type Item, bandsOf } from './layout.ts';
import { paragraphsOf } from './paragraphs.ts';
import { fillBehind, ruledTables } from './ruled-tables.ts';
import type { Band, Block, PageStructure, Picture, Segment, Table, Word } from './types.ts';
import { createSegment, segmentsOf, surround } from './words.ts';

/** How tables are looked for: by their lines, by what is aligned, or both. */
export type TableMode = 'lattice' | 'stream' | 'auto';

interface PageParts {
  index: number;
  content: PageContent;
  words: { upright: Word[]; tilted: Word[] };
  pictures: Picture[];
  tables: TableMode;
}

/** A picture that covers more of the page than this is its background when there is text too. */
const backgroundShare = 0.6;

/** The structure of one page; headings, headers and footers show only when all pages are known. */
export function structurePage({ index, content, words, pictures, tables: mode }: PageParts): PageStructure {
  const { width, height, fills } = content;
  const page = { left: 0, top: 0, right: width, bottom: height };
  const hasText = words.upright.length > 0;
  const backgrounds = hasText ? pictures.filter((picture) => areaOf(picture) > backgroundShare * width * height) : [];
  const ruled =
    mode === 'stream'
      ? { tables: [], used: new Set<Word>() }
      : ruledTables({ ...page, rules: content.rules, fills }, words.upright);
  const segments = segmentsOf(words.upright.filter((word) => !ruled.used.has(word)));
  const aligned = mode === 'lattice' ? { tables: [], used: new Set<Segment>() } : alignedTables(segments, fills);
  const free = segments.filter((segment) => !aligned.used.has(segment));
  const foreground = pictures.filter((picture) => !backgrounds.includes(picture));
  const items: Item[] = [...free, ...ruled.tables, ...aligned.tables, ...foreground];
  const extent = items.length === 0 ? page : surround(items);
  const bands = bandsOf(items, extent).map(({ columns }): Band => ({
    columns: columns.map((column) => ({
      left: column.left,
      right: column.right,
      blocks: blocksOfColumn(column.items, column, fills),
    })),
  }));
  const tilted = tiltedBlocks(words.tilted);
  if (tilted.length > 0) bands.push({ columns: [{ left: extent.left, right: extent.right, blocks: tilted }] });
  return { index, width, height, bands, header: [], footer: [], backgrounds, drawings: [] };
}

function areaOf({ left, top, right, bottom }: Box): number {
  return (right - left) * (bottom - top);
}

function blocksOfColumn(
  items: readonly Item[],
  extent: { left: number; right: number },
  fills: readonly ContentShape[],
): Block[] {
  const blocks: Block[] = [];
  const segments = items.filter((item): item is Segment => !('kind' in item));
  // The text decides how wide the column is: a picture may stand out of it.
  const text = segments.length === 0 ? extent : surround(segments);
  const column = segments.length < 3 ? extent : { left: text.left, right: text.right };
  let waiting: Segment[] = [];
  const flush = () => {
    for (const paragraph of paragraphsOf(waiting, column)) {
      const fill = fillBehind(paragraph, fills);
      blocks.push(fill === undefined ? paragraph : { ...paragraph, fill });
    }
    waiting = [];
  };
  for (const item of items) {
    if (!('kind' in item)) waiting.push(item);
    else {
      flush();
      blocks.push(item);
    }
  }
  flush();
  return blocks;
}

/** Text along the edge of a drawing or a page: each stretch of it a paragraph, in reading order. */
function tiltedBlocks(words: readonly Word[]): Block[] {
  if (words.length === 0) return [];
  const stretches: Word[][] = [];
  for (const word of words) {
    const last = stretches.at(-1);
    const before = last?.at(-1);
    const near =
      before !== undefined && Math.hypot(word.left - before.left, word.top - before.top) < word.style.size * 12;
    if (near) last?.push(word);
    else stretches.push([word]);
  }
  return stretches.flatMap((stretch) => {
    // Set level, one word after the other, so that they read as a line.
    let at = 0;
    const level = stretch.map((word): Word => {
      const width = word.style.size * 0.5 * word.text.length;
      at += word.isGlued ? 0 : word.style.size * 0.3;
      const placed = {
        ...word,
        left: at,
        right: at + width,
        top: 0,
        bottom: word.style.size,
        baseline: word.style.size,
      };
      at += width;
      return placed;
    });
    const box = surround(stretch);
    return paragraphsOf([createSegment(level)], { left: 0, right: at }).map((paragraph) => ({
      ...paragraph,
      ...box,
      align: 'left' as const,
    }));
  });
}

/** The tables of a page, from the top. */
export function tablesOf(page: PageStructure): Table[] {
  return page.bands
    .flatMap(({ columns }) => columns.flatMap(({ blocks }) => blocks))
    .filter((block) => block.kind === 'table');
}
