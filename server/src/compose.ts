import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run } from '@millrun/sdk';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createAccounts, type Accounts } from './accounts/accounts.ts';
import { createAdministration } from './accounts/administration.ts';
import { createAttempts } from './accounts/attempts.ts';
import { createAudit, type Audit } from './accounts/audit.ts';
import { createLimits } from './accounts/limits.ts';
import { linkAddress } from './accounts/links.ts';
import { createMembership } from './accounts/membership.ts';
import { createPeople, type People } from './accounts/people.ts';
import { createSignIn, type SignIn } from './accounts/sign-in.ts';
import { accountsChannel, createTokens } from './accounts/tokens.ts';
import { compiledCodeDirectory } from './commands/compiled-code.ts';
import { originOf, type Config } from './config.ts';
import { listen, openDatabase, type Database } from './db/database.ts';
import { openQueue, type Queue } from './db/queue.ts';
import { examineEngines } from './engines/examine.ts';
import { webAccess } from './engines/web-access.ts';
import { createDiskStore } from './files/disk.ts';
import type { FileStore } from './files/store.ts';
import { createApp, apiPrefix } from './http/app.ts';
import type { Edge, Health } from './http/edge.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import { isOutage } from './lib/outage.ts';
import type { Uuid } from './lib/ids.ts';
import { createReleasers, type Releasers } from './lib/releasers.ts';
import { retry } from './lib/retry.ts';
import { channels, createRunEvents } from './runs/events.ts';
import { freeKey, reserveKey } from './runs/idempotency.ts';
import { createLinkSigner, type LinkSigner } from './runs/links.ts';
import { collectMetrics } from './runs/metrics.ts';
import { createRetention, startRetention } from './runs/retention.ts';
import { createRuns, type Runs } from './runs/runs.ts';
import { createWorkers, type Workers } from './runs/workers.ts';
import { createSandbox, type Sandbox } from './sandbox/sandbox.ts';
import type { Capabilities } from './tools/offer.ts';
import { allEngines, findTool, tools } from './tools/registry.ts';
import { startDeliveries } from './webhooks/deliver.ts';
import { createAddressGuard } from './webhooks/guard.ts';
import { createWebhooks, deliveryChannel, type Webhooks } from './webhooks/webhooks.ts';
import { createHostPool } from './worker/hosts.ts';
import { createWebAccess } from './worker/web-fetch.ts';
import { startWorker } from './worker/worker.ts';

/** What both the API and a worker stand on. */
export interface Core {
  config: Config;
  /** Where this process listens, once it does. */
  own: { address: string | undefined };
  clock: Clock;
  log: Log;
  releasers: Releasers;
  database: Database;
  queue: Queue;
  store: FileStore;
  signer: LinkSigner;
  webhooks: Webhooks;
  audit: Audit;
  accounts: Accounts;
  runs: Runs;
  workers: Workers;
}

export async function openCore(config: Config, log: Log, options: { worker: boolean }): Promise<Core> {
  const clock = systemClock;
  const releasers = createReleasers((error) => log.error({ err: error }, 'stopping'));
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 });
  try {
    const database = await openDatabase(config, log);
    releasers.add(() => database.close());
    const queue = await openQueue(database, { maintain: options.worker }, log);
    releasers.add(() => queue.stop({ graceful: false }));
    const { db } = database;
    const store = createDiskStore({ root: join(config.dataDirectory, 'files') });
    const signer = createLinkSigner(await ownKey(database, 'download-links'), clock);
    const guard = createAddressGuard({ allow: config.webhookAllow });
    const audit = createAudit({ db, clock });
    const webhooks = createWebhooks({ db, queue, guard, clock, audit });
    const accounts = createAccounts({ db, clock, plans: config.plans, audit });
    const own: Core['own'] = { address: undefined };
    const ownLinks = () => signer.links(originOf(config, own.address) + apiPrefix);
    const concurrency = Object.fromEntries(
      Object.entries(config.plans).map(([name, plan]) => [name, plan.concurrentRuns]),
    );
    const { cancelWindowSeconds, retentionHours } = config;
    const runs = createRuns({
      db,
      queue,
      store,
      webhooks,
      clock,
      cancelWindowSeconds,
      retentionHours,
      concurrency,
      ownLinks,
    });
    const workers = createWorkers(db);
    const rooms = { store, signer, webhooks, audit, accounts, runs, workers };
    return { config, own, clock, log, releasers, database, queue, ...rooms };
  } catch (error) {
    await releasers.releaseAll();
    throw error;
  }
}

/** A key of our own, made once and kept in the database so that every node has the same. */
async function ownKey({ db }: Database, name: string): Promise<Buffer> {
  await db
    .insertInto('secrets')
    .values({ name, value: randomBytes(32) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirstOrThrow();
  return value;
}

const hostShape = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9a-fA-F:.]{2,45}\](:\d{1,5})?$/;

