import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { chromium, stopChromium } from '../../engines/chromium.ts';
import markdownToPdf from './markdown-to-pdf-converter.ts';

const version = await chromium.version();
if (version === undefined)
  console.warn(`SKIPPED: markdown-to-pdf-converter, because Chromium is missing: ${chromium.install}`);

const run = promisify(execFile);
let folder: string;

async function print(markdown: string, form: Record<string, string> = {}) {
  const path = join(folder, 'doc.md');
  await writeFile(path, markdown);
  await using result = await runTool(markdownToPdf, [path], form);
  const output = result.outputs[0]!.path;
  const [text, info, json] = await Promise.all([
    run('pdftotext', ['-layout', output, '-']),
    run('pdfinfo', [output]),
    run('qpdf', ['--json', '--json-key=outlines', '--json-key=qpdf', output], { maxBuffer: 20_000_000 }),
  ]);
  return { filename: result.outputs[0]!.filename, text: text.stdout, info: info.stdout, json: json.stdout };
}

describe.skipIf(version === undefined)('markdown-to-pdf-converter', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-markdown-'));
  });
  afterAll(async () => {
    await stopChromium();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(['github', 'plain'])('lays out what GitHub knows, with bookmarks (%s)', async (theme) => {
    const { filename, text, info, json } = await print(
      '# Größe\n\n| A | B |\n|---|--:|\n| one | ~~two~~ |\n\n- [x] done\n\n## Second\n\n```js\nlet x;\n```\n',
      { theme, page_size: 'letter' },
    );
    expect(filename).toBe('doc.pdf');
    for (const shown of ['Größe', 'one', 'two', 'done', 'let x;']) expect(text).toContain(shown);
    expect(info).toMatch(/Title:\s+Größe/);
    expect(info).toMatch(/612 x 792/);
    const { outlines } = JSON.parse(json) as { outlines: { title: string; kids: { title: string }[] }[] };
    expect(outlines.map(({ title }) => title)).toEqual(['Größe']);
    expect(outlines[0]!.kids.map(({ title }) => title)).toEqual(['Second']);
  });

  test('begins with contents that lead to the headings', async () => {
    const { text, json } = await print('# Title\n\n## One\n\n## Two & three\n', { toc: 'true' });
    expect(text.match(/Two & three/g)).toHaveLength(2);
    expect(json).toContain('/Dest');
  });

  test('says in words what a missing picture shows, runs nothing and fetches nothing', async () => {
    const { text } = await print(
      '![A cat](cat.png) ![far](https://example.com/x.png)\n\n<script>document.write("ran")</script><iframe src="file:///etc/passwd"></iframe>\n\n<details><summary>More</summary>folded</details>\n',
    );
    for (const shown of ['A cat', 'far', 'folded']) expect(text).toContain(shown);
    expect(text).not.toMatch(/ran|root:/);
  });

  test('refuses a file with nothing to show', async () => {
    await expect(print('<!-- nothing -->\n')).rejects.toMatchObject({ code: 'invalid_input', file: 'doc.md' });
  });
});
