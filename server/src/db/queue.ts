import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { PgBoss, fromKysely, type ConstructorOptions } from 'pg-boss';
import type { Log } from '../lib/log.ts';
import type { Database, Db, Tx } from './database.ts';

/** Everything that waits is a job of pg-boss in the same database, so that it commits with what it belongs to. */
export type Queue = PgBoss;

export const queueNames = { runs: 'runs', deliveries: 'deliveries', retention: 'retention' } as const;

/** A job whose worker has not been heard of for this long is handed to another: the fallback for a lost host. */
export const leaseSeconds = 30;

const day = 24 * 60 * 60;

/**
 * pg-boss on our pool, with its queues. `maintain` is for workers: they look after lost and old jobs and run schedules.
 * Attempts are counted by the run, not by the job, so the job itself may be tried without end.
 */
export async function openQueue(database: Database, options: { maintain: boolean }, log: Log): Promise<Queue> {
  const executeSql = async (text: string, values?: unknown[]) => database.pool.query(text, values);
  const settings: ConstructorOptions = {
    db: { executeSql },
    schema: 'pgboss',
    supervise: options.maintain,
    schedule: options.maintain,
    monitorIntervalSeconds: 10,
    queueCacheIntervalSeconds: 60,
  };
  const boss = new PgBoss(settings);
  boss.on('error', (error) => log.warn({ err: error }, 'queue'));
  await boss.start();
  const endless = {
    retryLimit: 10_000,
    retryDelay: 0,
    deleteAfterSeconds: 60,
    retentionSeconds: 30 * day,
    expireInSeconds: day - 1,
  };
  await makeQueue(boss, queueNames.runs, { ...endless, heartbeatSeconds: leaseSeconds, partition: true });
  await makeQueue(boss, queueNames.deliveries, { ...endless, expireInSeconds: 120, partition: true });
  await makeQueue(boss, queueNames.retention, {
    retryLimit: 0,
    expireInSeconds: 3600,
    deleteAfterSeconds: 3600,
    policy: 'singleton',
  });
  // What pg-boss knows of a queue it reads through the pool at first use. In a transaction that would be a second
  // connection for one caller: enough callers at once would wait for each other for ever.
  for (const name of Object.values(queueNames)) await boss.touch(name, randomUUID());
  return boss;
}

async function makeQueue(boss: PgBoss, name: string, options: Parameters<PgBoss['createQueue']>[1]): Promise<void> {
  if ((await boss.getQueue(name)) === null) await boss.createQueue(name, options);
}

/** Makes a pg-boss call part of a transaction. */
export function within(tx: Tx | Db): ReturnType<typeof fromKysely> {
  // Kysely's types are wider than the adapter's structural ones; the call it makes is the same.
  return fromKysely(tx);
}

/**
 * Serialises claims, so that the limit on an account's running work is exact on any number of workers, and what would
 * take the locks of a claim in another order.
 */
export async function lockClaims(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(claimLock)})`.execute(tx);
}

const claimLock = 0x6d72_0002;
