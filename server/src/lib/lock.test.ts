import { spawnSync } from 'node:child_process';
import { stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../test/temporary.ts';
import { holdLock } from './lock.ts';

/** A socket that nobody listens on any more, as a kill -9 leaves it. */
function leaveDeadSocket(path: string): void {
  const program = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  expect(spawnSync(process.execPath, ['-e', program, path]).signal).toBe('SIGKILL');
}

test('one holds it until it lets go', async () => {
  await withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'run', 'lock.sock');
    const letGo = await holdLock(path);
    expect(letGo).toBeDefined();
    expect(await holdLock(path)).toBeUndefined();
    await letGo?.();
    await expect(stat(path)).rejects.toThrow('ENOENT');
    const again = await holdLock(path);
    expect(again).toBeDefined();
    await again?.();
  });
});

test('another path to the same place leads to the same holder', async () => {
  await withTemporaryDirectory(async (directory) => {
    const letGo = await holdLock(join(directory, 'run', 'lock.sock'));
    await symlink(join(directory, 'run'), join(directory, 'link'));
    expect(await holdLock(join(directory, 'link', 'lock.sock'))).toBeUndefined();
    await letGo?.();
  });
});

test('what a killed process left goes to one of all who want it at the same moment', async () => {
  await withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'lock.sock');
    for (let round = 0; round < 10; round++) {
      leaveDeadSocket(path);
      const tries = await Promise.all(Array.from({ length: 5 }, () => holdLock(path)));
      const held = tries.filter((letGo) => letGo !== undefined);
      expect(held).toHaveLength(1);
      for (const letGo of held) await letGo();
    }
  });
});

test('a path that is too long for a socket can be held all the same', async () => {
  await withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'a-name-of-some-length/'.repeat(6), 'lock.sock');
    const letGo = await holdLock(path);
    expect(letGo).toBeDefined();
    expect(await holdLock(path)).toBeUndefined();
    await letGo?.();
    const again = await holdLock(path);
    expect(again).toBeDefined();
    await again?.();
  });
});
