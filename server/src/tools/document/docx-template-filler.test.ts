import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import PptxGenJS from 'pptxgenjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paragraph, writeDocx } from '../../../test/office-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import { libreoffice, stopLibreOffice } from '../../engines/libreoffice.ts';
import docxTemplateFiller from './docx-template-filler.ts';

const office = await libreoffice.version();
const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

async function template(...lines: string[]): Promise<string> {
  return await writeDocx(file('letter.docx'), { body: lines.map(paragraph).join('') });
}

/** The paragraphs of the filled document. */
async function fill(path: string, data: unknown, form: Record<string, string> = {}): Promise<string[]> {
  await using result = await runTool(docxTemplateFiller, [path], { data: JSON.stringify(data), ...form });
  const part = path.endsWith('pptx') ? 'ppt/slides/slide1.xml' : 'word/document.xml';
  const { stdout } = await run('unzip', ['-p', result.outputs[0]!.path, part]);
  return [...stdout.matchAll(/<[wa]:p>.*?<\/[wa]:p>/gs)].map(([xml]) => xml.replaceAll(/<[^>]*>/g, ''));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-template-'));
});

afterAll(async () => {
  await stopLibreOffice();
  await rm(folder, { recursive: true, force: true });
});

test('fills names, lists and conditions', async () => {
  const path = await template(
    'Dear {customer.name},',
    '{#items}',
    '{title}: {price}',
    '{/items}',
    '{^paid}Open{/paid}',
  );
  const data = {
    customer: { name: 'Änne <&> Co' },
    items: [
      { title: 'Pen', price: 1.5 },
      { title: 'Ink', price: 0 },
    ],
  };
  expect(await fill(path, data)).toEqual(['Dear Änne &lt;&amp;&gt; Co,', 'Pen: 1.5', 'Ink: 0', 'Open']);
});

test('fills a name that is spread over runs, and in double braces', async () => {
  const body = '<w:p><w:r><w:t>Hi {na</w:t></w:r><w:r><w:t>me}</w:t></w:r></w:p>';
  const path = await writeDocx(file('runs.docx'), { body });
  expect(await fill(path, { name: 'Ann' })).toEqual(['Hi Ann']);
  expect(await fill(await template('{x} {{name}}'), { name: 'Ann' }, { delimiters: 'double' })).toEqual(['{x} Ann']);
});

test('fills a presentation', async () => {
  const show = new (PptxGenJS as unknown as typeof PptxGenJS.default)();
  show.addSlide().addText('Hello {name}', { x: 1, y: 1, w: 5, h: 1 });
  await show.writeFile({ fileName: file('show.pptx') });
  await using result = await runTool(docxTemplateFiller, [file('show.pptx')], { data: '{"name":"Ann"}' });
  expect(result.outputs).toMatchObject([{ filename: 'show.pptx', type: 'pptx' }]);
  expect((await run('unzip', ['-p', result.outputs[0]!.path, 'ppt/slides/slide1.xml'])).stdout).toContain('Hello Ann');
});

test('leaves empty, keeps or refuses a name without a value', async () => {
  const path = await template('A {b.c} D');
  expect(await fill(path, {})).toEqual(['A  D']);
  expect(await fill(path, {}, { missing: 'keep' })).toEqual(['A {b.c} D']);
  const refused = fill(path, {}, { missing: 'refuse' });
  await expect(refused).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('b.c') as string,
  });
});

test.each([
  ['{name', 'The tag beginning with "{name" is unclosed.'],
  ['{#items}x', 'The loop with tag "items" is unclosed.'],
  ['{#a}x{/b}', 'The tag "a" is closed by the tag "b".'],
])('says what is wrong in %s', async (line, sentence) => {
  const message = expect.stringContaining(sentence) as string;
  await expect(fill(await template(line), { items: [] })).rejects.toMatchObject({ code: 'invalid_input', message });
});

test('runs nothing, and finds nothing that the data does not hold itself', async () => {
  const path = await template('{constructor.name}{__proto__.a}{1+1}{items.length}');
  expect(await fill(path, { items: [] })).toEqual(['0']);
});

test('refuses damaged files', async () => {
  const path = await template('{name}');
  const bytes = await readFile(path);
  await writeFile(file('cut.docx'), bytes.subarray(0, bytes.length - 30));
  await expect(fill(file('cut.docx'), {})).rejects.toMatchObject({ code: 'invalid_input' });
});

test.skipIf(office === undefined)('writes PDF', { timeout: 60_000 }, async () => {
  const form = { data: '{"name":"Ann"}', output: 'pdf' };
  await using result = await runTool(docxTemplateFiller, [await template('Hello {name}')], form);
  expect((await run('pdftotext', [result.outputs[0]!.path, '-'])).stdout).toContain('Hello Ann');
});
