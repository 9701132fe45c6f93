import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { RunPage } from '@millrun/sdk';
import { createClient } from '../client.ts';
import { eventually, getRun, queryDatabase, startSlow, storedFiles, submitQuick, untilStatus } from '../scenario.ts';
import { startServer, type TestServer } from '../server.ts';
import { auditEnded, deleteAll, storedRun, untilEnded } from './audit.ts';
import { descendants, kill, postmaster, toolHosts, untilGone } from './processes.ts';
import { beginUpload, env, newTenant, submitLasting } from './tenant.ts';

vi.setConfig({ testTimeout: 180_000 });

/** Ends the program at once, and checks that nothing it has started is left. */
async function killServer(server: TestServer): Promise<void> {
  const processes = descendants(server.process.pid);
  server.process.kill('SIGKILL');
  await once(server.process, 'exit');
  await untilGone(processes);
}

describe('kill -9 of a tool host', () => {
  test('starts its run again in another one', async () => {
    await using server = await startServer({ env });
    const { client } = await newTenant(server);
    const id = await submitLasting(client);
    await untilStatus(client, id, 'processing');
    await eventually('there is progress', async () => ((await getRun(client, id)).progress ?? 0) > 0);

    kill(toolHosts(server.process.pid));

    const [run] = await auditEnded(server, client, [id]);
    expect(run).toMatchObject({ status: 'done' });
    expect(run?.outputs).toHaveLength(40);
    expect(await storedRun(server, id)).toMatchObject({ lost_attempts: 1, worker: null });
    await deleteAll(server, client, [id]);
  });

  test('fails the run the second time, with a window, and bothers nobody else', async () => {
    await using server = await startServer({ env });
    const [unlucky, neighbour] = [await newTenant(server), await newTenant(server)];
    const id = await startSlow(unlucky.client);
    for (const lost of [0, 1]) {
      await eventually(`a worker has it, with ${lost} lost attempts`, async () => {
        const { worker, lost_attempts } = await storedRun(server, id);
        return worker !== null && lost_attempts === lost;
      });
      await eventually('there is a host', () => toolHosts(server.process.pid).length > 0);
      kill(descendants(server.process.pid).filter(({ command }) => command.includes('bwrap')));
    }
    const other = await submitQuick(neighbour.client);

    const [run] = await auditEnded(server, unlucky.client, [id]);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' }, actions: { delete: false } });
    const refused = await unlucky.client.request(`/runs/${id}`, { method: 'DELETE' });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ action: 'delete', retry_after_s: expect.toSatisfy((s) => s >= 1) });
    expect(await auditEnded(server, neighbour.client, [other])).toMatchObject([{ status: 'done' }]);
    await deleteAll(server, unlucky.client, [id]);
  });
});

