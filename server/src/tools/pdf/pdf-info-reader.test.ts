import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import linearizer from './pdf-linearizer.ts';
import tool from './pdf-info-reader.ts';

async function info(file: string, form: Record<string, string> = {}): Promise<Record<string, unknown>> {
  await using run = await runTool(tool, [file], form);
  expect(run.outputs[0]?.type).toBe('json');
  return JSON.parse(await readFile(run.outputs[0]?.path ?? '', 'utf8')) as Record<string, unknown>;
}

describe('pdf-info-reader', { timeout: 60_000 }, () => {
  test('pages as they are shown, properties, fonts', async () => {
    expect(await info(pdfFixture('mixed-sizes'))).toMatchObject({
      file: 'mixed-sizes.pdf',
      page_count: 4,
      encryption: null,
      linearized: false,
      tagged: false,
      form: null,
      pages: [
        { page: 1, width_pt: 595, height_pt: 842, width_mm: 209.9, height_mm: 297.04, rotation: 0 },
        { width_pt: 842 },
        { width_pt: 200, height_pt: 300, rotation: 90 },
        { rotation: 180 },
      ],
    });
    expect(await info(pdfFixture('three-pages'))).toMatchObject({
      title: 'Alpha title',
      producer: 'Millrun fixtures',
      created: '1970-01-01T00:00:00Z',
      author: null,
      fonts: [{ name: 'Helvetica', type: 'Type1', embedded: false, subset: false }],
    });
  });

  test('bookmarks, scripts, forms', async () => {
    expect(await info(pdfFixture('outline'))).toMatchObject({ bookmarks: 3, has_javascript: true });
    expect(await info(pdfFixture('form'))).toMatchObject({ form: { fields: 3, xfa: false }, has_javascript: false });
  });

  test('encryption and rights', async () => {
    const [locked, restricted] = [pdfFixture('locked'), pdfFixture('owner-only')];
    expect(await info(locked, { password: 'secret' })).toMatchObject({
      encryption: { cipher: 'AES-256', opened_as: 'user', permissions: { print: true, copy: true } },
    });
    await expect(info(locked)).rejects.toMatchObject({ code: 'password_required' });
    await expect(info(locked, { password: 'no' })).rejects.toMatchObject({ code: 'password_required' });
    expect(await info(restricted)).toMatchObject({ encryption: { opened_as: 'user' } });
  });

  test('a linearized file, a damaged one', async () => {
    await using run = await runTool(linearizer, [pdfFixture('outline')]);
    expect(await info(run.outputs[0]?.path ?? '')).toMatchObject({ linearized: true, page_count: 4 });
    expect(await info(pdfFixture('bad-xref'))).toMatchObject({ page_count: 4 });
    await expect(info(pdfFixture('zero-pages'))).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
