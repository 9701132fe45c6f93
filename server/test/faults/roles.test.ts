import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createClient } from '../client.ts';
import { eventually, queryDatabase, submitQuick, untilStatus } from '../scenario.ts';
import { startServer, type TestServer } from '../server.ts';
import { auditEnded, deleteAll, storedRun, untilEnded, uuidOf } from './audit.ts';
import { descendants, isRunning, kill, postmaster, toolHosts, untilGone } from './processes.ts';
import { env, newTenant, submitLasting } from './tenant.ts';

vi.setConfig({ testTimeout: 180_000 });

/** An API and workers, each a process of its own, on one data directory. The API brings the database. */
interface Cluster extends AsyncDisposable {
  api: TestServer;
  workers: TestServer[];
}

async function startCluster(workerCount: number): Promise<Cluster> {
  const api = await startServer({ env, role: 'api' });
  const start = () => startServer({ env, role: 'worker', dataDirectory: api.dataDirectory });
  const workers = await Promise.all(Array.from({ length: workerCount }, start));
  return {
    api,
    workers,
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await api[Symbol.asyncDispose]();
    },
  };
}

/** The worker that executes a run: its hosts work below a directory of its number. */
async function workerOf(cluster: Cluster, id: string): Promise<{ worker: TestServer; number: number }> {
  return eventually(`a worker executes ${id}`, async () => {
    const { worker: number } = await storedRun(cluster.api, id);
    const worker = cluster.workers.find(({ process }) =>
      descendants(process.pid).some(({ command }) => command.includes(`/work/${number}/`)),
    );
    return worker !== undefined && number !== null && { worker, number };
  });
}

test('several workers that start at the same moment share the work', async () => {
  await using cluster = await startCluster(3);
  const { api, workers } = cluster;
  const { client } = await newTenant(api);
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.push(await submitLasting(client, 10));
  const seen = new Set<number>();
  await eventually('every worker has had a run', async () => {
    const rows = await queryDatabase<{ worker: number }>(api, 'select worker from runs where worker is not null');
    for (const { worker } of rows) seen.add(worker);
    return seen.size === workers.length;
  });
  const runs = await auditEnded(api, client, ids);
  expect(runs.map(({ status }) => status)).toEqual(ids.map(() => 'done'));
  const [row] = await queryDatabase<{ lost: number }>(api, 'select sum(lost_attempts)::int as lost from runs');
  expect(row).toEqual({ lost: 0 });
  await deleteAll(api, client, ids);
});

test('kill -9 of a worker: another one takes its runs within seconds, and no process of it is left', async () => {
  await using cluster = await startCluster(2);
  const { api } = cluster;
  const { client } = await newTenant(api);
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push(await submitLasting(client, 40));
  await untilStatus(client, ids[3] ?? '', 'processing');
  const { worker } = await workerOf(cluster, ids[0] ?? '');
  const processes = descendants(worker.process.pid);
  expect(processes.length).toBeGreaterThan(0);
  await beginOutput(api, ids[0] ?? '');
  worker.process.kill('SIGKILL');
  await once(worker.process, 'exit');
  await untilGone(processes);

  await eventually(
    'its runs are in other hands',
    async () => {
      const { lost_attempts, worker: next } = await storedRun(api, ids[0] ?? '');
      return lost_attempts === 1 && next !== null;
    },
    15_000,
  );
  const runs = await auditEnded(api, client, ids);
  expect(runs.map(({ status }) => status)).toEqual(ids.map(() => 'done'));
  await deleteAll(api, client, ids);
});

test('kill -9 of the process that runs the database: the others take it over and lose nothing', async () => {
  await using cluster = await startCluster(2);
  const { api, workers } = cluster;
  const { client, token } = await newTenant(api);
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push(await submitLasting(client, 30));
  await untilStatus(client, ids[3] ?? '', 'processing');
  const hosts = workers.flatMap(({ process }) => toolHosts(process.pid));
  const server = postmaster(api.process.pid);
  api.process.kill('SIGKILL');
  await once(api.process, 'exit');
  await untilGone([server]);

  await using again = await startServer({ env, role: 'api', dataDirectory: api.dataDirectory });
  const after = createClient(again.base, token);
  ids.push(await submitQuick(after));
  expect(hosts.some(isRunning), 'work went on').toBe(true);
  const runs = await auditEnded(again, after, ids);
  expect(runs.map(({ status }) => status)).toEqual(ids.map(() => 'done'));
  const [row] = await queryDatabase<{ lost: number }>(again, 'select sum(lost_attempts)::int as lost from runs');
  expect(row).toEqual({ lost: 0 });
  await deleteAll(again, after, ids);
});

test('a worker that wakes up after its run was taken away changes nothing and goes on with new work', async () => {
  await using cluster = await startCluster(2);
  const { api, workers } = cluster;
  const { client } = await newTenant(api);
  const id = await submitLasting(client, 40);
  const { worker, number } = await workerOf(cluster, id);
  await eventually('its host runs', () => toolHosts(worker.process.pid).length > 0);
  const frozen = descendants(worker.process.pid);
  worker.process.kill('SIGSTOP');
  kill(frozen, 'SIGSTOP');
  // Its heartbeat would be missed after a lease of 30 s; a connection that breaks is missed at once.
  await queryDatabase(
    api,
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = $1 and objsubid = 2 and granted",
    [number],
  );
  try {
    expect(await untilEnded(client, [id])).toMatchObject([{ status: 'done' }]);
    expect(await storedRun(api, id)).toMatchObject({ status: 'done', attempt: 3, lost_attempts: 1 });
  } finally {
    kill(frozen, 'SIGCONT');
    worker.process.kill('SIGCONT');
  }

  for (const other of workers.filter((each) => each !== worker)) await other.stop();
  const next = await submitQuick(client);
  const runs = await auditEnded(api, client, [id, next]);
  expect(runs).toMatchObject([{ status: 'done' }, { status: 'done' }]);
  expect(await storedRun(api, id)).toMatchObject({ attempt: 3, lost_attempts: 1 });
  await deleteAll(api, client, [id, next]);
});

/** A file such as a worker leaves that is killed while it stores an output of its attempt. */
async function beginOutput(server: TestServer, id: string): Promise<void> {
  const uuid = uuidOf(id);
  const { attempt } = await storedRun(server, id);
  const directory = join(server.dataDirectory, 'files', 'runs', uuid.slice(-2), uuid, `out-${attempt}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, '.begun.part'), 'half of');
}
