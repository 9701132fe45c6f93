import { writeFile } from 'node:fs/promises';
import type * as Docx from 'docx';
import { boxOfCell } from './page-structure/ruled-tables.ts';
import {
  blocksOf,
  type Band,
  type Block,
  type Cell,
  type DocumentStructure,
  type PageStructure,
  type Paragraph,
  type Picture,
  type Run,
  type Table,
  textOf,
} from './page-structure/types.ts';
import { surround } from './page-structure/words.ts';

type Library = typeof Docx;

/** Twentieths of a point: what Word measures in. */
const twips = (points: number) => Math.round(points * 20);
/** The library wants pixels of 1/96 inch for pictures. */
const pixels = (points: number) => Math.max(1, Math.round((points * 96) / 72));
/** English metric units of a point. */
const emu = (points: number) => Math.round(points * 12_700);

interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** What the parts of a page are laid out by. */
interface Frame {
  library: Library;
  page: PageStructure;
  margins: Margins;
  numbers: Numbering;
  /** Drawings of the page that are still to be placed, from the top. */
  drawings: Picture[];
}

/** Which numbered list is being written, and the number that would go on with it. */
interface Numbering {
  instance: number;
  next: number;
}

/** Writes a document as DOCX: real headings, lists, tables and columns on pages of the right size. */
export async function writeWord({ pages }: DocumentStructure, path: string): Promise<void> {
  const library = await import('docx');
  const sections: Docx.ISectionOptions[] = [];
  const numbers = { instance: 0, next: 0 };
  for (const page of pages) {
    sections.push(...sectionsOf({ library, page, margins: marginsOf(page), numbers, drawings: [...page.drawings] }));
  }
  const document = new library.Document({
    creator: 'Millrun',
    styles: {
      default: { document: { run: { font: 'Arial', size: 22 }, paragraph: { spacing: { before: 0, after: 0 } } } },
    },
    numbering: {
      config: [
        {
          reference: 'bullets',
          levels: Array.from({ length: 9 }, (_, level) => ({
            level,
            format: library.LevelFormat.BULLET,
            text: '•',
            alignment: library.AlignmentType.LEFT,
          })),
        },
        {
          reference: 'numbers',
          levels: Array.from({ length: 9 }, (_, level) => ({
            level,
            format: library.LevelFormat.DECIMAL,
            text: `%${level + 1}.`,
            alignment: library.AlignmentType.LEFT,
          })),
        },
      ],
    },
    sections,
  });
  await writeFile(path, await library.Packer.toBuffer(document));
}

const leastMargin = 14;

/** From the page's edges to what stands on it; the bottom leaves room for lines that come out a little lower. */
function marginsOf(page: PageStructure): Margins {
  const blocks = blocksOf(page);
  if (blocks.length === 0) return { left: 36, right: 36, top: 36, bottom: 36 };
  const { left, right, top } = surround(blocks);
  return {
    left: Math.max(0, Math.min(left, page.width * 0.4)),
    right: Math.max(0, Math.min(page.width - right, page.width * 0.4)),
    top: Math.max(leastMargin, Math.min(top, page.height * 0.8)),
    bottom: leastMargin,
  };
}

/** A page is a section; each change of its columns begins a further one on the same page. */
function sectionsOf(frame: Frame): Docx.ISectionOptions[] {
  const { library, page } = frame;
  const bands: Band[] =
    page.bands.length === 0 ? [{ columns: [{ left: 0, right: page.width, blocks: [] }] }] : page.bands;
  let bottom = frame.margins.top;
  return joinSingle(bands).map((band, index, all) => {
    const children: Docx.FileChild[] =
      index === 0 ? page.backgrounds.map((picture) => behindText(frame, picture, 'page', picture.top)) : [];
    const top = bottom;
    for (const [number, column] of band.columns.entries()) {
      if (number > 0)
        children.push(new library.Paragraph({ spacing: tinyLine(library), children: [new library.ColumnBreak()] }));
      const ended = addBlocks(children, frame, column, top);
      bottom = Math.max(bottom, ended);
    }
    if (index === all.length - 1) addDrawings(children, frame, { above: Infinity, bottom });
    if (children.length === 0) children.push(new library.Paragraph({ spacing: tinyLine(library) }));
    return { properties: propertiesOf(frame, band, index), ...runningLines(frame), children };
  });
}

