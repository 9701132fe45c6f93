import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { pdfFixture, popplerText } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import tool from './pdf-text-extractor.ts';

async function extract(name: string, form: Record<string, string> = {}): Promise<string> {
  await using run = await runTool(tool, [pdfFixture(name)], form);
  const [output] = run.outputs;
  expect(output?.filename).toBe(`${name}.${form['format'] ?? 'txt'}`);
  expect(output?.type).toBe(form['format'] ?? 'txt');
  return readFile(output?.path ?? '', 'utf8');
}

describe('pdf-text-extractor', { timeout: 60_000 }, () => {
  test('ends every page with a form feed, as pdftotext does', async () => {
    const text = await extract('three-pages');
    expect(text).toBe('Alpha 1\n\fAlpha 2\n\fAlpha 3\n\f');
    expect(
      text
        .split('\f')
        .slice(0, -1)
        .map((page) => page.trim()),
    ).toEqual(popplerText(pdfFixture('three-pages')));
  });

  test('reads one column after the other, and keeps a hyphen at the end of its line', async () => {
    expect((await extract('columns')).split('\n').slice(0, 9)).toEqual([
      'A headline over both',
      'The left column',
      'is read before',
      'the right one, with a hy-',
      'phen and an end.',
      'Right column',
      'comes second',
      'and has',
      'four lines.',
    ]);
  });

  test('keeps columns side by side with layout', async () => {
    const lines = (await extract('columns', { layout: 'true' })).split('\n').filter((line) => line !== '');
    expect(lines.slice(0, 3)).toEqual([
      'A headline over both',
      expect.stringMatching(/^The left column {5,}Right column$/),
      expect.stringMatching(/^is read before {5,}comes second$/),
    ]);
    const columns = ['Price', '3.50', '12.00'].map((cell) => lines.find((line) => line.endsWith(cell))?.indexOf(cell));
    expect(new Set(columns).size).toBe(1);
  });

  test('Greek, Cyrillic, Chinese and emoji are right; ligatures are letters; accents are composed', async () => {
    expect(await extract('unicode')).toBe('Αβ Ж 中文 😀\nfinal é é\n\f');
    expect((await extract('unicode', { layout: '1' })).trim()).toBe('Αβ Ж 中文 😀\nfinal é é');
  });

  test('JSON has the pages with their size', async () => {
    expect(JSON.parse(await extract('mixed-sizes', { format: 'json', pages: '4,1' }))).toEqual({
      pages: [
        { page: 4, width: 200.5, height: 100.25, text: 'TOP\n' },
        { page: 1, width: 595, height: 842, text: 'TOP\n' },
      ],
    });
  });

  test('a scan without text fails and names OCR', async () => {
    await expect(extract('scanned')).rejects.toMatchObject({
      code: 'invalid_input',
      file: 'scanned.pdf',
      message: expect.stringContaining('OCR'),
    });
  });

  test('opens encrypted files with their password only', async () => {
    expect(await extract('locked', { password: 'secret' })).toContain('Alpha 2');
    await expect(extract('locked')).rejects.toMatchObject({ code: 'password_required' });
  });

  test.each(['truncated', 'bad-xref'])('%s is read as far as it goes', async (name) => {
    expect(await extract(name, { pages: '3' })).toBe('Chapter page 3\n\f');
  });

  test('refuses pages it does not have', async () => {
    await expect(extract('three-pages', { pages: '4' })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
