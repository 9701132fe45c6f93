import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import {
  bookmarks,
  difference,
  formFields,
  labels,
  pdfFixture,
  popplerText,
  qpdfCheck,
  qpdfText,
  renderAll,
} from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-merger.ts';

async function merge<T>(
  files: Parameters<typeof runTool>[1],
  form: Record<string, string>,
  look: (path: string, filename: string) => T | Promise<T>,
): Promise<T> {
  await using run = await runTool(tool, files, form);
  const [output] = run.outputs;
  if (run.outputs.length !== 1 || output === undefined) throw new Error('expected one output');
  expect(output.type).toBe('pdf');
  expect(qpdfCheck(output.path)).toContain('No syntax or stream encoding errors');
  // Awaited here: the outputs are gone when this function returns.
  return await look(output.path, output.filename);
}

describe('pdf-merger', { timeout: 60_000 }, () => {
  test('keeps the files that whole documents carry', async () => {
    await withTemporaryDirectory(async (directory) => {
      const notes = join(directory, 'notes.txt');
      await writeFile(notes, 'carried along');
      const carrying = join(directory, 'carrying.pdf');
      const attach = ['--add-attachment', notes, '--key=notes.txt', '--'];
      execFileSync('qpdf', [pdfFixture('three-pages'), carrying, ...attach]);
      await merge([carrying, carrying], { page_ranges: '["","1"]' }, (path) => {
        expect(execFileSync('pdfdetach', ['-list', path], { encoding: 'utf8' })).toContain('1 embedded files');
        expect(execFileSync('qpdf', ['--show-attachment=notes.txt', path], { encoding: 'utf8' })).toBe('carried along');
      });
      await merge([carrying, carrying], {}, (path) => {
        expect(execFileSync('pdfdetach', ['-list', path], { encoding: 'utf8' })).toContain('2 embedded files');
      });
    });
  });

  test('keeps the order of the files, and a file that comes twice', async () => {
    const files = ['twelve-pages', 'three-pages', 'three-pages'].map(pdfFixture);
    const three = ['Alpha 1', 'Alpha 2', 'Alpha 3'];
    await merge(files, { page_ranges: '{"0":"12,1"}' }, (path, filename) => {
      expect(filename).toBe('twelve-pages-merged.pdf');
      expect(popplerText(path)).toEqual(['Number 12', 'Number 1', ...three, ...three]);
    });
  });

  test('has a bookmark a file, with its own below and their destinations on the right page', async () => {
    await merge([pdfFixture('three-pages'), pdfFixture('outline')], {}, (path) => {
      expect(bookmarks(path)).toEqual([
        ['three-pages', 1, []],
        [
          'outline',
          4,
          [
            ['One', 4, [['One, part two', 5, []]]],
            ['Three …€', 6, []],
          ],
        ],
      ]);
    });
  });

  test('without bookmarks keeps those of the files only', async () => {
    await merge([pdfFixture('three-pages'), pdfFixture('outline')], { bookmarks: 'false' }, (path) => {
      expect(bookmarks(path).map(([title]) => title)).toEqual(['One', 'Three …€']);
    });
  });

  test('links lead to their page in the merged file, also those by name', async () => {
    await merge([pdfFixture('three-pages'), pdfFixture('outline')], {}, (path) => {
      const text = qpdfText(path);
      const page = (n: number) =>
        new RegExp(`%% Page ${n}\\n%% Original object ID: [^\\n]+\\n(\\d+) 0 obj`).exec(text)?.[1];
      expect(text).toMatch(new RegExp(`/D \\[\\s+${page(6)} 0 R\\s+/FitH`));
      expect(text).toMatch(new RegExp(`/Dest \\[\\s+${page(4)} 0 R\\s+/Fit`));
      expect(text).toContain('https://example.com/');
      expect(text).not.toContain('app.alert');
    });
  });

  test('labels pages as their files do', async () => {
    await merge([pdfFixture('three-pages'), pdfFixture('outline')], {}, (path) => {
      expect(labels(path).map((label) => [label?.['/S'], label?.['/P'], label?.['/St'] ?? 1])).toEqual([
        ...[1, 2, 3].map((n) => ['/D', undefined, n]),
        ...[1, 2].map((n) => ['/r', undefined, n]),
        ...[1, 2].map((n) => ['/D', 'A-', n]),
      ]);
    });
  });

  test('keeps form fields with their values and makes clashing names unique', async () => {
    await merge([pdfFixture('form'), pdfFixture('three-pages'), pdfFixture('form')], {}, (path) => {
      expect(formFields(path)).toEqual([
        ['person.name', 'Ada', 1],
        ['agree', '/Yes', 1],
        ['note', 'Second page', 2],
        ['person-1.name', 'Ada', 6],
        ['agree-1', '/Yes', 6],
        ['note-1', 'Second page', 7],
      ]);
    });
  });

  test('a page that is asked for twice has fields of its own', async () => {
    const form = { page_ranges: '{"form.pdf":"2,2"}' };
    await merge([pdfFixture('form'), pdfFixture('three-pages')], form, (path) => {
      expect(formFields(path)).toEqual([
        ['note', 'Second page', 1],
        ['note-1', 'Second page', 2],
      ]);
    });
  });

  test('looks like its parts: pages of every size and turn, hidden layers hidden, fields filled', async () => {
    const names = ['mixed-sizes', 'layers', 'form', 'images'];
    const parts = (await Promise.all(names.map((name) => renderAll(pdfFixture(name))))).flat();
    await merge(names.map(pdfFixture), {}, async (path) => {
      const pages = await renderAll(path);
      expect(pages).toHaveLength(parts.length);
      for (const [index, page] of pages.entries()) expect(difference(page, parts[index])).toBeLessThan(0.01);
    });
  });

  test('gives the same bytes for the same files', async () => {
    const files = ['outline', 'form'].map(pdfFixture);
    const [first, second] = [
      await merge(files, {}, (path) => readFile(path)),
      await merge(files, {}, (path) => readFile(path)),
    ];
    expect(first.equals(second)).toBe(true);
  });

  test('images become pages of their own size and colours', async () => {
    await withTemporaryDirectory(async (directory) => {
      const red = sharp({ create: { width: 192, height: 96, channels: 3, background: '#e02020' } });
      const files = {
        'a.jpg': await red.clone().jpeg().toBuffer(),
        'b.png': await sharp({
          create: { width: 96, height: 96, channels: 4, background: { r: 0, g: 0, b: 255, alpha: 0.5 } },
        })
          .png()
          .toBuffer(),
        'c.webp': await red.clone().webp().toBuffer(),
        'd.tiff': await red.clone().withMetadata({ density: 192 }).tiff().toBuffer(),
        'e.jpg': await red.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
      };
      const paths = [];
      for (const [name, bytes] of Object.entries(files)) {
        await writeFile(join(directory, name), bytes);
        paths.push(join(directory, name));
      }
      await merge(paths, {}, async (path) => {
        expect(
          qpdfText(path)
            .match(/\/MediaBox \[[^\]]+\]/g)
            ?.map((box) => box.match(/\d+/g)?.map(Number)),
        ).toEqual([
          [0, 0, 192, 96], // A JPEG says 72 dpi unless told otherwise.
          [0, 0, 72, 72],
          [0, 0, 144, 72],
          [0, 0, 72, 36],
          [0, 0, 72, 144],
        ]);
        const colors = (await renderAll(path)).map((pixels) => [...pixels.subarray(900, 903)]);
        for (const index of [0, 2, 3, 4]) {
          expect(Math.abs((colors[index]?.[0] ?? 0) - 0xe0)).toBeLessThan(4);
          expect(Math.abs((colors[index]?.[1] ?? 0) - 0x20)).toBeLessThan(4);
        }
        expect(colors[1]).toEqual([127, 127, 255]);
      });
    });
  });

  test('opens encrypted files with a password by name, by position or in a list', async () => {
    const files = [pdfFixture('three-pages'), pdfFixture('locked')];
    for (const passwords of ['{"locked.pdf":"secret"}', '{"1":"secret"}', '[null,"secret"]']) {
      await merge(files, { passwords }, (path) => expect(popplerText(path)).toHaveLength(6));
    }
  });

  test('names the file whose password is missing or wrong', async () => {
    const files = [pdfFixture('three-pages'), pdfFixture('locked')];
    await expect(runTool(tool, files)).rejects.toMatchObject({
      code: 'password_required',
      file: 'locked.pdf',
      message: 'locked.pdf needs a password.',
    });
    await expect(runTool(tool, files, { passwords: '{"1":"no"}' })).rejects.toMatchObject({
      code: 'password_required',
      message: 'The password for locked.pdf is wrong.',
    });
  });

  test('a file that only its owner restricts opens, and the result is not encrypted', async () => {
    await merge([pdfFixture('owner-only'), pdfFixture('three-pages')], {}, (path) => {
      expect(popplerText(path)).toHaveLength(7);
      expect(qpdfCheck(path)).toContain('File is not encrypted');
    });
  });

  test.each([
    [{ page_ranges: '{"nofile.pdf":"1"}' }, /neither the name of a file/],
    [{ page_ranges: '{"0":"x"}' }, /is not a page or a range/],
    [{ page_ranges: '[1]' }, /must be a text/],
    [{ passwords: '"a"' }, /must be a JSON list or object/],
    [{ page_ranges: '{"__proto__":"1"}' }, /neither the name of a file/],
  ])('refuses %o before the run', async (form, message) => {
    const files = [pdfFixture('three-pages'), pdfFixture('outline')];
    await expect(runTool(tool, files, form as Record<string, string>)).rejects.toThrow(message);
  });

  test('refuses a page the file does not have', async () => {
    const files = [pdfFixture('three-pages'), pdfFixture('outline')];
    await expect(runTool(tool, files, { page_ranges: '{"0":"2-4"}' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'There is no page "2-4": three-pages.pdf has 3 pages.',
    });
  });

  test.each([
    ['kids-loop', 'invalid_input', /page tree has a loop/],
    ['zero-pages', 'invalid_input', /no pages could be read/],
    ['many-pages', 'resource_limit', /more than 20000 pages/],
    ['unknown-encryption', 'invalid_input', /encrypted in a way/],
    ['cut-in-half', 'invalid_input', /content of page 1 is missing/],
  ])('%s fails clearly', async (name, code, message) => {
    const files = [pdfFixture('three-pages'), pdfFixture(name)];
    await expect(runTool(tool, files)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test.each(['truncated', 'bad-xref'])('%s is read as far as it goes', async (name) => {
    await merge([pdfFixture('three-pages'), pdfFixture(name)], {}, (path) => {
      expect(popplerText(path).slice(3)).toEqual([1, 2, 3, 4].map((n) => `Chapter page ${n}`));
    });
  });

  test('a flate bomb in a page is not unpacked', async () => {
    const before = process.memoryUsage().rss;
    await merge([pdfFixture('three-pages'), pdfFixture('flate-bomb')], {}, () => undefined);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});
