import { createHash } from 'node:crypto';
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import { Client, Pool, type ClientConfig, types } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../lib/log.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export interface Database {
  db: Db;
  pool: Pool;
  /** True when the database belongs to this data directory alone. */
  embedded: boolean;
  /** A connection of its own, for LISTEN and session locks. */
  connect(): Promise<Client>;
  close(): Promise<void>;
}

/**
 * Gives every statement with parameters a name, so that PostgreSQL parses and plans it once a connection: planning the
 * queue's fetch costs more than running it. Names follow the text, so equal statements share one.
 */
class PreparingClient extends Client {
  readonly #names = new Map<string, string>();

  // pg's own overloads are too many to repeat; everything but parametrised statements passes through unchanged.
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...args: any[]): any {
    const [first, second, ...rest] = args as [unknown, unknown, ...unknown[]];
    const text = typeof first === 'string' ? first : (first as { text?: string }).text;
    const values = typeof first === 'string' ? second : (first as { values?: unknown[] }).values;
    if (text === undefined || !Array.isArray(values) || values.length === 0) return super.query(...(args as [string]));
    const named = { text, values, name: this.#nameOf(text) };
    return super.query(named, ...((typeof first === 'string' ? rest : args.slice(1)) as []));
  }

  #nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
    this.#names.set(text, name);
    return name;
  }
}

/** A day (`2026-11-21`) stays text: a Date would be moved by the process's time zone. */
types.setTypeParser(types.builtins.DATE, (value) => value);

/**
 * Connects to `DATABASE_URL`, or to the embedded PostgreSQL of the data directory, which is started when nobody runs it.
 * The schema is brought up to date first.
 */
export async function openDatabase(
  options: { databaseUrl: string | undefined; dataDirectory: string },
  log: Log,
): Promise<Database> {
  const embedded =
    options.databaseUrl === undefined ? await startEmbeddedPostgres(options.dataDirectory, log) : undefined;
  const connection: ClientConfig = embedded?.connection ?? { connectionString: options.databaseUrl };
  const pool = new Pool({
    ...connection,
    max: 20,
    Client: PreparingClient,
    connectionTimeoutMillis: 5000,
    // The client's limit: statement_timeout does not help when the server cannot be reached.
    query_timeout: 30_000,
    // A process that stands still in the middle of a transaction must not hold up all others with its locks.
    idle_in_transaction_session_timeout: 10_000,
    application_name: 'millrun',
  });
  // Without a listener a connection that is reset ends the process: the pool's is for idle ones, each needs its own at work.
  pool.on('connect', (client) => client.on('error', () => undefined)); // The statement it runs fails with the same error.
  pool.on('error', (error) => log.warn({ reason: error.message }, 'a database connection was lost'));
  try {
    const applied = await migrate(pool);
    if (applied.length > 0) log.info({ applied }, 'database migrated');
  } catch (error) {
    await pool.end();
    await embedded?.stop();
    throw error;
  }
  return {
    db: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }),
    pool,
    embedded: embedded !== undefined,
    async connect() {
      const client = new Client({ ...connection, keepAlive: true, connectionTimeoutMillis: 5000 });
      client.on('error', () => undefined); // Its owner listens for 'end'.
      await client.connect();
      return client;
    },
    async close() {
      await pool.end();
      await embedded?.stop();
    },
  };
}

/** Sends a message to every process when (and only when) the transaction commits. */
export async function notify(tx: Tx | Db, channel: string, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(tx);
}

export interface Listener {
  close(): Promise<void>;
}

/**
 * LISTEN on a connection of its own that is opened again when it is lost. `onConnect` runs on each new connection before
 * anything is delivered: whoever keeps state must look again, because messages of the gap are gone.
 */
export function listen(
  database: Database,
  options: {
    channels: readonly string[];
    onMessage(channel: string, payload: string): void;
    onConnect?(client: Client): Promise<void>;
    onLost?(): void;
  },
  log: Log,
): Listener & { ready: Promise<void> } {
  let client: Client | undefined;
  let closed = false;
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
  const connectOnce = async () => {
    client = await database.connect();
    const ended = new Promise<void>((resolve) => client?.once('end', () => resolve()));
    client.on('notification', ({ channel, payload }) => options.onMessage(channel, payload ?? ''));
    for (const channel of options.channels) await client.query(`listen ${channel}`);
    await options.onConnect?.(client);
    becomeReady();
    await ended;
  };
  const keepUp = async () => {
    while (!closed) {
      await connectOnce().catch((error: unknown) => log.debug({ err: error }, 'the listening connection failed'));
      if (closed) return;
      options.onLost?.();
      await sleep(200);
    }
  };
  const running = keepUp();
  return {
    ready,
    async close() {
      closed = true;
      becomeReady();
      await client?.end().catch(() => undefined);
      await running;
    },
  };
}