/** The address the client knows us by, unless the operator has named it. */
function originFor({ config, own }: Core, { host, protocol }: FastifyRequest): string {
  if (config.publicUrl !== undefined || !hostShape.test(host)) return originOf(config, own.address);
  return `${protocol}://${host}`;
}

/** Who signs in, and how. */
async function composePeople(core: Core): Promise<{ signIn: SignIn; people: People }> {
  const { config, clock, log, database, accounts, audit } = core;
  const { plans, openSignUp, defaultPlan, oidc, publicUrl } = config;
  const { db } = database;
  const secret = (await ownKey(database, 'sessions')).toString('base64url');
  const signIn = createSignIn({ db, clock, log, secret, publicUrl, oidc, openSignUp });
  const people = createPeople({ db, clock, signIn, accounts, audit, plans, openSignUp, defaultPlan, firstPlan });
  return { signIn, people };
}

/** The plan of whoever starts the service. */
const firstPlan = 'unlimited';

interface Api {
  app: FastifyInstance;
  /** The one-time link that makes the first person; undefined once there is somebody. */
  firstLink(): Promise<string | undefined>;
}

/** The API and the account page, not yet listening. */
export async function composeApi(core: Core): Promise<Api> {
  const { config, clock, log, releasers, database, store, signer, webhooks, audit, accounts, runs, workers } = core;
  const events = createRunEvents();
  const tokens = createTokens({ db: database.db, clock, audit });
  const shared = { pool: database.pool, shared: !database.embedded };
  const people = await composePeople(core);
  const listener = listen(
    database,
    {
      channels: [channels.run, accountsChannel],
      onMessage: (channel, message) => (channel === accountsChannel ? tokens.forget() : events.publish(message)),
      async onConnect() {
        events.publishAll();
        tokens.forget();
      },
    },
    log,
  );
  releasers.add(() => listener.close());
  await listener.ready;
  if (database.embedded) {
    // Ours alone, and no upload has begun: whatever no record knows, a crash has left.
    await createRetention({ db: database.db, store, clock, log }).removeStrayFiles(clock.now());
    await database.db.deleteFrom('idempotency_keys').where('response', 'is', null).execute();
  }
  const capabilities = createCapabilities(workers);
  const edge: Edge = {
    runs,
    events,
    idempotency: {
      reserve: (accountId, key) => reserveKey(database.db, accountId, key),
      free: (accountId, key) => freeKeyAtLast(core, accountId, key),
    },
    webhooks,
    tokens,
    limits: createLimits(shared),
    attempts: createAttempts(shared),
    ...people,
    accounts,
    audit,
    membership: createMembership({ db: database.db, clock, plans: config.plans, audit }),
    administration: createAdministration({ db: database.db, clock, accounts, plans: config.plans }),
    plans: config.plans,
    openSignUp: config.openSignUp,
    defaultPlan: config.defaultPlan,
    originFor: (request) => originFor(core, request),
    store,
    signer,
    tools,
    findTool,
    capabilities,
    linksFor: (request) => signer.links(originFor(core, request) + apiPrefix),
    isOutage,
    reserveBytes: config.reserveBytes,
    health: () => examineHealth(core),
    metrics: () => collectMetrics(database.db),
    metricsToken: config.metricsToken,
    trustProxy: config.trustProxy,
    clock,
    log,
  };
  const app = await createApp(edge);
  releasers.add(() => closeApp(app));
  const firstLink = async () => {
    const link = await people.people.firstLink();
    return link === undefined ? undefined : linkAddress(originOf(config, core.own.address), link.secret);
  };
  return { app, firstLink };
}

/** While the database is away a key cannot be freed, and its owner will come back with it: then it is tried in the background. */
async function freeKeyAtLast({ database, log }: Core, accountId: Uuid, key: string): Promise<void> {
  const free = () => freeKey(database.db, accountId, key);
  const giveUp = (error: unknown, elapsedMs: number) => !isOutage(error) || elapsedMs > longestOutageMs;
  await free().catch((error: unknown) => {
    if (!isOutage(error)) throw error;
    retry(free, { firstPauseMs: 100, maxPauseMs: 2000, giveUp }).catch((last: unknown) =>
      log.warn({ err: last }, 'an idempotency key could not be freed'),
    );
  });
}

/** How long the database may be away before what waits for it is given up, in milliseconds. */
const longestOutageMs = 10 * 60_000;

/** How long requests under way may take when the service stops, in milliseconds. */
const requestGraceMs = 3000;

/**
 * Takes no more requests. Those that may last (streams, polls, uploads) are cut after a while: nothing of them was
 * acknowledged, a stream resumes, and running work must not wait for them to be drained.
 */
