import type { PictureFile } from '../pdf-pictures.ts';
import type { Box } from '../pdfium-content.ts';
import type { TextStyle } from '../pdfium-fonts.ts';

/** Letters without a space between them that look the same. Places are points from the top left of the shown page. */
export interface Word extends Box {
  text: string;
  baseline: number;
  style: TextStyle;
  /** No space stands before it: the word before only looks different. */
  isGlued: boolean;
  /** A hyphen at its end may be one of the line, not of the word. */
  endsWithHyphen: boolean;
  link?: string;
}

/** Words that stand in one line without a wide gap. */
export interface Segment extends Box {
  words: Word[];
  baseline: number;
  /** Points of the letters most of it is in. */
  size: number;
}

/** Text of one look. */
export interface Run {
  text: string;
  style: TextStyle;
  link?: string;
  position?: 'super' | 'sub';
}

export type Alignment = 'left' | 'center' | 'right' | 'justify';

export interface Paragraph extends Box {
  kind: 'paragraph';
  runs: Run[];
  size: number;
  lineCount: number;
  firstBaseline: number;
  lastBaseline: number;
  /** Points from baseline to baseline. */
  leading: number;
  /** How far the first line stands to the right of the others; negative when it hangs out. */
  firstIndent: number;
  align: Alignment;
  /** 1 is the highest. */
  heading?: number;
  /** `left` is where the bullet or number stands. */
  list?: { ordered: boolean; marker: string; level: number; left: number };
  /** The colour behind it, when that is not the paper's. */
  fill?: string;
}

export interface Cell {
  row: number;
  column: number;
  rowSpan: number;
  columnSpan: number;
  paragraphs: Paragraph[];
  fill?: string;
}

export interface Table extends Box {
  kind: 'table';
  /** Points; one more than there are columns or rows. */
  columnEdges: number[];
  rowEdges: number[];
  cells: Cell[];
  /** Drawn with lines, not only aligned. */
  isRuled: boolean;
}

export interface Picture extends Box {
  kind: 'picture';
  file: PictureFile;
}

export type Block = Paragraph | Table | Picture;

/** Part of a page from its left to its right: one column, or several side by side. */
export interface Band {
  columns: (Pick<Box, 'left' | 'right'> & { blocks: Block[] })[];
}

export interface PageStructure {
  /** 0-based index in the file. */
  index: number;
  width: number;
  height: number;
  /** In reading order. */
  bands: Band[];
  /** What stands on most pages at the top or the bottom, page numbers included. */
  header: Paragraph[];
  footer: Paragraph[];
  /** Pictures that lie behind the text of the whole page. */
  backgrounds: Picture[];
  /** Vector drawings, without the text on them, from the top. */
  drawings: Picture[];
}

export interface DocumentStructure {
  pages: PageStructure[];
}

/** The blocks of a page in reading order. */
export function blocksOf(page: PageStructure): Block[] {
  return page.bands.flatMap(({ columns }) => columns.flatMap(({ blocks }) => blocks));
}

/** The text of a paragraph without its looks. */
export function textOf({ runs }: Pick<Paragraph, 'runs'>): string {
  return runs.map(({ text }) => text).join('');
}
