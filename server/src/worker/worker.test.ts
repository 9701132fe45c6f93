import { EventEmitter } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { withTemporaryDirectory } from '../../test/temporary.ts';
import type { Database } from '../db/database.ts';
import type { FileStore } from '../files/store.ts';
import { systemClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';
import { channels } from '../runs/events.ts';
import type { ClaimedRun, Runs } from '../runs/runs.ts';
import type { Workers } from '../runs/workers.ts';
import type { Tool } from '../tools/define.ts';
import type { Host, HostPool } from './hosts.ts';
import { startWorker, type Worker } from './worker.ts';

type Attempts = { id: string; attempt: number }[];

/** A worker whose surroundings do as they are told: its hosts work for ever unless they are killed. */
interface Stage {
  worker: Worker;
  /** Gives it a run at its next look. */
  offer(id: string, attempt: number): void;
  /** Lets claims take until something has happened. */
  delayClaims(until: Promise<void>): void;
  /** What the database believes the worker has; asked once a second. */
  believe(answer: () => Attempts | Promise<Attempts>): void;
  notify(channel: string, payload: string): void;
  /** Attempts that are being executed, as `id.attempt`. */
  executing: Set<string>;
  lost: ReturnType<typeof vi.fn>;
  givenBack: ReturnType<typeof vi.fn>;
}

async function setStage(directory: string): Promise<Stage> {
  const offered: ClaimedRun[] = [];
  const executing = new Set<string>();
  let claimable = Promise.resolve();
  let answer: () => Attempts | Promise<Attempts> = () => [];
  const [lost, givenBack] = [vi.fn(async () => undefined), vi.fn(async () => undefined)];
  const client = Object.assign(new EventEmitter(), {
    query: async () => ({ rows: [] }),
    end: async () => void client.emit('end'),
  });
  const runs = {
    async claim() {
      await claimable;
      return offered.splice(0);
    },
    beat: async () => answer(),
    progress: async () => undefined,
    lose: lost,
    giveBack: givenBack,
  };
  const workers = {
    newNumber: async () => 1,
    holdNumber: async () => true,
    report: async () => undefined,
    alive: async () => [1],
    forgetDead: async () => undefined,
    orphans: async () => [],
  };
  const worker = await startWorker({
    runs: runs as unknown as Runs,
    workers: workers as unknown as Workers,
    database: { connect: async () => client } as unknown as Database,
    store: { removeAll: async () => undefined } as unknown as FileStore,
    createHosts: () => createTirelessHosts(directory, executing),
    workRoot: join(directory, 'work'),
    findTool: () => ({ slug: 'endless', timeoutSeconds: 600, engines: [] }) as unknown as Tool,
    web: undefined,
    examine: async () => ({ sandbox: 'none', engines: {} }),
    sandboxLevel: 'none',
    slots: 4,
    clock: systemClock,
    log: createLog('silent'),
  });
  return {
    worker,
    offer(id, attempt) {
      offered.push({ id, attempt, accountId: 'account', tool: 'endless', form: {}, inputs: [] });
      client.emit('notification', { channel: channels.queued, payload: '' });
    },
    delayClaims: (until) => void (claimable = until),
    believe: (next) => void (answer = next),
    notify: (channel, payload) => void client.emit('notification', { channel, payload }),
    executing,
    lost,
    givenBack,
  };
}

function createTirelessHosts(directory: string, executing: Set<string>): HostPool {
  let serial = 0;
  return {
    async acquire(accountId) {
      const root = join(directory, `host-${(serial += 1)}`);
      const place = (name: string) => ({ outside: join(root, name), inside: join(root, name) });
      const [inputs, outputs] = [place('in'), place('out')];
      for (const { outside } of [inputs, outputs]) await mkdir(outside, { recursive: true });
      const { promise: gone, resolve } = Promise.withResolvers<Awaited<Host['gone']>>();
      let name = '';
      return {
        accountId,
        inputs,
        outputs,
        run(order, _onMessage, onGone) {
          void gone.then(onGone);
          name = order.outputDirectory.split('/').at(-2) ?? '';
          executing.add(name);
        },
        warm: () => undefined,
        reply: () => undefined,
        clean: async () => undefined,
        kill() {
          executing.delete(name);
          resolve({ code: null, signal: 'SIGKILL', started: true });
        },
        gone,
      };
    },
    release: () => undefined,
    close: async () => undefined,
  };
}

const executes = (stage: Stage, name: string) =>
  vi.waitFor(() => expect([...stage.executing]).toContain(name), { timeout: 5000 });
const hasLeft = (stage: Stage, name: string) =>
  vi.waitFor(() => expect([...stage.executing]).not.toContain(name), { timeout: 5000 });

test('a run that is claimed while the database is asked for the worker’s runs goes on', async () => {
  await withTemporaryDirectory(async (directory) => {
    const stage = await setStage(directory);
    const asked = Promise.withResolvers<void>();
    const late = Promise.withResolvers<Attempts>();
    stage.believe(() => {
      asked.resolve();
      return late.promise;
    });
    await asked.promise;
    stage.offer('a', 1);
    await executes(stage, 'a.1');
    const looksAgain = Promise.withResolvers<void>();
    stage.believe(() => {
      looksAgain.resolve();
      return [{ id: 'a', attempt: 1 }];
    });
    late.resolve([]); // As things were before the claim.
    await looksAgain.promise;
    expect([...stage.executing]).toEqual(['a.1']);
    await stage.worker.stop(0);
  });
});

test('a run that the database gives to somebody else is left', async () => {
  await withTemporaryDirectory(async (directory) => {
    const stage = await setStage(directory);
    stage.believe(() => [{ id: 'a', attempt: 1 }]);
    stage.offer('a', 1);
    await executes(stage, 'a.1');
    stage.believe(() => []);
    await hasLeft(stage, 'a.1');
    expect(stage.givenBack).not.toHaveBeenCalled();
    await stage.worker.stop(0);
  });
});

test('a run that comes back to the same worker is executed once, and can still be cancelled', async () => {
  await withTemporaryDirectory(async (directory) => {
    const stage = await setStage(directory);
    stage.believe(() => [{ id: 'a', attempt: 3 }]);
    stage.offer('a', 1);
    await executes(stage, 'a.1');
    stage.offer('a', 3);
    await executes(stage, 'a.3');
    await hasLeft(stage, 'a.1');
    stage.notify(channels.cancelled, 'a');
    await hasLeft(stage, 'a.3');
    await stage.worker.stop(0);
  });
});

test('a run of its own that it does not know of is given up at the second look', async () => {
  await withTemporaryDirectory(async (directory) => {
    const stage = await setStage(directory);
    let looks = 0;
    stage.believe(() => {
      looks += 1;
      return [{ id: 'a', attempt: 1 }];
    });
    await vi.waitFor(() => expect(stage.lost).toHaveBeenCalledWith('a', 1), { timeout: 5000 });
    expect(looks).toBe(2);
    await stage.worker.stop(0);
  });
});

test('what is still being claimed when the time to finish is over is given back too', async () => {
  await withTemporaryDirectory(async (directory) => {
    const stage = await setStage(directory);
    stage.believe(() => [{ id: 'a', attempt: 1 }]);
    const claimed = Promise.withResolvers<void>();
    stage.delayClaims(claimed.promise);
    stage.offer('a', 1);
    await sleep(100); // It is being claimed now.
    const stopped = stage.worker.stop(0);
    await sleep(100);
    claimed.resolve();
    await stopped;
    expect(stage.givenBack).toHaveBeenCalledTimes(1);
    expect([...stage.executing]).toEqual([]);
  });
});
