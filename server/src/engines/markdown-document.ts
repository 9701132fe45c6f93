import {
  blocksOf,
  type Cell,
  type DocumentStructure,
  type Paragraph,
  type Run,
  type Table,
} from './page-structure/types.ts';
import type { PictureFile } from './pdf-pictures.ts';

export interface MarkdownOptions {
  /** Names a picture's file; undefined leaves pictures out. */
  nameOf: (file: PictureFile) => string | undefined;
  /** False: the rows of tables are lines of text. */
  tables: boolean;
}

/** A document as GitHub Flavored Markdown. Headers, footers and page numbers are left out. */
export function toMarkdown({ pages }: DocumentStructure, { nameOf, tables }: MarkdownOptions): string {
  const parts: { text: string; isItem: boolean }[] = [];
  for (const page of pages) {
    for (const block of blocksOf(page)) {
      if (block.kind === 'table') parts.push({ text: tables ? tableText(block) : rowsText(block), isItem: false });
      else if (block.kind === 'paragraph') parts.push({ text: paragraphText(block), isItem: block.list !== undefined });
      else {
        const name = nameOf(block.file);
        if (name !== undefined) parts.push({ text: `![](${encodeURI(name)})`, isItem: false });
      }
    }
  }
  let text = '';
  let wasItem = false;
  for (const part of parts) {
    if (part.text.trim() === '') continue;
    text += `${text === '' ? '' : part.isItem && wasItem ? '\n' : '\n\n'}${part.text}`;
    wasItem = part.isItem;
  }
  return `${text}\n`;
}

function paragraphText(paragraph: Paragraph): string {
  const { heading, list } = paragraph;
  if (heading !== undefined) return `${'#'.repeat(heading)} ${inline(paragraph.runs, { isHeading: true }).trim()}`;
  const text = inline(paragraph.runs).trim();
  if (list === undefined) return escapeStart(text);
  // Four columns a level suit both kinds of markers.
  const marker = list.ordered ? `${/\d+/.exec(list.marker)?.[0] ?? '1'}.` : '-';
  return `${'    '.repeat(list.level)}${marker} ${escapeStart(text)}`;
}

function inline(runs: readonly Run[], { isHeading = false } = {}): string {
  return joinAlike(runs, isHeading)
    .map(({ text, style, link, position }) => {
      // Marks must touch the words they mark: spaces go outside.
      const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text.replaceAll('\t', ' ')) ?? [];
      if (inner === '') return before + after;
      let marked = style.kind === 'mono' && !inner.includes('`') ? `\`${inner}\`` : escapeText(inner);
      if (style.italic) marked = `*${marked}*`;
      if (style.bold && !isHeading) marked = `**${marked}**`;
      if (position === 'super') marked = `<sup>${marked}</sup>`;
      if (position === 'sub') marked = `<sub>${marked}</sub>`;
      if (link !== undefined) marked = `[${marked}](<${link.replaceAll(/[<>\s]/g, encodeURIComponent)}>)`;
      return before + marked + after;
    })
    .join('');
}

/** Runs that differ only in what Markdown does not show are one. */
function joinAlike(runs: readonly Run[], isHeading: boolean): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    const isSame =
      last !== undefined &&
      (last.style.bold === run.style.bold || isHeading) &&
      last.style.italic === run.style.italic &&
      (last.style.kind === 'mono') === (run.style.kind === 'mono') &&
      last.link === run.link &&
      last.position === run.position;
    if (isSame) last.text += run.text;
    else joined.push({ ...run });
  }
  return joined;
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|~]|&(?=[#\w]+;)/g, String.raw`\$&`);
}

/** What would make a heading, a quotation, a list or a rule of a line. */
function escapeStart(text: string): string {
  return text.replace(/^(#{1,6}\s|>|[-+]\s|=+$|-+$)/, String.raw`\$1`).replace(/^(\d+)([.)]\s)/, String.raw`$1\$2`);
}

/** GFM has neither merged cells nor several paragraphs in one: a merged cell stands in its first place. */
function tableText({ cells, columnEdges, rowEdges }: Table): string {
  const columns = columnEdges.length - 1;
  const grid = gridOf({ cells, columnEdges, rowEdges });
  const line = (row: readonly string[]) => `| ${row.map((text) => text || ' ').join(' | ')} |`;
  const [head = [], ...body] = grid.filter((row) => row.some((text) => text !== ''));
  return [line(head), `|${' --- |'.repeat(columns)}`, ...body.map(line)].join('\n');
}

function gridOf({ cells, columnEdges, rowEdges }: Pick<Table, 'cells' | 'columnEdges' | 'rowEdges'>): string[][] {
  const grid = Array.from({ length: rowEdges.length - 1 }, () =>
    Array.from({ length: columnEdges.length - 1 }, () => ''),
  );
  for (const cell of cells) {
    const row = grid[cell.row];
    if (row !== undefined) row[cell.column] = cellText(cell);
  }
  return grid;
}

/** Each row a line; two spaces at its end keep it one. */
function rowsText(table: Table): string {
  const rows = gridOf(table).map((row) => row.filter((text) => text !== '').join(' '));
  return rows
    .filter((row) => row !== '')
    .map(escapeStart)
    .join('  \n');
}

function cellText({ paragraphs }: Cell): string {
  return paragraphs
    .map(
      (paragraph) =>
        (paragraph.list === undefined ? '' : `${escapeText(paragraph.list.marker)} `) + inline(paragraph.runs).trim(),
    )
    .filter((text) => text !== '')
    .join('<br>');
}
