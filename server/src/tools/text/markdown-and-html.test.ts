import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import htmlToMarkdown from './html-to-markdown-converter.ts';
import markdownToHtml from './markdown-to-html-converter.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-markdown-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function convert(
  tool: typeof markdownToHtml | typeof htmlToMarkdown,
  content: string | Buffer,
  form: Record<string, string> = {},
): Promise<string> {
  const path = join(folder, tool.slug.startsWith('html') ? 'page.html' : 'page.md');
  await writeFile(path, content);
  await using result = await runTool(tool as typeof markdownToHtml, [path], form);
  expect(result.outputs).toHaveLength(1);
  return readFile(result.outputs[0]!.path, 'utf8');
}

describe('markdown-to-html-converter', () => {
  const fragment = { standalone: 'false' };

  test('makes a page with a title and a style, or without', async () => {
    const page = await convert(markdownToHtml, '# Größe & <Co>\n');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain('<title>Größe &amp;');
    expect(page).toContain('.markdown-body');
    expect(await convert(markdownToHtml, '# T\n', { theme: 'none' })).not.toContain('<style>');
  });

  test('reads what GitHub reads', async () => {
    const html = await convert(
      markdownToHtml,
      '---\ntitle: x\n---\n# Ü b\n\n| A | B |\n|---|--:|\n| 1 | ~~2~~ |\n\n- [x] done\n\nhttps://example.com readme.md\n',
      fragment,
    );
    expect(html).not.toContain('title: x');
    for (const part of [
      '<h1 id="ü-b">',
      '<td style="text-align:right"><s>2</s>',
      'checked',
      'href="https://example.com"',
    ]) {
      expect(html).toContain(part);
    }
    expect(html).not.toContain('href="http://readme.md"');
  });

  test('reads the standard alone', async () => {
    const html = await convert(markdownToHtml, '~~x~~\n\n| A |\n|---|\n', { ...fragment, flavor: 'commonmark' });
    expect(html).toContain('~~x~~');
    expect(html).not.toContain('<table>');
  });

  test('leaves out what acts, unless told not to', async () => {
    const source =
      '<script>alert(1)</script><b onclick="x()">b</b>\n\n[l](javascript:x) <a href="javascript:x">m</a>\n';
    const safe = await convert(markdownToHtml, source, fragment);
    expect(safe).not.toMatch(/script>|onclick|href="javascript/);
    expect(safe).toContain('<b>b</b>');
    expect(await convert(markdownToHtml, source, { ...fragment, sanitize: 'false' })).toContain(
      '<script>alert(1)</script>',
    );
  });

  test('lists the headings', async () => {
    const html = await convert(markdownToHtml, '# T\n\n## A\n\n## A\n', { ...fragment, toc: 'true' });
    expect(html).toContain('<a href="#a-1">A</a>');
    await expect(convert(markdownToHtml, 'x', { toc: 'true', flavor: 'commonmark' })).rejects.toThrow('gfm');
  });
});

describe('html-to-markdown-converter', () => {
  const sentence = 'This is a sentence, with commas, and enough text to be told from menus and the like of them. ';
  const page = `<html><head><title>The page</title><style>x{}</style></head><body><nav><a href="/">Home</a></nav><article>
    <p>${sentence.repeat(3)}</p><p>${sentence.repeat(3)}<a href="https://example.com/a">link</a></p>
    <ul><li>one<ul><li>two</li></ul></li></ul><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>
    <pre><code class="language-js">let x;\n</code></pre><script>alert(1)</script></article></body></html>`;

  test('writes text, lists, tables and code', async () => {
    const markdown = await convert(htmlToMarkdown, page);
    for (const part of ['[Home](/)', '[link](https://example.com/a)', '-   one', '| 1   | 2   |', '```js']) {
      expect(markdown).toContain(part);
    }
    expect(markdown).not.toMatch(/alert|x\{\}|The page/);
  });

  test('keeps the columns below and beside cells that reach over several rows', async () => {
    const table = `<table><tr><th>A</th><th>B</th><th>C</th></tr>
      <tr><td rowspan="3">1</td><td>2</td><td rowspan="2">3</td></tr>
      <tr><td>4</td></tr>
      <tr><td colspan="2">5</td></tr></table>`;
    expect(await convert(htmlToMarkdown, table)).toBe(
      [
        '| A   | B   | C   |',
        '| --- | --- | --- |',
        '| 1   | 2   | 3   |',
        '|     | 4   |     |',
        '|     | 5   |     |',
      ].join('\n') + '\n',
    );
  });

  test('writes cells of tables as they read, and the caption in front', async () => {
    const table = String.raw`<table><caption>All</caption><tr><th>a_b</th><th>c</th></tr><tr><td>-65 *x*</td><td>p|q <code>a\b|c</code></td></tr>
      <tr><td colspan="2">both</td></tr></table>`;
    expect(await convert(htmlToMarkdown, table)).toBe(
      String.raw`All

| a\_b | c   |
| --- | --- |
| \-65 \*x\* | p\|q ${'`'}a\b\|c${'`'} |
| both |     |
`,
    );
  });

  test('keeps the article alone, with addresses at the end', async () => {
    const markdown = await convert(htmlToMarkdown, page, { readability: 'true', links: 'reference' });
    expect(markdown).toMatch(/^# The page\n/);
    expect(markdown).not.toContain('Home');
    expect(markdown).toContain('[link][1]');
    expect(markdown).toContain('[1]: https://example.com/a');
    const empty = '<html><body><br></body></html>';
    await expect(convert(htmlToMarkdown, empty, { readability: 'true' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(convert(htmlToMarkdown, empty)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test.each([
    ['a declaration', Buffer.from('<html><meta charset=koi8-r><p>\xF0\xD2\xC9\xD7\xC5\xD4', 'latin1'), 'Привет'],
    ['a mark', Buffer.from('\uFEFF<html><p>Größe', 'utf16le'), 'Größe'],
    ['a mark against a declaration', Buffer.from('\uFEFF<html><meta charset=latin1><p>Größe'), 'Größe'],
    ['XML', Buffer.from('<?xml version="1.0" encoding="iso-8859-2"?><html><p>\xA3\xF3d\xBC', 'latin1'), 'Łódź'],
    ['its bytes, which cannot be the UTF-16 it says', Buffer.from('<html><meta charset=utf-16><p>Größe'), 'Größe'],
    [
      'its bytes, which are not the UTF-8 it says',
      Buffer.from('<html><meta charset=utf-8><p>Größe', 'latin1'),
      'Größe',
    ],
    ['UTF-8 with a slip', Buffer.from('<html><meta charset=utf-8><p>GrÃ¶Ã\x9Fe \xFF', 'latin1'), 'Größe \ufffd'],
    ['nothing', Buffer.from('<html><p>Größe', 'latin1'), 'Größe'],
  ])('reads the encoding from %s', async (_name, bytes, expected) => {
    expect(await convert(htmlToMarkdown, bytes)).toBe(`${expected}\n`);
  });

  test.each(['false', 'true'])('reads a page nested 5,000 deep (readability: %s)', async (readability) => {
    const deep = `<html><body>${'<div>'.repeat(5000)}${sentence.repeat(20)}${'</div>'.repeat(5000)}`;
    expect(await convert(htmlToMarkdown, deep, { readability })).toContain('enough text');
  });
});
