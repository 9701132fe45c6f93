import { EventEmitter } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { withTemporaryDirectory } from '../../test/temporary.ts';
import { systemClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';
import type { SandboxedProcess, SandboxExit } from '../sandbox/process-tree.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createHostPool, type HostPool } from './hosts.ts';

afterEach(() => vi.useRealTimers());

/** A host program that is ready at once and, unless it is told otherwise, never says another word. */
function createSilentProcess(answer: (message: { kind: string }) => object | undefined = () => undefined) {
  const { promise: exited, resolve } = Promise.withResolvers<SandboxExit>();
  const child = new EventEmitter();
  const send = (message: { kind: string }) => {
    const reply = answer(message);
    if (reply !== undefined) setImmediate(() => child.emit('message', reply));
  };
  setImmediate(() => child.emit('message', { kind: 'ready' }));
  const kill = vi.fn(() => resolve({ code: null, signal: 'SIGKILL', started: true }));
  return { child: Object.assign(child, { send }), kill, exited } as unknown as SandboxedProcess & { kill: typeof kill };
}

function createPool(workDirectory: string, launch: Sandbox['launch']): HostPool {
  const limits = { memoryBytes: 1, fileBytes: 1, openFiles: 1, processes: 1, temporaryBytes: 1 };
  const sandbox: Sandbox = { level: 'none', detail: '', pathInside: ({ from }) => from, launch };
  const log = createLog('silent');
  return createHostPool({ sandbox, limits, workDirectory, maxIdle: 1, isolation: 'account', clock: systemClock, log });
}

test('a sandbox that cannot be launched fails the run that wants a host, and nothing else', async () => {
  await withTemporaryDirectory(async (directory) => {
    const pool = createPool(directory, () => {
      throw new Error('no room');
    });
    await expect(pool.acquire('account', [])).rejects.toThrow('no room');
    await pool.close();
  });
});

test('a work directory that cannot be made fails the run that wants a host, and nothing else', async () => {
  await withTemporaryDirectory(async (directory) => {
    await writeFile(join(directory, 'work'), 'a file is in the way');
    const launch = vi.fn(() => createSilentProcess());
    const pool = createPool(join(directory, 'work'), launch);
    await expect(pool.acquire('account', [])).rejects.toThrow('ENOTDIR');
    expect(launch).not.toHaveBeenCalled();
    await pool.close();
  });
});

test('closing waits for no host that was just about to be launched', async () => {
  await withTemporaryDirectory(async (directory) => {
    const launch = vi.fn(() => createSilentProcess());
    await createPool(directory, launch).close();
    expect(launch).not.toHaveBeenCalled();
    await vi.waitFor(async () => expect(await readdir(directory)).toEqual([]));
  });
});

test('a host that does not tidy up when it is told to is killed', async () => {
  await withTemporaryDirectory(async (directory) => {
    const launched: ReturnType<typeof createSilentProcess>[] = [];
    const pool = createPool(directory, () => {
      const started = createSilentProcess();
      launched.push(started);
      return started;
    });
    const host = await pool.acquire('account', []);
    vi.useFakeTimers();
    const cleaned = host.clean('/run/out/1');
    await vi.advanceTimersByTimeAsync(60_000);
    await cleaned;
    expect(launched[0]?.kill).toHaveBeenCalled();
    vi.useRealTimers();
    await pool.close();
  });
});

test('a host that has tidied up stays', async () => {
  await withTemporaryDirectory(async (directory) => {
    const launched: ReturnType<typeof createSilentProcess>[] = [];
    const pool = createPool(directory, () => {
      const started = createSilentProcess(({ kind }) => (kind === 'clean' ? { kind: 'cleaned' } : undefined));
      launched.push(started);
      return started;
    });
    const host = await pool.acquire('account', []);
    await host.clean('/run/out/1');
    pool.release(host, true);
    expect(launched[0]?.kill).not.toHaveBeenCalled();
    expect(await pool.acquire('account', [])).toBe(host);
    await pool.close();
  });
});
