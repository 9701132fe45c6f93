import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Client } from '../client.ts';
import { cancel, eventually, queryDatabase, startSlow, submitQuick, useServer } from '../scenario.ts';
import { auditEnded, deleteAll, filesOfRuns, untilEnded } from './audit.ts';
import { isRunning, toolHosts } from './processes.ts';
import { env, newTenant, submitLasting } from './tenant.ts';

const scenario = useServer({ env });

/** How long a small run takes here and now, from its submission to its end, in milliseconds. */
async function timeOfOne(client: Client): Promise<number> {
  const startedAt = performance.now();
  await untilEnded(client, [await submitQuick(client)]);
  return performance.now() - startedAt;
}

interface Race {
  id: string;
  cancelled: boolean;
}

async function submitAndCancel(client: Client, delayMs: number): Promise<Race> {
  const id = await submitQuick(client);
  await sleep(delayMs);
  const { status } = await client.request(`/runs/${id}/cancel`, { method: 'POST' });
  expect([202, 409]).toContain(status);
  return { id, cancelled: status === 202 };
}

describe('cancel against finish', () => {
  test('has one winner each time: a cancelled run has no outputs, any other is done', async () => {
    const { server } = scenario;
    const { client } = await newTenant(server);
    await timeOfOne(client); // The first one waits for a tool host.
    const usual = await timeOfOne(client);
    const races: Race[] = [];
    const oneAfterAnother = async () => {
      // Each race moves the next one's start towards the end of the run, so that most are as close as they can be.
      let delay = usual;
      for (let i = 0; i < 40; i++) {
        const race = await submitAndCancel(client, delay * (0.75 + Math.random() / 2));
        delay = race.cancelled ? delay * 1.25 : delay / 1.25;
        races.push(race);
      }
    };
    await Promise.all([oneAfterAnother(), oneAfterAnother()]);

    const runs = await auditEnded(
      server,
      client,
      races.map(({ id }) => id),
    );
    for (const [index, run] of runs.entries()) {
      expect(run.status).toBe(races[index]?.cancelled === true ? 'failed' : 'done');
      if (run.status === 'failed') expect(run.error?.code).toBe('cancelled');
    }
    const cancelled = races.filter((race) => race.cancelled).length;
    expect(cancelled, 'cancel won at times').toBeGreaterThan(0);
    expect(cancelled, 'and lost at times').toBeLessThan(races.length);

    const ids = races.map(({ id }) => id);
    await deleteAll(server, client, ids);
    await sleep(1000);
    expect(await filesOfRuns(server, ids), 'nothing comes back').toEqual([]);
  });

  test('counts every run that was started against its day', async () => {
    const { server } = scenario;
    const { client } = await newTenant(server);
    const usual = await timeOfOne(client);
    const races: Race[] = [];
    for (let i = 0; i < 20; i++) races.push(await submitAndCancel(client, Math.random() * usual));
    const runs = await untilEnded(
      client,
      races.map(({ id }) => id),
    );
    const neverStarted = runs.filter(({ started_at }) => started_at === null).length;
    const usage = (await (await client.request('/usage')).json()) as { runs_today: number };
    expect(usage.runs_today).toBe(1 + races.length - neverStarted);
  });
});

test('a cancelled run is left by its processes within the window, and deleted right at its end', async () => {
  const { server } = scenario;
  const { client } = await newTenant(server);
  const id = await startSlow(client);
  const hosts = await eventually('its host runs', () => {
    const found = toolHosts(server.process.pid);
    return found.length > 0 && found;
  });
  await cancel(client, id);

  const refused = await client.request(`/runs/${id}`, { method: 'DELETE' });
  expect(refused.status).toBe(409);
  const { retry_after_s } = (await refused.json()) as { retry_after_s: number };
  expect(retry_after_s).toBeGreaterThanOrEqual(1);
  expect(retry_after_s).toBeLessThanOrEqual(Number(env.MILLRUN_CANCEL_WINDOW_S));
  await sleep(retry_after_s * 1000);
  expect(hosts.filter(isRunning).length).toBeLessThan(hosts.length);
  expect((await client.request(`/runs/${id}`, { method: 'DELETE' })).status).toBe(204);
  await sleep(500);
  expect(await filesOfRuns(server, [id])).toEqual([]);
});

test('a queued run is cancelled for good: no worker ever starts it', async () => {
  const { server } = scenario;
  const { client } = await newTenant(server);
  const slow = [await startSlow(client), await startSlow(client)];
  const queued: string[] = [];
  for (let i = 0; i < 5; i++) queued.push(await submitQuick(client));
  await Promise.all(queued.map((id) => cancel(client, id)));
  for (const id of slow) await cancel(client, id);
  const runs = await auditEnded(server, client, [...queued, ...slow]);
  expect(runs.map(({ started_at }) => started_at === null)).toEqual([true, true, true, true, true, false, false]);
  await deleteAll(server, client, queued);
  await deleteAll(server, client, slow);
});

test('an account that queues 200 runs does not hold up another: its first one starts with the next free slot', async () => {
  const { server } = scenario;
  const [greedy, modest] = [await newTenant(server), await newTenant(server)];
  const submitMany = async () => {
    for (let i = 0; i < 50; i++) await submitLasting(greedy.client, 5);
  };
  await Promise.all([submitMany(), submitMany(), submitMany(), submitMany()]);
  const [waiting] = await queryDatabase<{ count: number }>(
    server,
    "select count(*)::int from runs where status = 'queued'",
  );
  expect(waiting?.count).toBeGreaterThan(50);

  const first = await submitLasting(modest.client, 5);
  const [run] = await untilEnded(modest.client, [first]);
  const [overtaken] = await queryDatabase<{ count: number }>(
    server,
    'select count(*)::int from runs where started_at > $1 and started_at < $2',
    [run?.created_at, run?.started_at],
  );
  expect(overtaken?.count, 'runs that started while it waited').toBeLessThanOrEqual(2 * slots);
});

const slots = Number(env.MILLRUN_SLOTS);