/** Neighbouring bands of one column are one. */
function joinSingle(bands: readonly Band[]): Band[] {
  const joined: Band[] = [];
  for (const band of bands) {
    const last = joined.at(-1)?.columns;
    const [only] = band.columns;
    if (last?.length === 1 && last[0] !== undefined && band.columns.length === 1 && only !== undefined) {
      last[0] = { ...last[0], blocks: [...last[0].blocks, ...only.blocks] };
    } else joined.push({ columns: [...band.columns] });
  }
  return joined;
}

function propertiesOf(
  { library, page, margins }: Frame,
  { columns }: Band,
  index: number,
): Docx.ISectionPropertiesOptions {
  const edge = Math.round(Math.min(margins.top, 36) / 2);
  const widths = columns.map((column, number) => {
    const next = columns[number + 1];
    return {
      width: twips(column.right - column.left),
      space: next === undefined ? 0 : twips(next.left - column.right),
    };
  });
  return {
    type: index === 0 ? library.SectionType.NEXT_PAGE : library.SectionType.CONTINUOUS,
    page: {
      // The library exchanges the sides of a landscape page itself.
      size: { width: twips(page.width), height: twips(page.height), orientation: library.PageOrientation.PORTRAIT },
      margin: {
        left: twips(margins.left),
        right: twips(margins.right),
        top: twips(margins.top),
        bottom: twips(margins.bottom),
        header: twips(edge),
        footer: twips(edge),
      },
    },
    ...(columns.length < 2
      ? {}
      : {
          column: {
            count: columns.length,
            equalWidth: false,
            children: widths.map((width) => new library.Column(width)),
          },
        }),
  };
}

function runningLines({ library, page }: Frame): Pick<Docx.ISectionOptions, 'headers' | 'footers'> {
  const number = String(page.index + 1);
  const lines = (paragraphs: readonly Paragraph[]) =>
    paragraphs.map(
      (paragraph) =>
        new library.Paragraph({
          alignment: alignments[paragraph.align],
          children: paragraph.runs.map((run) =>
            run.text.trim() === number ? pageNumber(library, run) : textRun(library, run),
          ),
        }),
    );
  return {
    ...(page.header.length === 0 ? {} : { headers: { default: new library.Header({ children: lines(page.header) }) } }),
    ...(page.footer.length === 0 ? {} : { footers: { default: new library.Footer({ children: lines(page.footer) }) } }),
  };
}

function pageNumber(library: Library, { style }: Run): Docx.TextRun {
  return new library.TextRun({
    children: [library.PageNumber.CURRENT],
    size: halfPoints(style.size),
    font: style.family,
  });
}

type Column = Band['columns'][number];

/** Adds the blocks of a column; returns how far down the page they reach. */
function addBlocks(children: Docx.FileChild[], frame: Frame, column: Column, top: number): number {
  let bottom = top;
  for (const block of column.blocks) {
    // A block that stands beside the one before comes below it: what is above it is no gap.
    const gap = Math.max(0, topOf(block) - bottom);
    addDrawings(children, frame, { above: topOf(block), bottom });
    if (block.kind === 'paragraph') children.push(paragraphOf(frame, block, column, gap));
    else if (block.kind === 'picture') children.push(pictureParagraph(frame, block, column, gap));
    else {
      children.push(spacer(frame.library, gap), tableOf(frame, block, column), spacer(frame.library, 0));
    }
    bottom = Math.max(bottom, bottomOf(block));
  }
  return bottom;
}

/** Adds the drawings that begin above a place, anchored where the text has come to: they move with it. */
function addDrawings(
  children: Docx.FileChild[],
  frame: Frame,
  { above, bottom }: { above: number; bottom: number },
): void {
  for (let [next] = frame.drawings; next !== undefined && next.top <= above; [next] = frame.drawings) {
    frame.drawings.shift();
    children.push(behindText(frame, next, 'paragraph', next.top - bottom));
  }
}

/** Where Word puts the upper edge of a first line of exact height. */
function topOf(block: Block): number {
  return block.kind === 'paragraph' ? block.firstBaseline - block.leading * 0.8 : block.top;
}

function bottomOf(block: Block): number {
  return block.kind === 'paragraph' ? block.lastBaseline + block.leading * 0.2 : block.bottom;
}

function tinyLine(library: Library): Docx.ISpacingProperties {
  return { before: 0, after: 0, line: 20, lineRule: library.LineRuleType.EXACT };
}

function spacer(library: Library, points: number): Docx.Paragraph {
  return new library.Paragraph({ spacing: { ...tinyLine(library), before: twips(Math.max(0, points - 1)) } });
}

const alignments = { left: 'left', center: 'center', right: 'right', justify: 'both' } as const;
/** Room for letters that are a little wider in another font. */
const slack = 6;