async function closeApp(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), requestGraceMs);
  await app.close();
  clearTimeout(late);
}

/** How long an answer about the workers is used, in milliseconds: installing an engine shows within seconds. */
const capabilitiesAgeMs = 2000;

/** What every worker can do: a run may be claimed by any of them. */
function createCapabilities(workers: Workers): () => Promise<Capabilities> {
  let known: Promise<Capabilities> | undefined;
  const read = async (): Promise<Capabilities> => {
    const reports = await workers.reports();
    const [first, ...others] = reports.map(({ engines }) => Object.keys(engines));
    const engines = (first ?? []).filter((id) => others.every((other) => other.includes(id)));
    const sandboxed = reports.length > 0 && reports.every(({ sandbox }) => sandbox !== 'none');
    return { engines: new Set(engines), sandboxed, known: reports.length > 0 };
  };
  return () => {
    if (known === undefined) {
      known = read();
      const forget = () => (known = undefined);
      known.then(() => setTimeout(forget, capabilitiesAgeMs).unref(), forget);
    }
    return known;
  };
}

async function examineHealth(core: Core): Promise<Health> {
  const word = async (check: Promise<unknown>, otherwise: string) => check.then(() => 'ok').catch(() => otherwise);
  const anyWorker = core.workers.alive().then((alive) => {
    if (alive.length === 0) throw new Error('no worker');
  });
  const [database, storage, worker] = await Promise.all([
    word(core.database.pool.query('select 1'), 'cannot be reached'),
    word(core.store.check(), 'cannot be written'),
    word(anyWorker, 'none is connected'),
  ]);
  const levels = await core.workers.reports().then(
    (reports) => [...new Set(reports.map(({ sandbox }) => sandbox))],
    () => [],
  );
  const checks = { database, storage, worker };
  return {
    ready: Object.values(checks).every((text) => text === 'ok'),
    checks,
    sandbox: levels.join(', ') || 'unknown',
  };
}

interface RunningWorker {
  sandbox: Sandbox;
  engines: Record<string, string>;
  /** Takes nothing more and waits for running work; the releasers wait for the same. */
  stop(): Promise<void>;
}

/** Everything that executes runs, delivers webhooks and cleans up. */
export async function composeWorker(core: Core): Promise<RunningWorker> {
  const { config, clock, log, releasers, database, queue, store, runs, workers } = core;
  const sandbox = await createSandbox({ policy: config.sandbox, hiddenDirectory: config.dataDirectory });
  const offered = allEngines().filter((engine) => engine !== webAccess || config.fetch !== 'off');
  const engines = await examineEngines(offered);
  const guard = createAddressGuard({ allow: config.webhookAllow });
  const freshen = (payload: Record<string, unknown>) => freshenLinks(payload, core);
  const deliveries = startDeliveries({ db: database.db, queue, guard, clock, log, freshen });
  releasers.add(() => deliveries.stop());
  const wake = () => deliveries.wake();
  const dueAtOnce = listen(
    database,
    { channels: [deliveryChannel], onMessage: wake, onConnect: async () => wake() },
    log,
  );
  releasers.add(() => dueAtOnce.close());
  const retention = await startRetention({ db: database.db, queue, store, clock, log });
  releasers.add(() => retention.stop());
  const worker = await startWorker({
    runs,
    workers,
    database,
    store,
    createHosts: (workDirectory) =>
      createHostPool({
        sandbox,
        limits: {
          memoryBytes: config.runMemoryBytes,
          fileBytes: config.runFileBytes,
          openFiles: 1024,
          processes: 512,
          temporaryBytes: config.runMemoryBytes,
        },
        workDirectory,
        compiledCode: compiledCodeDirectory(config.dataDirectory),
        maxIdle: config.slots,
        isolation: config.isolation,
        clock,
        log,
      }),
    workRoot: join(config.dataDirectory, 'work'),
    findTool,
    examine: async () => ({ sandbox: sandbox.level, engines: await examineEngines(offered) }),
    web: config.fetch === 'off' ? undefined : createWebAccess({ allow: config.fetchAllow }),
    slots: config.slots,
    sandboxLevel: sandbox.level,
    clock,
    log,
  });
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= worker.stop(config.drainSeconds));
  releasers.add(stop);
  return { sandbox, engines, stop };
}

/** A delivery may be tried hours after the run: its download addresses are signed anew. */
function freshenLinks(payload: Record<string, unknown>, core: Core): Record<string, unknown> {
  const run = payload['data'] as Partial<Run> | undefined;
  if (run?.outputs === undefined || run.archive_url === undefined) return payload;
  const outputs = run.outputs.map((output) => ({ ...output, url: core.signer.renew(output.url) }));
  return { ...payload, data: { ...run, outputs, archive_url: core.signer.renew(run.archive_url) } };
}
