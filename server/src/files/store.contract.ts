import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleLength } from './content-sample.ts';
import { FileNotFound, type FileStore } from './store.ts';

/** What every driver of `FileStore` promises. `open` is called once; `close` gets what it made. */
export function describeFileStore(name: string, open: () => Promise<FileStore>): void {
  describe(`${name} keeps the contract of FileStore`, () => {
    let store: FileStore;
    let directory: string;
    beforeAll(async () => {
      store = await open();
      directory = await mkdtemp(join(tmpdir(), 'millrun-store-contract-'));
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));

    const newRun = () => `runs/${randomUUID()}`;
    const source = (...chunks: (string | Uint8Array)[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
    const contentOf = async (key: string, range?: { start: number; end: number }) =>
      buffer(await store.read(key, range));
    async function produced(content: string | Uint8Array): Promise<string> {
      const path = join(directory, randomUUID());
      await writeFile(path, content);
      return path;
    }

    test('gives back what was put', async () => {
      const key = `${newRun()}/in/0`;
      expect(await store.put(key, source('one ', 'two'))).toEqual({ sizeBytes: 7 });
      expect((await contentOf(key)).toString()).toBe('one two');
      expect(await store.size(key)).toBe(7);
    });

    test('keeps an empty file', async () => {
      const key = `${newRun()}/in/0`;
      expect(await store.put(key, source())).toEqual({ sizeBytes: 0 });
      expect(await store.size(key)).toBe(0);
      expect(await contentOf(key)).toHaveLength(0);
    });

    test('keeps a large file in order, from chunks of any length', async () => {
      const key = `${newRun()}/in/0`;
      const content = randomBytes(12_345_678);
      async function* chunks() {
        for (let at = 0, length = 1; at < content.length; at += length, length = ((length * 7) % 300_007) + 1) {
          yield content.subarray(at, at + length);
        }
      }
      expect(await store.put(key, chunks())).toEqual({ sizeBytes: content.length });
      expect((await contentOf(key)).equals(content)).toBe(true);
    });

    test.each([
      [0, 0, '0'],
      [3, 5, '345'],
      [9, 9, '9'],
      [8, 500, '89'],
    ])('reads the bytes %i to %i', async (start, end, expected) => {
      const key = `${newRun()}/in/0`;
      await store.put(key, source('0123456789'));
      expect((await contentOf(key, { start, end })).toString()).toBe(expected);
    });

    test('what is not there: FileNotFound, and no size', async () => {
      const key = `${newRun()}/in/0`;
      await expect(store.read(key)).rejects.toThrow(FileNotFound);
      await expect(store.stage(key, join(directory, randomUUID()))).rejects.toThrow(FileNotFound);
      expect(await store.size(key)).toBeUndefined();
    });

    test('shows nothing of a file before it is whole', async () => {
      const key = `${newRun()}/in/0`;
      const rest = Promise.withResolvers<void>();
      async function* slowly() {
        yield Buffer.alloc(3_000_000);
        await rest.promise;
        yield Buffer.from('end');
      }
      const putting = store.put(key, slowly());
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await store.size(key)).toBeUndefined();
      await expect(store.read(key)).rejects.toThrow(FileNotFound);
      rest.resolve();
      await putting;
      expect(await store.size(key)).toBe(3_000_003);
    });

    test('a source that fails leaves nothing and its error is thrown as it is, whatever its code', async () => {
      const key = `${newRun()}/in/0`;
      const broken = Object.assign(new Error('the upload broke off'), { code: 'ENOENT' });
      async function* failing() {
        yield Buffer.alloc(2_000_000);
        throw broken;
      }
      await expect(store.put(key, failing())).rejects.toBe(broken);
      expect(await store.size(key)).toBeUndefined();
    });

    test('a destroyed stream leaves nothing', async () => {
      const key = `${newRun()}/in/0`;
      const stream = new Readable({ read() {} });
      stream.push('half');
      const putting = store.put(key, stream);
      stream.destroy(new Error('aborted'));
      await expect(putting).rejects.toThrow('aborted');
      expect(await store.size(key)).toBeUndefined();
    });

    test('putting again replaces the whole file', async () => {
      const key = `${newRun()}/in/0`;
      await store.put(key, source('a long first version'));
      await store.put(key, source('second'));
      expect((await contentOf(key)).toString()).toBe('second');
    });

    test('keeps many files at once apart', async () => {
      const run = newRun();
      await Promise.all(Array.from({ length: 30 }, (_, n) => store.put(`${run}/in/${n}`, source(`file ${n}`))));
      const contents = await Promise.all(Array.from({ length: 30 }, (_, n) => contentOf(`${run}/in/${n}`)));
      expect(contents.map(String)).toEqual(Array.from({ length: 30 }, (_, n) => `file ${n}`));
    });

    test('stages a file at a local path', async () => {
      const key = `${newRun()}/in/0`;
      await store.put(key, source('staged'));
      const path = join(directory, randomUUID());
      await store.stage(key, path);
      expect(await readFile(path, 'utf8')).toBe('staged');
      await rm(path);
      expect((await contentOf(key)).toString()).toBe('staged');
    });

    test.each([0, 5, sampleLength, sampleLength + 1, 3_500_000])('publishes a file of %i bytes', async (length) => {
      const content = randomBytes(length);
      const key = `${newRun()}/out/1/0`;
      const published = await store.publish(await produced(content), key);
      expect(published.sizeBytes).toBe(length);
      expect(published.sha256).toBe(createHash('sha256').update(content).digest('hex'));
      expect(published.sample.size).toBe(length);
      expect(published.sample.head.equals(content.subarray(0, sampleLength))).toBe(true);
      expect(published.sample.tail.equals(content.subarray(-sampleLength))).toBe(true);
      expect((await contentOf(key)).equals(content)).toBe(true);
    });

    test('what is published is a copy: writing to the original later changes nothing', async () => {
      const key = `${newRun()}/out/1/0`;
      const path = await produced('as checked');
      await store.publish(path, key);
      await writeFile(path, 'as changed');
      expect((await contentOf(key)).toString()).toBe('as checked');
    });

    test.each(['a symbolic link', 'a hard link', 'a directory', 'nothing'])('does not publish %s', async (kind) => {
      const path = join(directory, randomUUID());
      const secret = await produced('a secret of the host');
      if (kind === 'a symbolic link') await symlink(secret, path);
      if (kind === 'a hard link') await link(secret, path);
      if (kind === 'a directory') await mkdir(path);
      const key = `${newRun()}/out/1/0`;
      await expect(store.publish(path, key)).rejects.toMatchObject({ name: 'Failure', code: 'engine_failed' });
      expect(await store.size(key)).toBeUndefined();
    });

    test('removes a prefix by whole segments, and nothing beside it', async () => {
      const run = newRun();
      for (const part of ['in/0', 'out/1/0', 'out/1/1', 'out/10/0']) await store.put(`${run}/${part}`, source(part));
      await store.removeAll(`${run}/out/1`);
      expect(await store.size(`${run}/out/1/0`)).toBeUndefined();
      expect(await store.size(`${run}/out/10/0`)).toBe(8);
      await store.removeAll(run);
      for (const part of ['in/0', 'out/10/0']) expect(await store.size(`${run}/${part}`)).toBeUndefined();
      await store.removeAll(run);
    });

    test('lists what was last added to before a time', async () => {
      const run = newRun();
      await store.put(`${run}/in/0`, source('x'));
      const minute = 60_000;
      const now = performance.timeOrigin + performance.now();
      expect(await Array.fromAsync(store.list('runs', new Date(now + minute)))).toContain(run);
      expect(await Array.fromAsync(store.list('runs', new Date(now - minute)))).not.toContain(run);
      await store.removeAll(run);
      expect(await Array.fromAsync(store.list('runs', new Date(now + minute)))).not.toContain(run);
      expect(await Array.fromAsync(store.list('never', new Date(now)))).toEqual([]);
    });

    test('is ready', async () => {
      await store.check();
      expect((await store.freeBytes()) ?? Infinity).toBeGreaterThan(0);
    });

    const id = randomUUID();
    test.each([
      '',
      'runs',
      `runs/${id}`,
      `/runs/${id}/in/0`,
      `runs/${id}/in/..`,
      `runs/${id}/../../x`,
      `runs/../${id}/0`,
    ])('refuses the key %j', async (key) => {
      await expect(store.put(key, source('x'))).rejects.toThrow('key');
      await expect(store.read(key)).rejects.toThrow('key');
      await expect(store.size(key)).rejects.toThrow('key');
      await expect(store.publish(await produced('x'), key)).rejects.toThrow('key');
    });

    test.each([
      '',
      'runs',
      'runs/',
      '..',
      `runs/${id}/..`,
      'runs/.',
      `runs//${id}`,
      `runs/${id}/`,
      `runs/${id}/a\0b`,
      `runs/${id}/a\\b`,
    ])('refuses to remove %j', async (prefix) => {
      await expect(store.removeAll(prefix)).rejects.toThrow('key');
    });
  });
}
