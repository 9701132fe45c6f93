import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { pdfFixture, popplerText, qpdfCheck, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import tool from './pdf-nup-maker.ts';

type Form = Record<string, string>;

/** The words of each sheet in reading order, and its size. */
async function sheets(name: string, form: Form): Promise<{ text: string[]; size: string | undefined }> {
  await using run = await runTool(tool, [pdfFixture(name)], form);
  const path = run.outputs[0]?.path ?? '';
  expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
  const info = execFileSync('pdfinfo', [path], { encoding: 'utf8' });
  const layout = execFileSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' });
  const text = layout
    .split('\f')
    .slice(0, -1)
    .map((page) => page.replaceAll(/\s+/g, ' ').trim());
  return { text, size: /^Page size:\s+(.*?) pts/m.exec(info)?.[1] };
}

describe('pdf-nup-maker', { timeout: 60_000 }, () => {
  test('two upright pages on a sheet lying down', async () => {
    expect(await sheets('three-pages', {})).toEqual({ text: ['Alpha 1 Alpha 2', 'Alpha 3'], size: '841.89 x 595.28' });
  });

  test('four pages lying down, on a sheet of another size', async () => {
    const { text, size } = await sheets('outline', { per_sheet: '4', page_size: 'letter', frame: 'true' });
    expect(text).toEqual(['Chapter page 1 Chapter page 2 Chapter page 3 Chapter page 4']);
    expect(size).toBe('792 x 612');
  });

  test('a booklet with blank pages at the end', async () => {
    const { text } = await sheets('three-pages', { booklet: 'true', page_size: 'a5' });
    expect(text).toEqual(['Alpha 1', 'Alpha 2 Alpha 3']);
    const numbers = await sheets('twelve-pages', { booklet: 'true' });
    expect(numbers.text).toEqual([
      'Number 12 Number 1',
      'Number 2 Number 11',
      'Number 10 Number 3',
      'Number 4 Number 9',
      'Number 8 Number 5',
      'Number 6 Number 7',
    ]);
  });

  test('filled-in fields show, hidden layers do not, turned pages stand as they are read', async () => {
    await using run = await runTool(tool, [pdfFixture('form'), pdfFixture('layers'), pdfFixture('mixed-sizes')], {});
    const [form = '', layers = '', mixed = ''] = run.outputs.map(({ path }) => path);
    expect(popplerText(form).join(' ')).toContain('Second page');
    const [before, after] = await Promise.all([renderAll(pdfFixture('layers')), renderAll(layers)]);
    const inkOf = (page: Buffer | undefined) => (page ?? Buffer.alloc(0)).filter((value) => value < 128).length;
    expect(inkOf(after[0]) > 0).toBe(inkOf(before[0]) > 0);
    expect(popplerText(mixed)).toHaveLength(2);
  });

  test('a booklet has two pages a sheet', async () => {
    await expect(sheets('form', { booklet: 'true', per_sheet: '4' })).rejects.toThrow(/must be 2/);
  });
});