describe('kill -9 of the server', () => {
  test('loses nothing that was accepted, and nothing it started outlives it', async () => {
    await using first = await startServer({ env });
    const { dataDirectory } = first;
    const tenant = await newTenant(first);
    const ended = await submitQuick(tenant.client);
    await untilEnded(tenant.client, [ended]);
    const ids = [ended];
    for (let i = 0; i < 5; i++) ids.push(await submitLasting(tenant.client, 20));
    await untilStatus(tenant.client, ids[2] ?? '', 'processing');
    await beginUpload(first, tenant);
    await killServer(first);
    const left = (await storedFiles(first)).filter((file) => file.endsWith('.part'));

    await using again = await startServer({ env, dataDirectory });
    const client = createClient(again.base, tenant.token);
    await eventually('nothing unfinished is left of before', async () =>
      (await storedFiles(again)).every((file) => !left.includes(file)),
    );
    const runs = await auditEnded(again, client, ids);
    expect(runs.map(({ status }) => status)).toEqual(ids.map(() => 'done'));
    const list = (await (await client.request('/runs?limit=100')).json()) as RunPage;
    expect(list.data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await deleteAll(again, client, ids);
    expect(await storedFiles(again)).toEqual([]);
    await again.stop();
    expect(await readdir(join(dataDirectory, 'work'))).toEqual([]);
  });

  test('twice under the same run fails it, and no other', async () => {
    await using first = await startServer({ env });
    const { dataDirectory } = first;
    const { client, token } = await newTenant(first);
    const [slow, waiting] = [await startSlow(client), await submitLasting(client, 3)];
    await killServer(first);

    await using second = await startServer({ env, dataDirectory });
    await eventually('it runs again', async () => (await storedRun(second, slow)).lost_attempts === 1);
    await untilStatus(createClient(second.base, token), waiting, 'done');
    await eventually('it runs again', async () => (await storedRun(second, slow)).worker !== null);
    await killServer(second);

    await using third = await startServer({ env, dataDirectory });
    const last = createClient(third.base, token);
    const runs = await auditEnded(third, last, [slow, waiting]);
    expect(runs).toMatchObject([{ status: 'failed', error: { code: 'worker_lost' } }, { status: 'done' }]);
    await deleteAll(third, last, [slow, waiting]);
  });
});

/** Whether another PostgreSQL runs in the place of a killed one. */
function hasNewPostmaster(server: TestServer, killed: number): boolean {
  return descendants(server.process.pid).some(
    ({ command, pid }) => / -D \S+\/postgres /.test(command) && pid !== killed,
  );
}

describe('kill -9 of the embedded PostgreSQL', () => {
  test('in the middle of runs and of an upload: they go on when it is back', async () => {
    await using server = await startServer({ env });
    const tenant = await newTenant(server);
    const { client } = tenant;
    const ids = [await submitLasting(client), await submitLasting(client), await submitLasting(client, 10)];
    await untilStatus(client, ids[0] ?? '', 'processing');
    await beginUpload(server, tenant);

    const killed = postmaster(server.process.pid);
    kill([killed]);

    const statuses = new Set<number>();
    await eventually('the database is back', async () => {
      const { status } = await client.request(`/runs/${ids[0]}`);
      statuses.add(status);
      await sleep(10);
      return status === 200 && hasNewPostmaster(server, killed.pid);
    });
    // Sessions of the killed server may answer for a moment longer, and then break.
    await eventually('the former sessions are gone', async () => {
      await sleep(500);
      return (await client.request(`/runs/${ids[0]}`)).status === 200;
    });
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const runs = await auditEnded(server, client, ids);
    expect(runs.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
    const rows = await queryDatabase<{ lost: number }>(server, 'select sum(lost_attempts)::int as lost from runs');
    expect(rows).toEqual([{ lost: 0 }]);
    await deleteAll(server, client, ids);
  });

  test('again and again while runs are submitted: every 202 is kept', async () => {
    await using server = await startServer({ env });
    const { client } = await newTenant(server);
    const accepted: string[] = [];
    const statuses = new Set<number>();
    const until = performance.now() + 12_000;
    const submitting = async () => {
      while (performance.now() < until) {
        const response = await client.submit('qr-code-generator', [], { text: 'https://example.com' });
        statuses.add(response.status);
        const body = (await response.json()) as { id: string };
        if (response.status === 202) accepted.push(body.id);
        await sleep(50);
      }
    };
    const killing = async () => {
      while (performance.now() < until - 3000) {
        await sleep(1000 + Math.random() * 2000);
        try {
          kill([postmaster(server.process.pid)]);
        } catch {
          // It is being started just now.
        }
      }
    };
    await Promise.all([submitting(), submitting(), killing()]);

    expect([...statuses].filter((status) => status !== 202 && status !== 503)).toEqual([]);
    expect(accepted.length).toBeGreaterThan(5);
    const runs = await auditEnded(server, client, accepted);
    expect(runs.filter(({ status }) => status !== 'done')).toEqual([]);
  });
});