function paragraphOf(frame: Frame, paragraph: Paragraph, column: Column, gap: number): Docx.Paragraph {
  const { library, margins, page, numbers } = frame;
  const { list, heading, align, firstIndent, fill } = paragraph;
  const origin = column.left > margins.left + 1 ? column.left : Math.min(column.left, margins.left);
  const edge = Math.min(column.right, page.width - margins.right);
  const left = align === 'center' || align === 'right' ? 0 : Math.max(0, paragraph.left - origin);
  const hang = list === undefined ? 0 : Math.max(10, Math.min(40, paragraph.left - list.left));
  const rightRoom = align === 'justify' ? Math.max(0, edge - paragraph.right - slack) : 0;
  const numbering = list === undefined ? undefined : numberingOf(list, numbers);
  const marker = list === undefined || numbering !== undefined ? [] : [new library.TextRun(`${list.marker}\t`)];
  return new library.Paragraph({
    ...(heading === undefined ? {} : { heading: headingLevel(library, heading) }),
    ...(numbering === undefined ? {} : { numbering }),
    ...(fill === undefined ? {} : { shading: { type: library.ShadingType.CLEAR, fill, color: 'auto' } }),
    alignment: alignments[align],
    spacing: {
      before: twips(gap),
      after: 0,
      line: twips(Math.max(paragraph.leading, paragraph.size * 0.9)),
      lineRule: library.LineRuleType.EXACT,
    },
    indent: {
      left: twips(Math.max(hang, left)),
      right: twips(rightRoom),
      ...(list === undefined ? firstLine(firstIndent) : { hanging: twips(hang) }),
    },
    children: [...marker, ...runsOf(library, paragraph.runs)],
  });
}

/** Word counts by itself what runs 1., 2., 3.; any other number is written as it stands. */
function numberingOf({ ordered, marker, level }: NonNullable<Paragraph['list']>, numbers: Numbering) {
  if (!ordered) return { reference: 'bullets', level };
  const number = /^\d+\.$/.test(marker) ? Number.parseInt(marker, 10) : undefined;
  if (number === 1) numbers.instance += 1;
  else if (number === undefined || number !== numbers.next) return undefined;
  numbers.next = number + 1;
  return { reference: 'numbers', level: 0, instance: numbers.instance };
}

function firstLine(indent: number): { firstLine?: number; hanging?: number } {
  if (Math.abs(indent) < 1) return {};
  return indent > 0 ? { firstLine: twips(indent) } : { hanging: twips(-indent) };
}

function headingLevel(library: Library, heading: number) {
  return library.HeadingLevel[`HEADING_${Math.min(6, heading)}` as 'HEADING_1'];
}

function runsOf(library: Library, runs: readonly Run[]): Docx.ParagraphChild[] {
  return runs.map((run) =>
    run.link === undefined
      ? textRun(library, run)
      : new library.ExternalHyperlink({ link: run.link, children: [textRun(library, run)] }),
  );
}

/** XML 1.0 has no place for these. */
const notInXml = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

function textRun(library: Library, { text, style, position }: Run): Docx.TextRun {
  return new library.TextRun({
    text: text.replaceAll(notInXml, ''),
    font: style.family,
    size: halfPoints(position === undefined ? style.size : style.size * 1.5),
    bold: style.bold,
    italics: style.italic,
    color: style.color,
    ...(position === 'super' ? { superScript: true } : {}),
    ...(position === 'sub' ? { subScript: true } : {}),
  });
}

function halfPoints(size: number): number {
  return Math.max(2, Math.min(3276, Math.round(size * 2)));
}

function imageRun(library: Library, { file, ...box }: Picture, floating?: Docx.IFloating): Docx.ImageRun {
  return new library.ImageRun({
    type: file.format === 'jpeg' ? 'jpg' : 'png',
    data: file.data,
    transformation: { width: pixels(box.right - box.left), height: pixels(box.bottom - box.top) },
    ...(floating === undefined ? {} : { floating }),
  });
}

function pictureParagraph({ library, margins }: Frame, picture: Picture, column: Column, gap: number): Docx.Paragraph {
  const origin = column.left > margins.left + 1 ? column.left : Math.min(column.left, margins.left);
  return new library.Paragraph({
    spacing: { before: twips(gap), after: 0 },
    indent: { left: twips(Math.max(0, picture.left - origin)) },
    children: [imageRun(library, picture)],
  });
}

