import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formFields, pdfFixture, popplerText, qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-repairer.ts';

async function rescued(file: string, form: Record<string, string> = {}): Promise<string[]> {
  await using run = await runTool(tool, [file], form);
  const path = run.outputs[0]?.path ?? '';
  expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
  return popplerText(path);
}

describe('pdf-repairer', { timeout: 60_000 }, () => {
  test.each(['false', 'true'])('a wrong cross-reference table, a lost end (aggressive: %s)', async (aggressive) => {
    expect(await rescued(pdfFixture('bad-xref'), { aggressive })).toHaveLength(4);
    expect(await rescued(pdfFixture('truncated'), { aggressive })).toHaveLength(4);
  });

  test('a file whose objects were moved by a text editor', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'edited.pdf');
      const original = await readFile(pdfFixture('three-pages'), 'latin1');
      await writeFile(path, original.replaceAll('endobj\n', 'endobj\r\n\r\n').replace(/startxref\s+\d+/, ''), 'latin1');
      expect(await rescued(path)).toEqual(['Alpha 1', 'Alpha 2', 'Alpha 3']);
    }));

  test('half a file: the pages whose content is there', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'half.pdf');
      const original = await readFile(pdfFixture('twelve-pages'));
      await writeFile(path, original.subarray(0, original.indexOf('endstream', original.length * 0.7)));
      const pages = await rescued(path);
      expect(pages.length).toBeGreaterThan(3);
      expect(pages.length).toBeLessThan(12);
    }));

  test('a sound file stays what it is', async () => {
    await using run = await runTool(tool, [pdfFixture('form')], { aggressive: 'true' });
    expect(formFields(run.outputs[0]?.path ?? '')).toEqual(formFields(pdfFixture('form')));
  });

  test.each(['false', 'true'])('nothing to rescue (aggressive: %s)', (aggressive) =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'noise.pdf');
      await writeFile(path, `%PDF-1.7\n${'noise '.repeat(500)}`);
      for (const file of [path, pdfFixture('zero-pages'), pdfFixture('cut-in-half')]) {
        await expect(rescued(file, { aggressive })).rejects.toMatchObject({
          code: 'invalid_input',
          message: /^Nothing could be rescued from/,
        });
      }
      await expect(rescued(pdfFixture('locked'), { aggressive })).rejects.toMatchObject({ code: 'password_required' });
    }),
  );
});
