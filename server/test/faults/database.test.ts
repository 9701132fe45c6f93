import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunPage, Submission } from '@millrun/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import { multipart, multipartType, openRaw, requestHead } from '../raw-http.ts';
import { eventually, getRun, quick, submitQuick, untilStatus } from '../scenario.ts';
import { startServer, type TestServer } from '../server.ts';
import { untilEnded } from './audit.ts';
import { startLossyDatabase, type LossyDatabase } from './lossy-database.ts';
import { env, newTenant, submitLasting, type Tenant } from './tenant.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Values that only the transaction in question sends. Statements themselves are prepared and sent once a connection. */
const transactions = { submit: 'qr-code-generator', claim: ' processing', finish: ' done' };

let directory: string;
let database: LossyDatabase;
let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  database = await startLossyDatabase(directory);
  server = await startServer({ env: { ...env, DATABASE_URL: database.url } });
  tenant = await newTenant(server);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function download(id: string): Promise<void> {
  const { outputs = [] } = await getRun(tenant.client, id);
  expect(outputs).not.toEqual([]);
  for (const { url, size_bytes } of outputs) {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBe(size_bytes);
  }
}

describe('a commit whose reply is lost', () => {
  test('of a submission: 503, and the run that may exist is whole', async () => {
    const { client } = tenant;
    const lost = database.loseReply(transactions.submit);
    const content = 'one\ntwo';
    const response = await client.submit('qr-code-generator', [{ filename: 'list.txt', content }]);
    await lost;
    expect(response.status).toBe(503);
    const { data } = (await (await client.request('/runs')).json()) as RunPage;
    expect(data).toHaveLength(1);
    const [run] = await untilEnded(client, [data[0]?.id ?? '']);
    expect(run).toMatchObject({ status: 'done' });
    await download(run?.id ?? '');
  });

  test('of a submission with an Idempotency-Key: the same request again gets the run', async () => {
    const { client } = tenant;
    const lost = database.loseReply(transactions.submit);
    const submit = () => client.submit(quick.tool, quick.files, quick.settings, { 'Idempotency-Key': 'lost-reply' });
    expect((await submit()).status).toBe(503);
    await lost;
    const again = await submit();
    expect(again.status).toBe(202);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const { id } = (await again.json()) as Submission;
    expect(await untilEnded(client, [id])).toMatchObject([{ status: 'done' }]);
  });

  test('of a finished run: it stays done, with its outputs', async () => {
    const lost = database.loseReply(transactions.finish);
    const id = await submitQuick(tenant.client);
    await lost;
    expect(await untilEnded(tenant.client, [id])).toMatchObject([{ status: 'done' }]);
    await sleep(3000); // The worker asks again within this.
    await download(id);
  });

  test('of a claim: the worker notices within seconds that it does not work on it', async () => {
    const lost = database.loseReply(transactions.claim);
    const id = await submitLasting(tenant.client, 2);
    await lost;
    expect(await untilEnded(tenant.client, [id], 15_000)).toMatchObject([{ status: 'done' }]);
  });
});

describe('a database that is away for a while', () => {
  test('answers 503 with the time to wait; runs that are under way end when it is back', async () => {
    const { client } = tenant;
    const ids = [await submitLasting(client, 20), await submitLasting(client, 20)];
    await untilStatus(client, ids[1] ?? '', 'processing');
    database.fail();
    const response = await client.request('/runs');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await response.json()).toMatchObject({ code: 'database_unavailable' });
    await sleep(4000);
    database.recover();
    const runs = await untilEnded(client, ids);
    expect(runs).toMatchObject([{ status: 'done' }, { status: 'done' }]);
    for (const id of ids) await download(id);
  });

  test('frees the Idempotency-Key of a request it has cut off', async () => {
    const { client } = tenant;
    const submit = () => client.submit(quick.tool, [], quick.settings, { 'Idempotency-Key': 'cut-off' });
    const refused = await withSlowBody(tenant, 'cut-off', () => database.fail());
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    database.recover();
    const again = await eventually('the key is free', async () => {
      const response = await submit();
      return response.status === 202 && response;
    });
    const { id } = (await again.json()) as Submission;
    expect(await untilEnded(client, [id])).toMatchObject([{ status: 'done' }]);
  });
});

/** A submission whose body ends only when something has happened; returns the reply as it came. */
async function withSlowBody({ token }: Tenant, key: string, happen: () => void): Promise<string> {
  const body = multipart([{ disposition: 'name="text"', content: 'https://example.com' }]);
  const head = requestHead('POST /api/v2/tools/qr-code-generator', {
    Authorization: `Bearer ${token}`,
    'Content-Type': multipartType,
    'Content-Length': String(body.length),
    'Idempotency-Key': key,
    Connection: 'close',
  });
  const half = body.length >> 1;
  const connection = await openRaw(server.origin, Buffer.concat([Buffer.from(head), body.subarray(0, half)]));
  await sleep(1000); // The key is reserved before the body is read.
  happen();
  connection.socket.write(body.subarray(half));
  await connection.ended;
  return connection.received();
}
