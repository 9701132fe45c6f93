import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { createClient } from '../client.ts';
import { eventually, getRun, startSlow, submitSlow, untilStatus } from '../scenario.ts';
import { startServer, type TestServer } from '../server.ts';
import { auditEnded, deleteAll, storedRun } from './audit.ts';
import { descendants, toolHosts, untilGone } from './processes.ts';
import { beginUpload, env, newTenant, submitLasting } from './tenant.ts';

vi.setConfig({ testTimeout: 180_000 });

interface Ending {
  code: number | null;
  signal: string | null;
  /** From the last signal. */
  ms: number;
}

/** Two signals within this many milliseconds are one: a Ctrl-C may arrive several times. */
const sameSignalMs = 1000;

/** Sends signals one after the other, and waits for the end: of the program and of all it started. */
async function stopWith(server: TestServer, ...signals: NodeJS.Signals[]): Promise<Ending> {
  const processes = descendants(server.process.pid);
  const exit = once(server.process, 'exit') as Promise<[number | null, string | null]>;
  let startedAt = performance.now();
  for (const [index, signal] of signals.entries()) {
    if (index > 0) await sleep(sameSignalMs + 200);
    startedAt = performance.now();
    server.process.kill(signal);
  }
  const [code, signal] = await exit;
  const ms = performance.now() - startedAt;
  await untilGone(processes);
  return { code, signal, ms };
}

describe('SIGTERM', () => {
  test('finishes running work, keeps the queue, and waits for nobody who only watches', async () => {
    await using first = await startServer({ env });
    const tenant = await newTenant(first);
    const { client } = tenant;
    const running = [await submitLasting(client, 60), await submitLasting(client, 60)];
    const waiting = await submitSlow(client);
    await untilStatus(client, running[1] ?? '', 'processing');
    const stream = client.messages(waiting).catch(() => undefined);
    const poll = client.request(`/runs/${waiting}?wait=60`).catch(() => undefined);
    await beginUpload(first, tenant);
    expect(await stopWith(first, 'SIGTERM')).toMatchObject({ code: 0, ms: expect.toSatisfy((ms) => ms < 25_000) });
    await Promise.all([stream, poll]);
    expect(await readdir(join(first.dataDirectory, 'work'))).toEqual([]);

    await using again = await startServer({ env, dataDirectory: first.dataDirectory, role: 'api' });
    const after = createClient(again.base, tenant.token);
    expect(await auditEnded(again, after, running)).toMatchObject([{ status: 'done' }, { status: 'done' }]);
    for (const id of running) expect(await storedRun(again, id)).toMatchObject({ attempt: 1, lost_attempts: 0 });
    expect(await getRun(after, waiting)).toMatchObject({ status: 'queued' });
  });

  test('gives back what does not finish in time, which is no loss and needs no window', async () => {
    await using first = await startServer({ env: { ...env, MILLRUN_DRAIN_S: '1' } });
    const { client, token } = await newTenant(first);
    const ids = [await startSlow(client), await startSlow(client)];
    expect(await stopWith(first, 'SIGTERM')).toMatchObject({ code: 0, ms: expect.toSatisfy((ms) => ms < 10_000) });

    await using api = await startServer({ env, dataDirectory: first.dataDirectory, role: 'api' });
    for (const id of ids) {
      expect(await storedRun(api, id)).toMatchObject({
        status: 'processing',
        lost_attempts: 0,
        worker: null,
        unsafe_until: null,
      });
    }
    await using _worker = await startServer({ env, dataDirectory: first.dataDirectory, role: 'worker' });
    const after = createClient(api.base, token);
    for (const id of ids) {
      await eventually('it runs again', async () => (await storedRun(api, id)).worker !== null);
      await after.request(`/runs/${id}/cancel`, { method: 'POST' });
    }
    await deleteAll(api, after, ids);
  });

  test('gives back at once when nothing may be waited for, also what is only being claimed', async () => {
    await using first = await startServer({ env: { ...env, MILLRUN_DRAIN_S: '0' } });
    const { client, token } = await newTenant(first);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await submitLasting(client, 2));
    expect(await stopWith(first, 'SIGTERM')).toMatchObject({ code: 0, ms: expect.toSatisfy((ms) => ms < 10_000) });

    await using again = await startServer({ env, dataDirectory: first.dataDirectory });
    const after = createClient(again.base, token);
    const runs = await auditEnded(again, after, ids);
    expect(runs.filter(({ status }) => status !== 'done')).toEqual([]);
    for (const id of ids) expect(await storedRun(again, id)).toMatchObject({ lost_attempts: 0 });
  });
});

test('a second SIGINT stops at once; what ran is run again', async () => {
  await using first = await startServer({ env });
  const { client, token } = await newTenant(first);
  const id = await startSlow(client);
  await eventually('its host runs', () => toolHosts(first.process.pid).length > 0);
  expect(await stopWith(first, 'SIGINT', 'SIGINT')).toMatchObject({
    code: 1,
    ms: expect.toSatisfy((ms) => ms < 3000),
  });

  await using again = await startServer({ env, dataDirectory: first.dataDirectory });
  const after = createClient(again.base, token);
  await eventually('it runs again', async () => {
    const { worker, lost_attempts } = await storedRun(again, id);
    return worker !== null && lost_attempts === 1;
  });
  await after.request(`/runs/${id}/cancel`, { method: 'POST' });
  await deleteAll(again, after, [id]);
});

describe('one data directory', () => {
  const taken = /Millrun is already running on \S+\. Stop it first, or set MILLRUN_DATA_DIR and PORT/;

  test('takes one server: a second one is refused in words that help, and bothers the first one not at all', async () => {
    await using server = await startServer({ env });
    const { client } = await newTenant(server);
    const id = await submitLasting(client, 20);
    await expect(startServer({ env, dataDirectory: server.dataDirectory })).rejects.toThrow(taken);
    await expect(startServer({ env, dataDirectory: server.dataDirectory, role: 'api' })).rejects.toThrow(taken);
    expect(await auditEnded(server, client, [id])).toMatchObject([{ status: 'done' }]);
  });

  test('takes one of several that start at the same moment on what a kill -9 has left', async () => {
    await using first = await startServer({ env });
    const { dataDirectory } = first;
    await stopWith(first, 'SIGKILL');
    const starts = await Promise.allSettled([1, 2, 3].map(() => startServer({ env, dataDirectory })));
    const running = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
    try {
      expect(running).toHaveLength(1);
      for (const start of starts) if (start.status === 'rejected') expect(String(start.reason)).toMatch(taken);
    } finally {
      for (const server of running) await server.stop();
    }
  });
});
