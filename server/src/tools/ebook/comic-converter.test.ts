import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { bsdtar } from '../../engines/archive-reading/read-archive.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import comicConverter from './comic-converter.ts';

const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

/** Red, green and blue in the order people count; blue would come second by letters. */
const pages = { 'page 1.png': '#f00', 'page 2.png': '#0f0', 'page 10.png': '#00f' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-comic-'));
  for (const [name, background] of Object.entries(pages)) {
    await sharp({ create: { width: 300, height: 400, channels: 3, background } }).toFile(file(name));
  }
  const names = Object.keys(pages).toReversed();
  await run('7zz', ['a', '-tzip', 'comic.cbz', ...names], { cwd: folder });
  await run('7zz', ['a', '-t7z', 'comic.cb7', ...names], { cwd: folder });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** The colour of each picture. */
async function colours(paths: string[]): Promise<string[]> {
  const names = ['red', 'green', 'blue'];
  return await Promise.all(
    paths.map(async (path) => {
      const { channels } = await sharp(path).stats();
      const means = channels.slice(0, 3).map(({ mean }) => mean);
      return names[means.indexOf(Math.max(...means))]!;
    }),
  );
}

test.each(['comic.cbz', 'comic.cb7'])('writes the pages of %s in order and no higher than asked', async (name) => {
  await using result = await runTool(comicConverter, [file(name)], { max_height: '200' });
  const [{ path, filename }] = result.outputs as unknown as [{ path: string; filename: string }];
  expect(filename).toBe('comic.cbz');
  const target = await mkdtemp(join(folder, 'out-'));
  await run('unzip', ['-q', path, '-d', target]);
  const written = [1, 2, 3].map((number) => join(target, `page-000${number}.jpg`));
  expect(await colours(written)).toEqual(['red', 'green', 'blue']);
  expect(await sharp(written[0]).metadata()).toMatchObject({ width: 150, height: 200, format: 'jpeg' });
});

test('writes PDF, and reads it again', async () => {
  await using pdf = await runTool(comicConverter, [file('comic.cbz')], { format: 'pdf' });
  const { path } = pdf.outputs[0]!;
  await run('pdftoppm', ['-r', '20', '-png', path, file('shown')]);
  expect(await colours([1, 2, 3].map((number) => file(`shown-${number}.png`)))).toEqual(['red', 'green', 'blue']);
  await using again = await runTool(comicConverter, [path], { format: 'cbz', max_height: '300' });
  expect((await run('unzip', ['-l', again.outputs[0]!.path])).stdout.match(/page-\d+\.jpg/g)).toHaveLength(3);
});

test('writes an EPUB of a fixed layout', async () => {
  await using result = await runTool(comicConverter, [file('comic.cbz')], { format: 'epub' });
  expect(result.outputs[0]!.type).toBe('epub');
  const { stdout } = await run('unzip', ['-p', result.outputs[0]!.path, 'OEBPS/content.opf']);
  expect(stdout).toContain('pre-paginated');
  expect(stdout.match(/<itemref/g)).toHaveLength(3);
});

test('refuses a book without pictures and one with a broken picture', async () => {
  await writeFile(file('notes.txt'), 'x');
  await writeFile(file('broken.png'), 'not a picture');
  await run('7zz', ['a', '-tzip', 'empty.cbz', 'notes.txt'], { cwd: folder });
  await run('7zz', ['a', '-tzip', 'broken.cbz', 'page 1.png', 'broken.png'], { cwd: folder });
  for (const name of ['empty.cbz', 'broken.cbz']) {
    await expect(runTool(comicConverter, [file(name)]), name).rejects.toMatchObject({
      code: 'invalid_input',
      file: name,
    });
  }
});

test('both programs that open 7z are asked for', () => {
  const values = { format: 'cbz', quality: 85, max_height: 2000 } as const;
  for (const type of ['cb7', '7z'] as const) {
    expect(comicConverter.enginesFor?.(values, [{ filename: 'x', type, sizeBytes: 1 }])).toEqual([bsdtar, sevenZip]);
  }
  expect(comicConverter.enginesFor?.(values, [{ filename: 'x', type: 'cbr', sizeBytes: 1 }])).toEqual([bsdtar]);
});
