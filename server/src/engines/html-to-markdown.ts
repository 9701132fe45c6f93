import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { decodeHtmlFile } from './html-encoding.ts';
import { sanitizeText } from './html-sanitizer.ts';
import { packageVersion } from './npm-package.ts';

export const turndownEngine: Engine = {
  id: 'turndown',
  name: 'Turndown',
  license: 'MIT',
  version: () => packageVersion('turndown'),
};

export const readabilityEngine: Engine = {
  id: 'readability',
  name: 'Readability',
  license: 'Apache-2.0',
  version: () => packageVersion('@mozilla/readability'),
};

interface Source {
  path: string;
  filename: string;
  sizeBytes: number;
}

const mostBytes = 20_000_000;

/**
 * The text of an HTML page, in the encoding a browser would read it in.
 *
 * @throws Failure `resource_limit` above 20 MB.
 */
export async function readHtmlFile({ path, filename, sizeBytes }: Source): Promise<string> {
  if (sizeBytes > mostBytes) {
    throw new Failure('resource_limit', `"${filename}" is larger than the 20 MB this tool takes.`, { file: filename });
  }
  return (await Array.fromAsync(decodeHtmlFile(path))).join('');
}

export interface MarkdownOptions {
  filename: string;
  /** Keep the article alone: no menus, no advertisements. */
  readability: boolean;
  links: 'inline' | 'reference';
}

/** Control characters, which no text has: a browser shows nothing for them. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\x00-\x08\x0b\x0c\x0e-\x1f]/g;

/**
 * Writes a page as Markdown, as GitHub reads it.
 *
 * @throws Failure `invalid_input` when there is no text, or no article to be told from the rest.
 */
export async function htmlToMarkdown(html: string, { filename, readability, links }: MarkdownOptions): Promise<string> {
  // Scripts and styles go, and with them whatever is nested deeper than the libraries behind this can walk.
  const plain = await sanitizeText(html);
  const body = readability ? await article(plain, titleOf(html), filename) : plain;
  const markdown = (await toMarkdown(body, links)).replaceAll(control, '');
  if (markdown.trim() === '') {
    throw new Failure('invalid_input', `"${filename}" has no text.`, { file: filename });
  }
  return `${markdown.trim()}\n`;
}

function titleOf(html: string): string {
  return /<title[^>]*>([^<]{0,1000})/i.exec(html)?.[1]?.trim() ?? '';
}

/** The article with its title, as HTML. */
async function article(body: string, title: string, filename: string): Promise<string> {
  const [{ Readability }, { parseHTML }] = await Promise.all([import('@mozilla/readability'), import('linkedom')]);
  const { document } = parseHTML(
    `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`,
  );
  // Classes stay: those of code blocks say which language it is.
  const options = { keepClasses: true };
  const found = new Readability(document as unknown as ConstructorParameters<typeof Readability>[0], options).parse();
  if (typeof found?.content !== 'string' || (found.textContent ?? '').trim() === '') {
    const message = `"${filename}" has no article that can be told from the rest; switch readability off.`;
    throw new Failure('invalid_input', message, { file: filename });
  }
  const heading = (found.title ?? '').trim();
  return heading === '' ? found.content : `<h1>${heading.replaceAll('<', '&lt;')}</h1>${found.content}`;
}

async function toMarkdown(html: string, links: MarkdownOptions['links']): Promise<string> {
  const [{ default: Turndown }, { gfm }] = await Promise.all([
    import('turndown'),
    import('@truto/turndown-plugin-gfm'),
  ]);
  const turndown = new Turndown({
    headingStyle: 'atx',
    hr: '---',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    emDelimiter: '*',
    linkStyle: links === 'inline' ? 'inlined' : 'referenced',
  });
  turndown.use(gfm);
  const covered = new WeakMap<Cell, Covered>();
  // The plugin escapes once more what is escaped already, and knows nothing of cells that reach over several rows.
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node) => writeCell(content, node as unknown as Cell, covered),
  });
  try {
    return turndown.turndown(html.replaceAll(caption, '<div>$2</div>$1'));
  } catch (error) {
    // The addresses of links are kept for all conversions until one ends: the next would get those of this one.
    turndown.turndown('<p>end</p>');
    throw error;
  }
}

/** Markdown has no captions of tables: they stand in front as a paragraph. */
const caption = /(<table[^>]*>\s*)<caption[^>]*>([\s\S]*?)<\/caption>/gi;

/** What we ask of an element of Turndown's tree. */
interface Cell {
  nodeName: string;
  previousElementSibling: Cell | null;
  parentElement: Cell | null;
  children: ArrayLike<Cell>;
  getAttribute(name: string): string | null;
}

/** Columns beside a cell that cells of the rows above reach down into. */
interface Covered {
  before: number;
  /** Only behind the last cell of a row. */
  behind: number;
}

/** Columns up to which cells that span several are followed: more would let a small page make a huge text. */
const mostColumns = 64;
const blankCell = '     |';

function writeCell(content: string, cell: Cell, covered: WeakMap<Cell, Covered>): string {
  const rows = cell.parentElement?.parentElement ?? null;
  if (rows !== null && !covered.has(cell)) findCovered(rows, covered);
  const { before, behind } = covered.get(cell) ?? { before: 0, behind: 0 };
  const text = content
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|');
  const start = cell.previousElementSibling === null ? '|' : '';
  return `${start}${blankCell.repeat(before)} ${text.padEnd(3)} |${blankCell.repeat(spanOf(cell, 'colspan') - 1 + behind)}`;
}

/** Goes through the rows of a part of a table once, for all its cells. */
function findCovered(rows: Cell, covered: WeakMap<Cell, Covered>): void {
  let reaching: number[] = []; // For each column, how many rows from this one on are covered from above.
  for (const row of Array.from(rows.children)) {
    if (row.nodeName !== 'TR') continue;
    const next = reaching.map((count) => Math.max(0, count - 1));
    let column = 0;
    let last: Covered | undefined;
    for (const cell of Array.from(row.children)) {
      const first = column;
      while ((reaching[column] ?? 0) > 0) column++;
      last = { before: column - first, behind: 0 };
      covered.set(cell, last);
      const end = Math.min(column + spanOf(cell, 'colspan'), mostColumns);
      while (column < end) next[column++] = spanOf(cell, 'rowspan') - 1;
    }
    if (last !== undefined) last.behind = reaching.slice(column).filter((count) => count > 0).length;
    reaching = Array.from(next, (count) => count ?? 0);
  }
}

function spanOf(cell: Cell, name: 'colspan' | 'rowspan'): number {
  const span = Math.trunc(Number(cell.getAttribute(name)));
  return span > 1 ? Math.min(span, name === 'colspan' ? mostColumns : 65_534) : 1;
}
