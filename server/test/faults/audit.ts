import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Run } from '@millrun/sdk';
import { parseId } from '../../src/lib/ids.ts';
import type { Client } from '../client.ts';
import { eventually, queryDatabase, storedFiles } from '../scenario.ts';
import type { TestServer } from '../server.ts';

export function uuidOf(id: string): string {
  const uuid = parseId('run', id);
  if (uuid === undefined) throw new Error(`${id} is no run`);
  return uuid;
}

/** What only the database knows of a run. */
export interface StoredRun {
  status: string;
  attempt: number;
  lost_attempts: number;
  worker: number | null;
  unsafe_until: Date | null;
  started_at: Date | null;
}

export async function storedRun(server: TestServer, id: string): Promise<StoredRun> {
  const rows = await queryDatabase<StoredRun>(
    server,
    'select status, attempt, lost_attempts, worker, unsafe_until, started_at from runs where id = $1',
    [uuidOf(id)],
  );
  if (rows[0] === undefined) throw new Error(`${id} is lost`);
  return rows[0];
}

/** Waits until every run has ended, whatever the service goes through meanwhile: while its database is away, it says 503. */
export async function untilEnded(client: Client, ids: readonly string[], timeoutMs = 60_000): Promise<Run[]> {
  const runs: Run[] = [];
  for (const id of ids) {
    const ended = async () => {
      const response = await client.request(`/runs/${id}`);
      if (response.status === 503) return undefined;
      expect(response.status).toBe(200);
      const run = (await response.json()) as Run;
      return (run.status === 'done' || run.status === 'failed') && run;
    };
    runs.push(await eventually(`${id} has ended`, ended, timeoutMs));
  }
  return runs;
}

/**
 * What must be true of an account's runs when they have all ended: each that was accepted is there, ended once, told its
 * one webhook once, was counted once, shows outputs iff it is done, and stores the files of the attempt that won and no
 * other.
 */
export async function auditEnded(server: TestServer, client: Client, ids: readonly string[]): Promise<Run[]> {
  const runs = await untilEnded(client, ids);
  const deliveries = await queryDatabase<{ run_id: string; type: string }>(
    server,
    'select run_id, event_type as type from webhook_deliveries where run_id = any($1)',
    [ids.map(uuidOf)],
  );
  for (const run of runs) {
    const told = deliveries.filter(({ run_id }) => run_id === uuidOf(run.id)).map(({ type }) => type);
    expect(told, run.id).toEqual([run.status === 'done' ? 'run.completed' : 'run.failed']);
    expect(run.error === undefined, run.id).toBe(run.status === 'done');
    expect(run.outputs === undefined, run.id).toBe(run.status === 'failed');
    expect(run.finished_at).not.toBeNull();
  }
  await checkUsage(server, ids);
  await untilOnlyWinnersAreStored(server, runs);
  return runs;
}

/** The end of a run is one transaction: at any moment an account has as many runs counted as ends told. */
async function checkUsage(server: TestServer, ids: readonly string[]): Promise<void> {
  const rows = await queryDatabase<{ counted: number; told: number }>(
    server,
    `select sum(done + failed + cancelled)::int as counted,
       (select count(distinct run_id)::int from webhook_deliveries d where d.account_id = u.account_id) as told
     from usage_by_tool u where account_id in (select account_id from runs where id = any($1)) group by account_id`,
    [ids.map(uuidOf)],
  );
  expect(rows).not.toEqual([]);
  for (const { counted, told } of rows) expect(counted).toBe(told);
}

/** A worker that was overtaken removes what it published as soon as it hears of it. */
async function untilOnlyWinnersAreStored(server: TestServer, runs: readonly Run[]): Promise<void> {
  const sizes = new Map<string, number>();
  for (const { id } of runs) {
    for (const { key, size_bytes } of await knownFiles(server, id)) sizes.set(pathOf(key), size_bytes);
  }
  const ours = runs.map(({ id }) => uuidOf(id));
  const stored = async () => (await storedFiles(server)).filter((file) => ours.some((id) => file.includes(id)));
  await eventually('nothing but inputs and the outputs of winners is stored', async () =>
    (await stored()).every((file) => sizes.has(file)),
  );
  expect(await stored()).toEqual([...sizes.keys()].toSorted());
  for (const [path, size] of sizes) {
    expect((await stat(join(server.dataDirectory, 'files', path))).size, path).toBe(size);
  }
}

/** Inputs and outputs, as the record of a run has them. */
function knownFiles(server: TestServer, id: string): Promise<{ key: string; size_bytes: number }[]> {
  return queryDatabase(
    server,
    `select file->>'key' as key, (file->>'size_bytes')::int as size_bytes
     from runs, jsonb_array_elements(inputs || coalesce(outputs, '[]')) file where id = $1`,
    [uuidOf(id)],
  );
}

/** Where the disk store keeps a key, below its root. */
function pathOf(key: string): string {
  const [area = '', id = '', ...rest] = key.split('/');
  return [area, id.slice(-2), id, ...rest].join('/');
}

/** Deletes runs, each as soon as it may be, and checks that nothing of them is left anywhere. */
export async function deleteAll(server: TestServer, client: Client, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await eventually(`${id} is deleted`, async () => {
      const response = await client.request(`/runs/${id}`, { method: 'DELETE' });
      if (response.status !== 204 && response.status !== 409) throw new Error(`${response.status} for ${id}`);
      return response.status === 204;
    });
    expect((await client.request(`/runs/${id}`)).status).toBe(404);
  }
  expect(await filesOfRuns(server, ids)).toEqual([]);
}

/** Every file and directory, stored or being worked on, that belongs to one of the runs. */
export async function filesOfRuns(server: TestServer, ids: readonly string[]): Promise<string[]> {
  const uuids = ids.map(uuidOf);
  const found: string[] = [];
  for (const area of ['files', 'work']) {
    const names = await readdir(join(server.dataDirectory, area), { recursive: true }).catch(() => []);
    found.push(...names.filter((name) => uuids.some((uuid) => name.includes(uuid))).map((name) => `${area}/${name}`));
  }
  return found;
}
