import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { MarkdownIt, Token } from 'markdown-it';
import { escapeHtml } from '../lib/escape-html.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const markdownIt: Engine = {
  id: 'markdown-it',
  name: 'markdown-it',
  license: 'MIT',
  version: () => packageVersion('markdown-it'),
};

/** `gfm`: with the tables, task lists, struck text and bare links of GitHub, and ids on headings. */
export type MarkdownFlavor = 'gfm' | 'commonmark';

export interface RenderedMarkdown {
  /** As the author wrote it, raw HTML included: not sanitised. */
  html: string;
  /** The first heading; undefined when there is none. */
  title: string | undefined;
}

/** Renders Markdown; `toc` puts a list of the first three levels of headings below the title. */
export async function renderMarkdown(
  source: string,
  { flavor, toc = false }: { flavor: MarkdownFlavor; toc?: boolean },
): Promise<RenderedMarkdown> {
  const parser = await createParser(flavor);
  const env = {};
  const tokens = parser.parse(flavor === 'gfm' ? withoutFrontMatter(source) : source, env);
  const headings = findHeadings(tokens);
  if (flavor === 'gfm') for (const { open, id } of headings) open.attrSet('id', id);
  const title = headings[0]?.text;
  const render = (part: Token[]) => parser.renderer.render(part, parser.options, env);
  if (!toc) return { html: render(tokens), title };
  // A document that begins with its title has its contents below it.
  const start = tokens[0]?.type === 'heading_open' && tokens[0].tag === 'h1' ? 3 : 0;
  const listed = headings.filter(({ level, open }) => level <= 3 && !(start === 3 && open === tokens[0]));
  return { html: render(tokens.slice(0, start)) + renderContents(listed) + render(tokens.slice(start)), title };
}

async function createParser(flavor: MarkdownFlavor): Promise<MarkdownIt> {
  const [{ default: Parser }, { tasklist }] = await Promise.all([
    import('markdown-it'),
    import('@mdit/plugin-tasklist'),
  ]);
  if (flavor === 'commonmark') return new Parser('commonmark');
  // Its types are those of the former major version.
  const taskLists = tasklist as unknown as (
    parser: MarkdownIt,
    options: { label: boolean; containerClass: string },
  ) => void;
  const parser = new Parser({ html: true, linkify: true }).use(taskLists, {
    label: false,
    containerClass: 'contains-task-list',
  });
  // `readme.md` is no address, although Moldova has .md.
  parser.linkify.set({ fuzzyLink: false });
  return parser;
}

/** What static site generators keep at the top: settings between two lines of dashes. */
function withoutFrontMatter(source: string): string {
  return source.replace(
    /^\uFEFF?---[ \t]*\r?\n(?:[A-Za-z_][^\r\n]*:[^\r\n]*\r?\n|[ \t#-][^\r\n]*\r?\n)+---[ \t]*(?:\r?\n|$)/,
    '',
  );
}

interface Heading {
  open: Token;
  level: number;
  text: string;
  id: string;
}

function findHeadings(tokens: readonly Token[]): Heading[] {
  const taken = new Map<string, number>();
  const headings: Heading[] = [];
  for (const [index, open] of tokens.entries()) {
    if (open.type !== 'heading_open') continue;
    const parts = tokens[index + 1]?.children ?? [];
    const text = parts.map(({ type, content }) => (/^(text|code_inline|image)$/.test(type) ? content : ' ')).join('');
    headings.push({ open, level: Number(open.tag.slice(1)), text: text.trim(), id: uniqueId(text, taken) });
  }
  return headings;
}

/** As GitHub makes them, so that links within a document lead somewhere. */
function uniqueId(text: string, taken: Map<string, number>): string {
  const words = text.trim().toLowerCase();
  const base = words.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-') || 'section';
  const count = taken.get(base) ?? 0;
  taken.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

function renderContents(headings: readonly Heading[]): string {
  if (headings.length === 0) return '';
  const top = Math.min(...headings.map(({ level }) => level));
  const items = headings.map(
    ({ level, text, id }) =>
      `<li class="toc-${level - top + 1}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="toc"><ul>${items.join('')}</ul></nav>\n`;
}

export type MarkdownTheme = 'github' | 'plain' | 'none';

/** A whole page around a rendered document. `print` adds what paper needs. */
export async function markdownPage(options: {
  html: string;
  title: string;
  theme: MarkdownTheme;
  print?: boolean;
}): Promise<string> {
  const styles = [await themeStyle(options.theme), options.print === true ? printStyle : ''].filter(
    (css) => css !== '',
  );
  const style = styles.length === 0 ? '' : `<style>\n${styles.join('\n')}\n</style>\n`;
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(options.title)}</title>
${style}</head>
<body${options.theme === 'none' ? '' : ' class="markdown-body"'}>
${options.html}</body>
</html>
`;
}

async function themeStyle(theme: MarkdownTheme): Promise<string> {
  if (theme === 'none') return '';
  if (theme === 'plain') return plainStyle;
  const path = fileURLToPath(import.meta.resolve('github-markdown-css/github-markdown-light.css'));
  return `${(await readFile(path, 'utf8')).trim()}\n${githubPage}`;
}

const githubPage = `.markdown-body { box-sizing: border-box; max-width: 980px; margin: 0 auto; padding: 45px; }
@media (max-width: 767px) { .markdown-body { padding: 15px; } }`;

const plainStyle = `body { font: 11pt/1.45 "Liberation Serif", Georgia, serif; max-width: 45em; margin: 0 auto; padding: 1em; }
h1, h2, h3, h4, h5, h6 { font-family: "Liberation Sans", Arial, sans-serif; line-height: 1.2; }
pre, code { font-family: "Liberation Mono", monospace; font-size: 90%; }
pre { border: 1px solid #bbb; padding: 0.6em; overflow: auto; }
table { border-collapse: collapse; } th, td { border: 1px solid #999; padding: 0.2em 0.6em; }
blockquote { margin-left: 0; padding-left: 1em; border-left: 3px solid #bbb; } img { max-width: 100%; }
.contains-task-list { list-style: none; padding-left: 1em; }`;

const printStyle = `body.markdown-body { max-width: none; margin: 0; padding: 0; }
.markdown-body { font-size: 11pt; } .markdown-body pre, .markdown-body pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
h1, h2, h3, h4, h5, h6 { break-after: avoid; } tr, img, figure { break-inside: avoid; }
.markdown-body table { display: table; width: auto; max-width: 100%; } td, th { overflow-wrap: anywhere; }
.missing-image { font-style: italic; } nav.toc ul { list-style: none; padding-left: 0; } nav.toc { margin-bottom: 1.5em; }
nav.toc a { color: inherit; text-decoration: none; } .toc-2 { padding-left: 1.5em; } .toc-3 { padding-left: 3em; }`;
