import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import archiveCreator from './archive-creator.ts';

const version = await sevenZip.version();
if (version === undefined)
  console.warn(`SKIPPED: archives checked with 7-Zip, because it is missing: ${sevenZip.install}`);

const execute = promisify(execFile);
let folder: string;
const text = 'Grüße aus der Datei. '.repeat(3000);

type Given = { path: string; filename: string };
let files: Given[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-archive-'));
  const content = { a: text, b: 'second', empty: '' };
  for (const [name, bytes] of Object.entries(content)) await writeFile(join(folder, name), bytes);
  const named = (path: string, filename: string): Given => ({ path: join(folder, path), filename });
  files = [
    named('a', 'Übersicht – 漢字 🎉.txt'),
    named('b', 'same.txt'),
    named('empty', 'SAME.txt'),
    named('b', '@list.txt'),
  ];
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const names = ['Übersicht – 漢字 🎉.txt', 'same.txt', 'SAME-1.txt', '@list.txt'];

/** What 7-Zip, a program of other people, finds in an archive after testing every checksum. */
async function inspect(path: string, password?: string) {
  const secret = [`-p${password ?? ''}`];
  await execute('7zz', ['t', ...secret, path]);
  const { stdout } = await execute('7zz', ['l', '-slt', ...secret, path]);
  return stdout
    .split(/\n-{10}\n/)
    .at(-1)!
    .split('\n\n')
    .map((block) =>
      Object.fromEntries([...block.matchAll(/^(\w[\w ]*) = (.*)$/gm)].map(([, key, value]) => [key!, value!])),
    )
    .filter((entry) => entry['Path'] !== undefined);
}

async function extract(path: string, name: string, password = ''): Promise<string> {
  const { stdout } = await execute('7zz', ['x', '-so', `-p${password}`, path, name], { encoding: 'utf8' });
  return stdout;
}

describe.skipIf(version === undefined)('archive-creator, read back with 7-Zip', () => {
  test.each(['zip', 'tar', '7z'])('%s keeps names, clashes and content', async (format) => {
    await using result = await runTool(archiveCreator, files, { format });
    const [output] = result.outputs;
    expect(output).toMatchObject({ filename: `archive.${format}`, type: format });
    const entries = await inspect(output!.path);
    expect(entries.map((entry) => entry['Path']).toSorted()).toEqual(names.toSorted());
    expect(await extract(output!.path, names[0]!)).toBe(text);
    expect(entries.find((entry) => entry['Path'] === 'SAME-1.txt')!['Size']).toBe('0');
  });

  test.each([
    ['tar.gz', 'gz'],
    ['tar.xz', 'xz'],
    ['tar.zst', 'zst'],
  ])('%s is a TAR in its compression', async (format, type) => {
    await using result = await runTool(archiveCreator, files, { format, name: 'Meine Dateien' });
    const [output] = result.outputs;
    expect(output).toMatchObject({ filename: `Meine Dateien.${format}`, type });
    expect(output!.sizeBytes).toBeLessThan(text.length / 10);
    const tar = join(folder, 'inner.tar');
    const { stdout } = await execute(
      '7zz',
      ['x', '-so', `-t${type === 'gz' ? 'gzip' : type === 'zst' ? 'zstd' : type}`, output!.path],
      {
        encoding: 'buffer',
        maxBuffer: 1e8,
      },
    );
    await writeFile(tar, stdout);
    expect((await inspect(tar)).map((entry) => entry['Path'])).toEqual(names);
    expect(await extract(tar, names[0]!)).toBe(text);
  });

  test('a ZIP with a password is AES-256 in every file with content', async () => {
    await using result = await runTool(archiveCreator, files, { password: 'pä ss"1' });
    const { path } = result.outputs[0]!;
    const entries = await inspect(path, 'pä ss"1');
    const methods = entries.filter((entry) => entry['Size'] !== '0').map((entry) => entry['Method']);
    expect(methods).toHaveLength(3);
    for (const method of methods) expect(method).toContain('AES-256');
    expect(await extract(path, names[0]!, 'pä ss"1')).toBe(text);
    await expect(execute('7zz', ['t', '-pwrong', path])).rejects.toThrow('Wrong password');
  });

  test('a 7z with a password hides its names', async () => {
    await using result = await runTool(archiveCreator, files, { format: '7z', password: 'geheim' });
    const { path } = result.outputs[0]!;
    await expect(execute('7zz', ['l', '-pwrong', path])).rejects.toThrow('Wrong password');
    expect((await inspect(path, 'geheim')).map((entry) => entry['Path']).toSorted()).toEqual(names.toSorted());
  });

  test.each(['zip', 'tar.gz', 'tar.xz', 'tar.zst', '7z'])('level 9 of %s is smaller than level 0', async (format) => {
    const source = join(folder, 'log');
    // Half of every byte is redundant, and everything is said three times, far apart.
    const block = randomBytes(400_000).toString('hex');
    await writeFile(source, block.repeat(3));
    await using stored = await runTool(archiveCreator, [source], { format, level: '0' });
    await using packed = await runTool(archiveCreator, [source], { format, level: '9' });
    expect(packed.outputs[0]!.sizeBytes).toBeLessThan(stored.outputs[0]!.sizeBytes * 0.95);
    await inspect(packed.outputs[0]!.path);
  });
});

test('the same files make the same ZIP', async () => {
  await using first = await runTool(archiveCreator, files);
  await using second = await runTool(archiveCreator, files);
  expect(await readFile(first.outputs[0]!.path)).toEqual(await readFile(second.outputs[0]!.path));
});

test('streams a large file and says how far it is', async () => {
  const path = join(folder, 'large');
  await writeFile(path, Buffer.alloc(300 * 1024 * 1024));
  const before = process.memoryUsage.rss();
  await using result = await runTool(archiveCreator, [path], { format: 'tar', level: '1' });
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  expect((await stat(result.outputs[0]!.path)).size).toBeGreaterThan(300 * 1024 * 1024);
  expect(result.progress.length).toBeGreaterThan(0);
  await rm(path);
});

test('refuses a password where the format has none', async () => {
  await expect(runTool(archiveCreator, files, { format: 'tar.gz', password: 'x' })).rejects.toThrow('choose zip or 7z');
});

test.each(['../up', 'a/b', '.hidden', '-rf', 'a\\b'])('refuses %j as a name', async (name) => {
  await expect(runTool(archiveCreator, files, { name })).rejects.toThrow('must be a file name');
});

test('does not double an extension', async () => {
  await using result = await runTool(archiveCreator, files, { name: 'photos.ZIP' });
  expect(result.outputs[0]!.filename).toBe('photos.zip');
});

test('only 7z and tar.xz need 7-Zip', () => {
  const needs = (format: 'zip' | 'tar.zst' | 'tar.xz' | '7z') =>
    archiveCreator.enginesFor!({ format, level: 6, password: undefined, name: 'a' }, []).length;
  expect([needs('zip'), needs('tar.zst'), needs('tar.xz'), needs('7z')]).toEqual([0, 0, 1, 1]);
});

test.each(['zip', 'tar.gz', 'tar.xz', '7z'])('an abort stops %s', async (format) => {
  const path = join(folder, 'long');
  await writeFile(path, Buffer.alloc(200 * 1024 * 1024, 'abc7'));
  const started = performance.now();
  await expect(runTool(archiveCreator, [path], { format, level: '9' }, AbortSignal.timeout(60))).rejects.toThrow();
  expect(performance.now() - started).toBeLessThan(2000);
});
