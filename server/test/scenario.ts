import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import { Client as Postgres, Pool } from 'pg';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { ErrorBody, Run, RunStatus } from '@millrun/sdk';
import { createAccounts, type Accounts } from '../src/accounts/accounts.ts';
import { createAdministration, type Administration } from '../src/accounts/administration.ts';
import { commandLine, createAudit } from '../src/accounts/audit.ts';
import { defaultPlans } from '../src/accounts/plans.ts';
import { createTokens, type Tokens } from '../src/accounts/tokens.ts';
import type { Schema } from '../src/db/schema.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createClient, type Client, type FormFile } from './client.ts';
import { startServer, type ServerOptions, type TestServer } from './server.ts';

/** The server of a file of scenarios: one for all of them, started before the first and removed after the last. */
export interface Scenario {
  readonly server: TestServer;
  /** A client of a new account. */
  client(plan?: string): Promise<Client>;
}

/** A stop in a test does not wait for runs nobody asks about any more. */
const stopAtOnce = { MILLRUN_DRAIN_S: '0' };

/** Registers the server's start and stop with the test file (or `describe`) that calls it. */
export function useServer(options: ServerOptions = {}): Scenario {
  // A real server on a machine that does other things as well: patience costs nothing when all is well.
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
  let started: TestServer | undefined;
  const running = () => {
    if (started === undefined) throw new Error('the server has not been started yet');
    return started;
  };
  beforeAll(async () => {
    started = await startServer({ ...options, env: { ...stopAtOnce, ...options.env } });
  });
  afterAll(async () => started?.[Symbol.asyncDispose]());
  return {
    get server() {
      return running();
    },
    client: async (plan) => createClient(running().base, await makeToken(running(), plan)),
  };
}

/** Registers a wait for files whose counts of the day must not start again in the middle. */
export function avoidMidnight(): void {
  const marginMs = 90_000;
  beforeAll(async () => {
    const left = 86_400_000 - (systemClock.now().getTime() % 86_400_000); // UTC days.
    if (left < marginMs) await sleep(left + 100);
  }, marginMs + 10_000);
}

let accountsMade = 0;

/** A token of a new account, made as `millrun token create` does but without the seconds its start takes. */
export async function makeToken(server: TestServer, plan = 'unlimited'): Promise<string> {
  return withAccounts(server, plan, async ({ accounts, tokens }) => {
    const account = await accounts.ensure(`scenario-${(accountsMade += 1)}@example.com`, plan, commandLine);
    return (await tokens.create(account.id, { name: 'test', expiresAt: undefined }, commandLine)).token;
  });
}

/** The secret of a one-time link, made as `millrun account link` does. */
export async function makePersonLink(
  server: TestServer,
  email: string,
  options: { plan: string; admin: boolean },
): Promise<string> {
  return withAccounts(server, options.plan, async ({ administration }) => {
    return (await administration.letIn(email, options, commandLine)).secret;
  });
}

interface AccountsRoom {
  accounts: Accounts;
  tokens: Tokens;
  administration: Administration;
}

async function withAccounts<T>(server: TestServer, plan: string, act: (room: AccountsRoom) => Promise<T>): Promise<T> {
  const pool = new Pool(databaseOf(server));
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  try {
    // The server knows its plans; here only the name counts.
    const parts = { db, clock: systemClock, plans: { [plan]: defaultPlans['unlimited']! } };
    const audit = createAudit(parts);
    const accounts = createAccounts({ ...parts, audit });
    const tokens = createTokens({ ...parts, audit });
    return await act({ accounts, tokens, administration: createAdministration({ ...parts, accounts }) });
  } finally {
    await db.destroy();
  }
}

function databaseOf(server: TestServer) {
  return { host: join(server.dataDirectory, 'run'), user: 'millrun', database: 'postgres' };
}

/** Checks that a reply is an error of the one shape, and returns its body. */
export async function errorOf(response: Response, status: number): Promise<ErrorBody> {
  const text = await response.text();
  expect(response.status, text.slice(0, 500)).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(text) as ErrorBody;
  expect(body).toEqual(
    expect.objectContaining({
      code: expect.stringMatching(/^[a-z]+(_[a-z]+)*$/),
      message: expect.stringMatching(/^\S.+/),
      request_id: response.headers.get('x-request-id'),
    }),
  );
  expect(body.request_id).toMatch(/\S/);
  return body;
}

/** Waits until something is so; throws with what was wanted when it does not come about. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`still not so after ${timeoutMs} ms: ${what}`);
    await sleep(50);
  }
}

export async function getRun(client: Client, id: string): Promise<Run> {
  const response = await client.request(`/runs/${id}`);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Run;
}

export function untilStatus(client: Client, id: string, status: RunStatus): Promise<Run> {
  return eventually(`${id} is ${status}`, async () => {
    const run = await getRun(client, id);
    return run.status === status && run;
  });
}

/** A run that is done at once: it needs no file. */
export const quick = { tool: 'qr-code-generator', files: [], settings: { text: 'https://example.com' } } as const;

export async function submitQuick(client: Client): Promise<string> {
  return (await client.accepted(quick.tool, quick.files, quick.settings)).id;
}

/** A list of `codes` QR codes: the run's work grows with it, the upload hardly. */
function listOfCodes(codes: number): FormFile {
  return { filename: 'list.txt', content: Array.from({ length: codes }, (_, line) => `line ${line}`).join('\n') };
}

/** A run that takes minutes however fast the machine is: a thousand pictures of 16 megapixels. */
export async function submitSlow(client: Client): Promise<string> {
  return (await client.accepted('qr-code-generator', [listOfCodes(1000)], { size: '4096' })).id;
}

/** A slow run that a worker has taken. */
export async function startSlow(client: Client): Promise<string> {
  const id = await submitSlow(client);
  await untilStatus(client, id, 'processing');
  return id;
}

/** Outputs of a steady run. */
export const steadyCodes = 60;

/** A run that ends by itself after some steps of progress. */
export async function submitSteady(client: Client): Promise<string> {
  return (await client.accepted('qr-code-generator', [listOfCodes(steadyCodes)], { size: '1024' })).id;
}

export async function cancel(client: Client, id: string): Promise<void> {
  const response = await client.request(`/runs/${id}/cancel`, { method: 'POST' });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
}

/** Every file the store holds, relative to it: those of an upload under way included. */
export async function storedFiles(server: TestServer): Promise<string[]> {
  const root = join(server.dataDirectory, 'files');
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Asks the server's embedded database: for what no client can see or bring about. */
export async function queryDatabase<Row>(server: TestServer, text: string, values: unknown[] = []): Promise<Row[]> {
  const connection = new Postgres(databaseOf(server));
  await connection.connect();
  try {
    const { rows } = await connection.query(text, values);
    return rows as Row[];
  } finally {
    await connection.end();
  }
}
