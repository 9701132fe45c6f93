import { removeExpired } from '../accounts/expired.ts';
import type { Db } from '../db/database.ts';
import { queueNames, type Queue } from '../db/queue.ts';
import type { FileStore } from '../files/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { selectExpired } from './queries.ts';
import { filesOf } from './runs.ts';
import { utcDay } from './usage.ts';

const hour = 60 * 60 * 1000;
const day = 24 * hour;

/** How long things are kept, in milliseconds. The records of runs outlive their files. */
const keep = {
  runs: 30 * day,
  idempotencyKeys: day,
  unfinishedKeys: 2 * hour,
  deliveries: 30 * day,
  usage: 400 * day,
  strayFiles: 2 * hour,
};
const batch = 200;

interface Parts {
  db: Db;
  queue: Queue;
  store: FileStore;
  clock: Clock;
  log: Log;
}

export interface Retention {
  /** Once, now. */
  sweep(): Promise<void>;
  /** Files below runs that no record knows and that were begun before a moment: what a crash left. */
  removeStrayFiles(before: Date): Promise<void>;
  stop(): Promise<void>;
}

/** Every five minutes, on one worker of all: pg-boss keeps the schedule. */
export async function startRetention(parts: Parts): Promise<Retention> {
  const { queue, log } = parts;
  const retention = createRetention(parts);
  await queue.schedule(queueNames.retention, '*/5 * * * *');
  const worker = await queue.work(queueNames.retention, { pollingIntervalSeconds: 30 }, async () => {
    try {
      await retention.sweep();
    } catch (error) {
      log.error({ err: error }, 'retention');
      throw error;
    }
  });
  return { ...retention, stop: () => queue.offWork(queueNames.retention, { id: worker }) };
}

export function createRetention({ db, store, clock, log }: Omit<Parts, 'queue'>): Omit<Retention, 'stop'> {
  const ago = (age: number) => new Date(clock.now().getTime() - age);

  async function removeExpiredFiles(): Promise<void> {
    for (;;) {
      const due = await selectExpired(db, clock.now(), batch);
      for (const { id } of due) {
        // The record first: a crash in between leaves files that removeStrayFiles finds, never a link to nothing.
        await db.updateTable('runs').set({ files_removed: true }).where('id', '=', id).execute();
        await store.removeAll(filesOf(id));
      }
      if (due.length > 0) log.info({ runs: due.length }, 'files removed after retention');
      if (due.length < batch) return;
    }
  }

  async function removeOldRecords(): Promise<void> {
    await db
      .deleteFrom('runs')
      .where('created_at', '<', ago(keep.runs))
      .where('status', 'in', ['done', 'failed'])
      .where('files_removed', '=', true)
      .execute();
    await db.deleteFrom('idempotency_keys').where('created_at', '<', ago(keep.idempotencyKeys)).execute();
    await db
      .deleteFrom('idempotency_keys')
      .where('created_at', '<', ago(keep.unfinishedKeys))
      .where('response', 'is', null)
      .execute();
    await db
      .deleteFrom('webhook_deliveries')
      .where('created_at', '<', ago(keep.deliveries))
      .where('state', '<>', 'pending')
      .execute();
    await removeExpired(db, clock.now());
    await db
      .deleteFrom('usage_by_tool')
      .where('day', '<', utcDay(ago(keep.usage)))
      .execute();
  }

  async function removeStrayFiles(before: Date): Promise<void> {
    let ids: Uuid[] = [];
    const removeUnknown = async () => {
      if (ids.length === 0) return;
      const known = await db
        .selectFrom('runs')
        .select('id')
        .where('id', 'in', ids)
        .where('files_removed', '=', false)
        .execute();
      const kept = new Set(known.map(({ id }) => id));
      for (const id of ids.filter((candidate) => !kept.has(candidate))) await store.removeAll(filesOf(id));
      ids = [];
    };
    for await (const key of store.list('runs', before)) {
      ids.push(key.slice('runs/'.length));
      if (ids.length >= batch) await removeUnknown();
    }
    await removeUnknown();
  }

  return {
    async sweep() {
      await removeExpiredFiles();
      await removeOldRecords();
      await removeStrayFiles(ago(keep.strayFiles));
    },
    removeStrayFiles,
  };
}
