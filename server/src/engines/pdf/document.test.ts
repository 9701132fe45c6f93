import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { popplerText, qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import pdfLinearizer from '../../tools/pdf/pdf-linearizer.ts';
import pdfMerger from '../../tools/pdf/pdf-merger.ts';
import pdfProtector from '../../tools/pdf/pdf-protector.ts';
import pdfRepairer from '../../tools/pdf/pdf-repairer.ts';
import pdfRotator from '../../tools/pdf/pdf-rotator.ts';
import pdfTextExtractor from '../../tools/pdf/pdf-text-extractor.ts';
import type { Tool } from '../../tools/define.ts';

const content = (text: string) => {
  const data = `BT /F 24 Tf 72 300 Td (${text}) Tj ET`;
  return `<</Length ${data.length}>>\nstream\n${data}\nendstream`;
};
const pagesNode = (kids: string, more: string) =>
  `<</Type/Pages/Kids[${kids}]${more}/MediaBox[0 0 400 600]/Resources<</Font<</F 5 0 R>>>>>>`;

/** Two pages, 3 and 4; the tree is object 2. */
function objects(tree: string): string[] {
  return [
    '<</Type/Catalog/Pages 2 0 R>>',
    tree,
    '<</Type/Page/Parent 2 0 R/Contents 6 0 R>>',
    '<</Type/Page/Parent 2 0 R/Contents 7 0 R>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    content('One'),
    content('Two'),
  ];
}

/** A file with a right cross-reference table. */
function pdfOf(bodies: readonly string[]): string {
  const offsets: number[] = [];
  let text = '%PDF-1.7\n';
  for (const [index, body] of bodies.entries()) {
    offsets.push(text.length);
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = bodies.length + 1;
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
}

async function outputOf(tool: unknown, path: string, form: Record<string, string> = {}): Promise<string[]> {
  await using run = await runTool(tool as Tool, [path], form);
  const written = run.outputs[0]?.path ?? '';
  expect(qpdfCheck(written)).toContain('No syntax or stream encoding errors');
  return popplerText(written);
}

describe('a page tree that says something wrong', () => {
  test.each([
    ['too many pages', pagesNode('3 0 R 4 0 R', '/Count 200'), ['One', 'Two']],
    ['no number of pages', pagesNode('3 0 R 4 0 R', ''), ['One', 'Two']],
    ['a page that is not there', pagesNode('3 0 R null 99 0 R 4 0 R', '/Count 4'), ['One', 'Two']],
    ['a page twice', pagesNode('3 0 R 4 0 R 3 0 R', '/Count 3'), ['One', 'Two', 'One']],
  ])('%s', (_name, tree, pages) =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'tree.pdf');
      await writeFile(path, pdfOf(objects(tree)));
      expect(await outputOf(pdfRotator, path, { angle: '180' })).toEqual(pages);
    }),
  );

  test('no number of pages: it is arranged for the web', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'tree.pdf');
      await writeFile(path, pdfOf(objects(pagesNode('3 0 R 4 0 R', ''))));
      expect(await outputOf(pdfLinearizer, path)).toEqual(['One', 'Two']);
    }));

  test('more pages than there are: readers of pages find those there are', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'tree.pdf');
      await writeFile(path, pdfOf(objects(pagesNode('3 0 R 4 0 R', '/Count 200'))));
      await using run = await runTool(pdfTextExtractor, [path]);
      expect(run.outputs).toHaveLength(1);
    }));

  test('a loop: the repairer brings back the pages', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'loop.pdf');
      await writeFile(path, pdfOf(objects(pagesNode('3 0 R 4 0 R 2 0 R', '/Count 3'))));
      expect(await outputOf(pdfRepairer, path)).toEqual(['One', 'Two']);
    }));
});

test('what is made anew never takes the place of what was lost', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'cut.pdf');
    const whole = pdfOf(objects(pagesNode('3 0 R 4 0 R', '/Count 2')));
    await writeFile(path, whole.slice(0, whole.indexOf('7 0 obj')));
    for (const tool of [pdfMerger, pdfRotator, pdfTextExtractor] as unknown as Tool[]) {
      const files = tool.slug === 'pdf-merger' ? [path, path] : [path];
      const form = tool.slug === 'pdf-rotator' ? { angle: '90' } : {};
      await expect(runTool(tool, files, form)).rejects.toMatchObject({
        code: 'invalid_input',
        message: 'cut.pdf is damaged: the content of page 2 is missing.',
      });
    }
  }));

test('a file without its table and trailer is arranged for the web', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'cut.pdf');
    const whole = pdfOf(objects(pagesNode('3 0 R 4 0 R', '/Count 2')));
    await writeFile(path, whole.slice(0, whole.indexOf('xref\n') + 20));
    expect(await outputOf(pdfLinearizer, path)).toEqual(['One', 'Two']);
  }));

test('a protected file has what its input had, or is refused', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'cut.pdf');
    const whole = pdfOf(objects(pagesNode('3 0 R 4 0 R', '/Count 2')));
    const at = whole.indexOf('7 0 obj');
    await writeFile(path, whole.slice(0, at) + whole.slice(whole.indexOf('xref\n')));
    await expect(runTool(pdfProtector, [path], { user_password: 'secret' })).rejects.toMatchObject({
      message: 'cut.pdf is damaged: the content of page 2 is missing.',
    });
  }));

test('an empty file is called empty', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'empty.pdf');
    await writeFile(path, '');
    await expect(runTool(pdfTextExtractor, [path])).rejects.toMatchObject({ message: 'empty.pdf is empty.' });
  }));

test('an encrypted file whose table is damaged', () =>
  withTemporaryDirectory(async (directory) => {
    const [plain, path] = [join(directory, 'plain.pdf'), join(directory, 'damaged.pdf')];
    await writeFile(plain, pdfOf(objects(pagesNode('3 0 R 4 0 R', '/Count 2'))));
    for (const password of ['', 'secret']) {
      const options = ['--object-streams=disable', '--encrypt', password, 'owner', '256', '--'];
      execFileSync('qpdf', [...options, plain, path]);
      const text = (await readFile(path, 'latin1')).replace(/startxref\n\d+/, 'startxref\n77');
      await writeFile(path, text, 'latin1');
      if (password === '') expect(await outputOf(pdfRotator, path)).toEqual(['One', 'Two']);
      else await expect(runTool(pdfRotator, [path])).rejects.toMatchObject({ code: 'password_required' });
    }
  }));
