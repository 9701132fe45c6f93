import { stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { bookmarks, formFields, pdfFixture, popplerText, qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import tool from './pdf-splitter.ts';

/** Names of the parts with the text of their pages. */
async function split(name: string, form: Record<string, string>): Promise<Record<string, string[]>> {
  await using run = await runTool(tool, [pdfFixture(name)], form);
  for (const { path } of run.outputs) expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
  return Object.fromEntries(run.outputs.map(({ filename, path }) => [filename, popplerText(path)]));
}

async function sizes(name: string, form: Record<string, string>): Promise<[string, number][]> {
  await using run = await runTool(tool, [pdfFixture(name)], form);
  return run.outputs.map(({ filename, sizeBytes }) => [filename, sizeBytes]);
}

describe('pdf-splitter', { timeout: 60_000 }, () => {
  test('every page by default', async () => {
    expect(await split('three-pages', {})).toEqual({
      'three-pages-1.pdf': ['Alpha 1'],
      'three-pages-2.pdf': ['Alpha 2'],
      'three-pages-3.pdf': ['Alpha 3'],
    });
  });

  test('every few pages, the rest in the last part', async () => {
    const parts = await split('twelve-pages', { every: '5' });
    expect(Object.keys(parts)).toEqual(['twelve-pages-1-5.pdf', 'twelve-pages-6-10.pdf', 'twelve-pages-11-12.pdf']);
    expect(parts['twelve-pages-11-12.pdf']).toEqual(['Number 11', 'Number 12']);
  });

  test('one part a range, in the order and direction asked for', async () => {
    expect(await split('twelve-pages', { mode: 'ranges', ranges: '11-last, 2, 3-1' })).toEqual({
      'twelve-pages-11-12.pdf': ['Number 11', 'Number 12'],
      'twelve-pages-2.pdf': ['Number 2'],
      'twelve-pages-3-1.pdf': ['Number 3', 'Number 2', 'Number 1'],
    });
  });

  test('at the bookmarks of the top level, named after them', async () => {
    expect(await split('outline', { mode: 'bookmarks' })).toEqual({
      'outline-One.pdf': ['Chapter page 1', 'Chapter page 2'],
      'outline-Three …€.pdf': ['Chapter page 3', 'Chapter page 4'],
    });
  });

  test('a part keeps the bookmarks and fields of its pages, and no others', async () => {
    await using run = await runTool(tool, [pdfFixture('outline'), pdfFixture('form')], { mode: 'ranges', ranges: '2' });
    const [outline, form] = run.outputs.map(({ path }) => path);
    expect(bookmarks(outline ?? '')).toEqual([['One', null, [['One, part two', 1, []]]]]);
    expect(formFields(form ?? '')).toEqual([['note', 'Second page', 1]]);
  });

  test('a part does not carry the pictures of other pages', async () => {
    const whole = (await stat(pdfFixture('shared-resources'))).size;
    const parts = await sizes('shared-resources', {});
    expect(parts).toHaveLength(4);
    for (const [, size] of parts) expect(size).toBeLessThan(whole * 0.3);
  });

  test('parts of at most the size asked for, as few as that allows', async () => {
    const parts = await sizes('shared-resources', { mode: 'max_size', max_size_mb: '0.02' });
    expect(parts.map(([name]) => name)).toEqual(['shared-resources-1-2.pdf', 'shared-resources-3-4.pdf']);
    for (const [, size] of parts) expect(size).toBeLessThanOrEqual(20_000);
  });

  test('names the page that alone is too large', async () => {
    const form = { mode: 'max_size', max_size_mb: '0.01' };
    await expect(runTool(tool, [pdfFixture('scanned'), pdfFixture('images')], form)).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'Page 1 of images.pdf alone is 0.12 MB, more than the 0.01 MB allowed.',
    });
  });

  test('opens encrypted files with their password only', async () => {
    expect(Object.keys(await split('locked', { every: '3', password: 'secret' }))).toEqual(['locked-1-3.pdf']);
    await expect(split('locked', {})).rejects.toMatchObject({ code: 'password_required' });
  });

  test.each([
    [{ mode: 'ranges' }, /required for mode ranges/],
    [{ mode: 'max_size' }, /required for mode max_size/],
    [{ mode: 'ranges', ranges: '1-x' }, /is not a page/],
    [{ every: '0' }, /between 1 and 1000/],
  ])('refuses %o before the run', async (form, message) => {
    await expect(split('three-pages', form as Record<string, string>)).rejects.toThrow(message);
  });

  test('fails when there are no bookmarks, or no such page', async () => {
    await expect(split('three-pages', { mode: 'bookmarks' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'three-pages.pdf has no bookmarks to split at.',
    });
    await expect(split('three-pages', { mode: 'ranges', ranges: '2-9' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});
