import { readFile } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import { detectEncoding } from '../lib/text-encoding.ts';
import type { Engine } from './engine.ts';
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
 * The text of an HTML page: by its byte order mark, by what it says itself, else as text in general is read.
 *
 * @throws Failure `resource_limit` above 20 MB.
 */
export async function readHtmlFile({ path, filename, sizeBytes }: Source): Promise<string> {
  if (sizeBytes > mostBytes) {
    throw new Failure('resource_limit', `"${filename}" is larger than the 20 MB this tool takes.`, { file: filename });
  }
  const [bytes, detected] = await Promise.all([readFile(path), detectEncoding(path)]);
  const named = /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(bytes.toString('latin1', 0, 1024))?.[1];
  const marked = detected.startsWith('utf-16') || bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]));
  return decoderOf(marked ? undefined : named, detected).decode(bytes);
}

function decoderOf(named: string | undefined, detected: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(named ?? detected);
  } catch {
    return new TextDecoder(detected); // A name no browser knows either.
  }
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
  return turndown.turndown(html);
}