/** @param below points that the picture's top is below that of the page, or of the paragraph it is anchored in. */
function behindText({ library }: Frame, picture: Picture, from: 'page' | 'paragraph', below: number): Docx.Paragraph {
  return new library.Paragraph({
    spacing: tinyLine(library),
    children: [
      imageRun(library, picture, {
        horizontalPosition: { relative: 'page', offset: emu(picture.left) },
        verticalPosition: { relative: from, offset: emu(below) },
        behindDocument: true,
      }),
    ],
  });
}

function tableOf(frame: Frame, table: Table, column: Column): Docx.Table {
  const { library, margins } = frame;
  const { columnEdges, rowEdges, isRuled } = table;
  const origin = column.left > margins.left + 1 ? column.left : Math.min(column.left, margins.left);
  const border = isRuled
    ? { style: library.BorderStyle.SINGLE, size: 4, color: '666666' }
    : { style: library.BorderStyle.NONE, size: 0, color: 'auto' };
  const rows = Array.from({ length: rowEdges.length - 1 }, (_, row) => {
    const cells = table.cells.filter((cell) => cell.row === row).toSorted((a, b) => a.column - b.column);
    const height = (rowEdges[row + 1] ?? 0) - (rowEdges[row] ?? 0);
    return new library.TableRow({
      height: { value: twips(height), rule: library.HeightRule.ATLEAST },
      children: cells.map((cell) => cellOf(frame, cell, table)),
    });
  });
  const padding = twips(paddingOf(table));
  return new library.Table({
    rows,
    layout: library.TableLayoutType.FIXED,
    columnWidths: columnEdges.slice(1).map((edge, index) => twips(edge - (columnEdges[index] ?? 0))),
    width: { size: twips((columnEdges.at(-1) ?? 0) - (columnEdges[0] ?? 0)), type: library.WidthType.DXA },
    indent: { size: twips(Math.max(0, table.left - origin)), type: library.WidthType.DXA },
    borders: {
      top: border,
      bottom: border,
      left: border,
      right: border,
      insideHorizontal: border,
      insideVertical: border,
    },
    margins: { left: padding, right: padding, top: 0, bottom: 0, marginUnitType: library.WidthType.DXA },
  });
}

const mostPadding = 2;

/** Points beside the text of cells: none that would break a line in two that stood in one. */
function paddingOf(table: Table): number {
  const rooms = table.cells.flatMap((cell) => {
    const box = boxOfCell(cell, table);
    return cell.paragraphs.map(({ left, right }) => (box.right - box.left - (right - left)) / 2 - 0.5);
  });
  return Math.max(
    0,
    rooms.reduce((least, room) => Math.min(least, room), mostPadding),
  );
}

function cellOf({ library }: Frame, cell: Cell, table: Table): Docx.TableCell {
  const box = boxOfCell(cell, table);
  const paragraphs = cell.paragraphs.filter((paragraph) => textOf(paragraph).trim() !== '');
  return new library.TableCell({
    columnSpan: cell.columnSpan,
    rowSpan: cell.rowSpan,
    verticalAlign: library.VerticalAlign.CENTER,
    width: { size: twips(box.right - box.left), type: library.WidthType.DXA },
    ...(cell.fill === undefined
      ? {}
      : { shading: { type: library.ShadingType.CLEAR, fill: cell.fill, color: 'auto' } }),
    children:
      paragraphs.length === 0
        ? [new library.Paragraph({ spacing: tinyLine(library) })]
        : paragraphs.map(
            (paragraph) =>
              new library.Paragraph({
                alignment: cellAlignment(paragraph, box),
                spacing: {
                  before: 0,
                  after: 0,
                  line: twips(lineIn(paragraph, paragraphs.length, box)),
                  lineRule: library.LineRuleType.EXACT,
                },
                children: [
                  ...(paragraph.list === undefined ? [] : [new library.TextRun(`${paragraph.list.marker} `)]),
                  ...runsOf(library, paragraph.runs),
                ],
              }),
          ),
  });
}

/** The height of a line in a cell: a single one never makes its row higher than it was. */
function lineIn({ leading, size, lineCount }: Paragraph, count: number, box: { top: number; bottom: number }): number {
  const isSingle = lineCount === 1 && count === 1;
  return Math.max(isSingle ? Math.min(leading, box.bottom - box.top) : leading, size * 0.9);
}

function cellAlignment({ left, right }: Paragraph, box: { left: number; right: number }): 'left' | 'center' | 'right' {
  const [before, after] = [left - box.left, box.right - right];
  if (before > 8 && Math.abs(before - after) < 4) return 'center';
  return before > after + 6 && after < 10 ? 'right' : 'left';
}
