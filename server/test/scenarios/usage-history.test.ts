import { join } from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import type { Run, Usage, UsageHistory, UsageOfDay } from '@millrun/sdk';
import type { Schema } from '../../src/db/schema.ts';
import { createDiskStore } from '../../src/files/disk.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { publicId } from '../../src/lib/ids.ts';
import { createLog } from '../../src/lib/log.ts';
import { createRetention } from '../../src/runs/retention.ts';
import type { Client } from '../client.ts';
import {
  avoidMidnight,
  cancel,
  errorOf,
  getRun,
  queryDatabase,
  startSlow,
  submitQuick,
  useServer,
} from '../scenario.ts';

const scenario = useServer({ env: { MILLRUN_SLOTS: '1', MILLRUN_CANCEL_WINDOW_S: '3' } });
avoidMidnight();

const today = () => systemClock.now().toISOString().slice(0, 10);
const daysAgo = (days: number) => new Date(systemClock.now().getTime() - days * 86_400_000).toISOString().slice(0, 10);

async function historyOf(client: Client, query = ''): Promise<UsageHistory> {
  const response = await client.request(`/usage/history${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as UsageHistory;
}

async function usageOf(client: Client): Promise<Usage> {
  return (await (await client.request('/usage')).json()) as Usage;
}

const timeOf = ({ started_at, finished_at }: Run) => Date.parse(finished_at ?? '') - Date.parse(started_at ?? '');
const bytesOf = (files: readonly { size_bytes: number }[] = []) =>
  files.reduce((total, { size_bytes }) => total + size_bytes, 0);

/** The account of a client, as the database has it. */
async function accountOf(client: Client): Promise<string> {
  const id = await submitQuick(client);
  await client.finished(id);
  const rows = await queryDatabase<{ id: string; account_id: string }>(
    scenario.server,
    'select id, account_id from runs',
  );
  const row = rows.find((candidate) => publicId('run', candidate.id) === id);
  if (row === undefined) throw new Error('no such run');
  return row.account_id;
}

describe('the history of usage', () => {
  test('of a new account is empty, over 30 days unless told', async () => {
    const client = await scenario.client();
    expect(await historyOf(client)).toEqual({ data: [], from: daysAgo(29), to: today() });
    expect(await historyOf(client, '?days=1')).toEqual({ data: [], from: today(), to: today() });
    expect(await historyOf(client, '?days=90')).toEqual({ data: [], from: daysAgo(89), to: today() });
  });

  test('takes 1 to 90 days', async () => {
    const client = await scenario.client();
    for (const query of ['?days=0', '?days=91', '?days=-1', '?days=1.5', '?days=x', '?days='])
      await errorOf(await client.request(`/usage/history${query}`), 400);
  });

  test('counts each run once, by tool and outcome, with its bytes and its time', async () => {
    const client = await scenario.client();
    const list = { filename: 'list.txt', content: 'one\ntwo' };
    const withFile = (await client.accepted('qr-code-generator', [list])).id;
    const without = await submitQuick(client);
    const broken = await client.accepted('image-compressor', [
      { filename: 'a.png', content: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex') },
    ]);
    const done = [await client.finished(withFile), await client.finished(without)];
    const failed = await client.finished(broken.id);
    expect(failed.status).toBe('failed');

    const outputs = done.flatMap((run) => run.outputs ?? []);
    const expected: UsageOfDay[] = [
      {
        day: today(),
        tool: 'image-compressor',
        done: 0,
        failed: 1,
        cancelled: 0,
        bytes_in: 16,
        bytes_out: 0,
        processing_ms: timeOf(failed),
      },
      {
        day: today(),
        tool: 'qr-code-generator',
        done: 2,
        failed: 0,
        cancelled: 0,
        bytes_in: 7,
        bytes_out: bytesOf(outputs),
        processing_ms: done.reduce((total, run) => total + timeOf(run), 0),
      },
    ];
    expect((await historyOf(client)).data).toEqual(expected);
    expect(await usageOf(client)).toMatchObject({ bytes_in_today: 23, bytes_out_today: bytesOf(outputs) });
  });

  test('counts a cancelled run as cancelled, whether it was queued or started', async () => {
    const client = await scenario.client();
    const slow = await startSlow(client);
    const queued = await submitQuick(client);
    await cancel(client, queued);
    expect((await historyOf(client)).data).toMatchObject([{ cancelled: 1, bytes_in: 0, processing_ms: 0 }]);
    // However many cancel it, it is counted once.
    await Promise.all(Array.from({ length: 5 }, () => client.request(`/runs/${slow}/cancel`, { method: 'POST' })));
    const run = await getRun(client, slow);
    expect((await historyOf(client)).data).toMatchObject([
      { tool: 'qr-code-generator', done: 0, failed: 0, cancelled: 2, bytes_out: 0, processing_ms: timeOf(run) },
    ]);
    expect(await usageOf(client)).toMatchObject({ bytes_in_today: bytesOf(run.inputs), runs_today: 1 });
  });

  test('survives the deletion of runs', async () => {
    const client = await scenario.client();
    const id = await submitQuick(client);
    await client.finished(id);
    const before = await historyOf(client);
    expect(before.data).toHaveLength(1);
    expect((await client.request(`/runs/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await historyOf(client)).toEqual(before);
  });

  test('counts every one of many that end together', async () => {
    const client = await scenario.client();
    const ids = await Promise.all(Array.from({ length: 20 }, () => submitQuick(client)));
    const cancelled = ids.filter((_, index) => index % 4 === 0);
    await Promise.all(cancelled.map((id) => client.request(`/runs/${id}/cancel`, { method: 'POST' })));
    const runs = await Promise.all(ids.map((id) => client.finished(id)));
    const done = runs.filter(({ status }) => status === 'done').length;
    expect((await historyOf(client)).data).toMatchObject([{ done, failed: 0, cancelled: 20 - done }]);
  });

  test('is of the account alone, and needs a token', async () => {
    const [client, stranger] = [await scenario.client(), await scenario.client()];
    await client.finished(await submitQuick(client));
    expect((await historyOf(stranger)).data).toEqual([]);
    await errorOf(await fetch(`${scenario.server.base}/usage/history`), 401);
  });

  test('reaches back as many days as are asked for, in order', async () => {
    const client = await scenario.client();
    const account = await accountOf(client);
    const big = 5_000_000_000_000;
    await queryDatabase(
      scenario.server,
      `insert into usage_by_tool select $1, (now() at time zone 'UTC')::date - age, tool, 1, 2, 3, $2, $2, $2
       from unnest(array[1, 29, 30, 89, 90]) age, unnest(array['b', 'a']) tool`,
      [account, big],
    );
    const days = async (query: string) =>
      (await historyOf(client, query)).data.map(({ day, tool }) => `${day} ${tool}`);
    const each = (age: number) => [`${daysAgo(age)} a`, `${daysAgo(age)} b`];
    const now = `${today()} qr-code-generator`;
    expect(await days('')).toEqual([...each(29), ...each(1), now]);
    expect(await days('?days=31')).toEqual([...each(30), ...each(29), ...each(1), now]);
    expect(await days('?days=90')).toEqual([...each(89), ...each(30), ...each(29), ...each(1), now]);
    const [row] = (await historyOf(client, '?days=90')).data;
    expect(row).toMatchObject({ done: 1, failed: 2, cancelled: 3, bytes_in: big, bytes_out: big, processing_ms: big });
  });

  test('is kept for 400 days', async () => {
    const client = await scenario.client();
    const account = await accountOf(client);
    await queryDatabase(
      scenario.server,
      `insert into usage_by_tool select $1, (now() at time zone 'UTC')::date - age, 'a', 1, 1, 1, 1, 1, 1
       from unnest(array[1, 400, 401, 2000]) age`,
      [account],
    );
    await sweep();
    const kept = await queryDatabase<{ day: string }>(
      scenario.server,
      `select to_char(day, 'YYYY-MM-DD') as day from usage_by_tool where account_id = $1 order by day`,
      [account],
    );
    expect(kept.map(({ day }) => day)).toEqual([daysAgo(400), daysAgo(1), today()]);
  });
});

/** What the worker does every five minutes. */
async function sweep(): Promise<void> {
  const { dataDirectory } = scenario.server;
  const pool = new Pool({ host: join(dataDirectory, 'run'), user: 'millrun', database: 'postgres' });
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const store = createDiskStore({ root: join(dataDirectory, 'files') });
  try {
    await createRetention({ db, store, clock: systemClock, log: createLog('silent') }).sweep();
  } finally {
    await db.destroy();
  }
}

test('requests of the minute are counted with the one that asks, and looking does not count twice', async () => {
  const client = await scenario.client('pro');
  expect((await usageOf(client)).requests_this_minute).toBe(1);
  await client.request('/tools');
  expect((await usageOf(client)).requests_this_minute).toBe(3);
  expect((await usageOf(client)).requests_this_minute).toBe(4);
});
