import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunPage, Submission } from '@millrun/sdk';
import { getRun, quick, submitQuick } from '../scenario.ts';
import { startServer, type TestServer } from '../server.ts';
import { untilEnded } from './audit.ts';
import { startLossyDatabase, type LossyDatabase } from './lossy-database.ts';
import { env, newTenant, submitLasting, type Tenant } from './tenant.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

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
    await new Promise((resolve) => setTimeout(resolve, 3000)); // The worker asks again within this.
    await download(id);
  });

  test('of a claim: the worker notices within seconds that it does not work on it', async () => {
    const lost = database.loseReply(transactions.claim);
    const id = await submitLasting(tenant.client, 2);
    await lost;
    expect(await untilEnded(tenant.client, [id], 15_000)).toMatchObject([{ status: 'done' }]);
  });
});
