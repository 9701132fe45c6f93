import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDiskStore } from './disk.ts';
import { describeFileStore } from './store.contract.ts';
import { storageError } from './store.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrun-disk-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describeFileStore('the disk', async () => createDiskStore({ root: join(root, 'contract') }));

describe('the disk store', () => {
  test('spreads runs by the end of their id, private to its user', async () => {
    const base = join(root, 'layout');
    const id = '0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1aFE';
    await createDiskStore({ root: base }).put(`runs/${id}/in/0`, Readable.from([Buffer.from('x')]));
    const file = join(base, 'runs', 'fe', id, 'in', '0');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    for (const directory of ['', 'runs', 'runs/fe', `runs/fe/${id}`, `runs/fe/${id}/in`]) {
      expect((await stat(join(base, directory))).mode & 0o777).toBe(0o700);
    }
  });

  test('leaves no temporary file behind, neither after success nor after failure', async () => {
    const base = join(root, 'temporary');
    const store = createDiskStore({ root: base });
    const id = randomUUID();
    await store.put(`runs/${id}/in/0`, Readable.from([Buffer.from('x')]));
    const failing = new Readable({ read() {} });
    const putting = store.put(`runs/${id}/in/1`, failing);
    failing.destroy(new Error('gone'));
    await expect(putting).rejects.toThrow('gone');
    await store.check();
    const entries = await readdir(base, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile()).map((entry) => entry.name)).toEqual(['0']);
  });

  test('a run removed while its upload comes in is not half there afterwards', async () => {
    const base = join(root, 'removed');
    const store = createDiskStore({ root: base });
    const id = randomUUID();
    const upload = new Readable({ read() {} });
    upload.push(Buffer.alloc(2_000_000));
    const putting = store.put(`runs/${id}/in/0`, upload);
    const settled = expect(putting).rejects.toMatchObject({ name: 'FileNotFound' });
    await expect.poll(() => readdir(join(base, 'runs', id.slice(-2), id, 'in')).catch(() => [])).toHaveLength(1);
    await store.removeAll(`runs/${id}`);
    upload.push(null);
    await settled;
    expect(await readdir(join(base, 'runs', id.slice(-2)))).toEqual([]);
  });

  test('stages on the same disk without copying', async () => {
    const store = createDiskStore({ root: join(root, 'staged') });
    const id = randomUUID();
    await store.put(`runs/${id}/in/0`, Readable.from([Buffer.from('x')]));
    await store.stage(`runs/${id}/in/0`, join(root, 'linked'));
    expect((await stat(join(root, 'linked'))).nlink).toBe(2);
  });

  test('a root that cannot be written is 503 storage_unavailable', async () => {
    await writeFile(join(root, 'a-file'), '');
    const store = createDiskStore({ root: join(root, 'a-file', 'below') });
    const unavailable = { status: 503, code: 'storage_unavailable' };
    await expect(store.check()).rejects.toMatchObject(unavailable);
    await expect(store.put(`runs/${randomUUID()}/in/0`, Readable.from([]))).rejects.toMatchObject(unavailable);
  });

  test('no room is 507 storage_full, and what was written is gone', async () => {
    const produced = join(root, 'too-large');
    await writeFile(produced, Buffer.alloc(2 * 1024 * 1024));
    const script = join(import.meta.dirname, '../../test/full-disk.ts');
    const limited = ['-c', 'ulimit -f 900 && exec "$@"', 'sh', process.execPath, script, join(root, 'full'), produced];
    expect(JSON.parse(execFileSync('sh', limited, { encoding: 'utf8' }))).toEqual({
      put: { status: 507, code: 'storage_full' },
      publish: { status: 507, code: 'storage_full' },
      small: { sizeBytes: 1 },
      filesLeft: 1,
      destroyed: true,
    });
  });

  test.each([
    ['ENOSPC', 507, 'storage_full'],
    ['EDQUOT', 507, 'storage_full'],
    ['EROFS', 503, 'storage_unavailable'],
    ['EIO', 503, 'storage_unavailable'],
    ['EMFILE', 503, 'storage_unavailable'],
  ])('%s is told as %i %s', (code, status, told) => {
    expect(storageError(Object.assign(new Error(code), { code }))).toMatchObject({ status, code: told });
  });

  test('a pipe an engine left is refused at once instead of waited for', async () => {
    const pipe = join(root, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const store = createDiskStore({ root: join(root, 'pipes') });
    await expect(store.publish(pipe, `runs/${randomUUID()}/out/1/0`)).rejects.toMatchObject({ code: 'engine_failed' });
  });

  test('takes, publishes and gives back at hundreds of MB a second', async () => {
    const store = createDiskStore({ root: join(root, 'speed') });
    const megabytes = 100;
    const chunk = randomBytes(65_536);
    async function* upload() {
      for (let n = 0; n < megabytes * 16; n++) yield chunk;
    }
    const run = `runs/${randomUUID()}`;
    const putMs = await timed(() => store.put(`${run}/in/0`, upload()));
    const path = join(root, 'engine-output');
    await store.stage(`${run}/in/0`, path);
    await store.removeAll(run);
    const publishMs = await timed(async () => {
      const { sha256 } = await store.publish(path, `${run}/out/1/0`);
      const hash = createHash('sha256');
      const readMs = await timed(async () => pipeline(await store.read(`${run}/out/1/0`), hash));
      expect(hash.digest('hex')).toBe(sha256);
      expect(readMs).toBeLessThan(2000);
    });
    // The real figures are several times better; this only fails for a mistake such as a write for every chunk of 1 kB.
    expect(putMs).toBeLessThan(5000);
    expect(publishMs).toBeLessThan(6000);
  });
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
