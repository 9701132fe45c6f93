import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunError } from '@millrun/sdk';
import { listen, type Database } from '../db/database.ts';
import { isOutage } from '../lib/outage.ts';
import { leaseSeconds } from '../db/queue.ts';
import type { FileStore } from '../files/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Failure } from '../lib/failure.ts';
import { publicId, type Uuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { holdLock } from '../lib/lock.ts';
import { createPullLoop } from '../lib/pull-loop.ts';
import { retry } from '../lib/retry.ts';
import { channels } from '../runs/events.ts';
import { outputsOf, type ClaimedRun, type Runs } from '../runs/runs.ts';
import type { WorkerReport, Workers } from '../runs/workers.ts';
import type { Tool } from '../tools/define.ts';
import { execute, type Outcome } from './execute.ts';
import type { HostPool } from './hosts.ts';
import type { WebAccess } from './web-fetch.ts';

/** How often a worker looks whether its runs are still its own, and for runs whose worker is gone, in milliseconds. */
const beatMs = 1000;
/** A poll for work in case a notification was missed, in milliseconds. */
const pollMs = 1000;

interface Parts {
  runs: Runs;
  workers: Workers;
  database: Database;
  store: FileStore;
  /** Made for the number the worker got: its work directory is named after it. */
  createHosts(workDirectory: string): HostPool;
  /** Directory of all workers of this data directory. */
  workRoot: string;
  findTool(slug: string): Tool | undefined;
  web: WebAccess | undefined;
  examine(): Promise<WorkerReport>;
  slots: number;
  /** Stands in the log of every run. */
  sandboxLevel: string;
  clock: Clock;
  log: Log;
}

export interface Worker {
  /** Takes nothing more, waits for running work, puts the rest back into the queue. */
  stop(drainSeconds: number): Promise<void>;
}

interface HeldRun {
  run: ClaimedRun;
  abort: AbortController;
}

export async function startWorker(parts: Parts): Promise<Worker> {
  const { runs, workers, clock, log } = parts;
  const held = new Map<Uuid, HeldRun>();
  const number = await workers.newNumber();
  const workDirectory = join(parts.workRoot, String(number));
  let heardAt = clock.monotonicMs();
  let giveBackRest = false;

  const take = (id: Uuid) => held.get(id)?.abort.abort();
  const takeAll = () => {
    for (const id of held.keys()) take(id);
  };

  let lookForWork = (): void => undefined;
  const listener = listen(
    parts.database,
    {
      channels: [channels.queued, channels.cancelled],
      onMessage: (channel, payload) => (channel === channels.cancelled ? take(payload) : lookForWork()),
      async onConnect(client) {
        // After a lost connection the server may hold the former session, and our lock with it, for a moment longer.
        while (!(await workers.holdNumber(client, number))) await sleep(100);
        heardAt = clock.monotonicMs();
      },
    },
    log,
  );
  // Without the lock its directory and its claims would look like those of a dead worker.
  await listener.ready;
  const letGo = await holdLock(ownerLock(workDirectory));
  const hosts = parts.createHosts(workDirectory);
  const loop = createPullLoop<ClaimedRun>({
    slots: parts.slots,
    pollMs,
    pull: (count) => runs.claim(number, count),
    handle: (run) => work(run),
    onError: (error) => log[isOutage(error) ? 'warn' : 'error']({ err: error }, 'no run could be claimed'),
  });
  lookForWork = () => loop.wake();

  async function work(run: ClaimedRun): Promise<void> {
    const abort = new AbortController();
    take(run.id); // A former attempt that was taken away from this very worker may not know it yet.
    held.set(run.id, { run, abort });
    if (giveBackRest) abort.abort(); // It was being claimed when the time to finish was over.
    const startedAt = clock.monotonicMs();
    try {
      const { outcome, tidied } = await execute({ ...parts, hosts, onProgress }, run, abort.signal);
      await Promise.all([settle(run, outcome), tidied]);
      log.info(
        {
          run: publicId('run', run.id),
          tool: run.tool,
          attempt: run.attempt,
          outcome: outcome.kind,
          sandbox: parts.sandboxLevel,
          ms: Math.round(clock.monotonicMs() - startedAt),
        },
        'run',
      );
    } catch (error) {
      log.error({ err: error, run: publicId('run', run.id) }, 'a run could not be settled; its lease will end');
    } finally {
      if (held.get(run.id)?.abort === abort) held.delete(run.id);
    }
  }

  function onProgress(run: ClaimedRun, percent: number): void {
    runs
      .progress(run, percent)
      .catch((error: unknown) => log.debug({ err: error, run: publicId('run', run.id) }, 'progress was not stored'));
  }

  /** The database may be away just now; while the lease holds, the verdict is worth waiting for. */
  async function settle(run: ClaimedRun, outcome: Outcome): Promise<void> {
    const accepted = await retry(() => settleOnce(run, outcome), {
      firstPauseMs: 100,
      maxPauseMs: 2000,
      giveUp: (error, elapsedMs) => !isOutage(error) || elapsedMs > leaseSeconds * 1000,
    });
    // Somebody else ended the run, or it was taken away: what this attempt published is nobody's.
    if (!accepted) await discard(run);
  }

  async function settleOnce(run: ClaimedRun, outcome: Outcome): Promise<boolean> {
    switch (outcome.kind) {
      case 'done':
        return runs.finish(run, outcome.outputs);
      case 'failed':
        logFailure(run, outcome.failure);
        await discard(run);
        return runs.fail(run, toRunError(outcome.failure));
      case 'lost':
        await runs.lose(run.id, run.attempt);
        return false;
      case 'aborted':
        if (giveBackRest) await runs.giveBack(run);
        return false;
    }
  }

  function discard(run: ClaimedRun): Promise<void> {
    return parts.store.removeAll(outputsOf(run.id, run.attempt));
  }

  function logFailure(run: ClaimedRun, failure: Failure): void {
    const level = failure.code === 'internal' ? 'error' : 'info';
    log[level](
      { run: publicId('run', run.id), tool: run.tool, code: failure.code, engine: failure.log, err: failure.cause },
      failure.message,
    );
  }

  /** Claims whose reply was lost, and verdicts that could not be stored: nobody would end their leases for a while. */
  const unknown = createSightings();

  async function beat(): Promise<void> {
    // What is claimed while the database is asked is not in its answer.
    const asked = [...held.values()];
    const ours = await runs.beat(
      number,
      asked.map(({ run }) => run.id),
    );
    heardAt = clock.monotonicMs();
    const current = new Map(ours.map(({ id, attempt }) => [id, attempt]));
    for (const { run, abort } of asked) if (current.get(run.id) !== run.attempt) abort.abort();
    for (const { id, attempt } of unknown(ours.filter((run) => !held.has(run.id)))) {
      log.warn({ run: publicId('run', id), attempt }, 'this worker has a run it does not know of');
      await runs.lose(id, attempt);
    }
  }

  async function beatLoop(signal: AbortSignal): Promise<void> {
    const reap = createReaper(parts, number);
    while (!signal.aborted) {
      await sleep(beatMs);
      try {
        await beat();
        await reap();
      } catch (error) {
        log[isOutage(error) ? 'warn' : 'error']({ err: error }, 'the database was not reached');
        // Out of touch for a whole lease: others may take the runs now, so this worker must not go on.
        if (clock.monotonicMs() - heardAt > leaseSeconds * 1000) takeAll();
      }
    }
  }

  await removeOldWork(parts, number);
  await workers.report(number, await parts.examine());
  const beating = new AbortController();
  const beats = beatLoop(beating.signal);
  const reporting = setInterval(() => {
    const report = async () => workers.report(number, await parts.examine());
    report().catch((error: unknown) => log.debug({ err: error }, 'the report of this worker was not stored'));
  }, 15_000);

  return {
    async stop(drainSeconds) {
      clearInterval(reporting);
      const drained = loop.stop();
      const late = setTimeout(() => {
        giveBackRest = true;
        takeAll();
      }, drainSeconds * 1000);
      await drained;
      clearTimeout(late);
      beating.abort();
      await beats;
      await hosts.close();
      await listener.close();
      await letGo?.();
      await rm(workDirectory, { recursive: true, force: true });
    },
  };
}

function toRunError({ code, message, file }: Failure): RunError {
  return { code, message, ...(file === undefined ? {} : { file }) };
}

interface Attempt {
  id: Uuid;
  attempt: number;
}

/** What was found in two looks in a row: whatever was only under way is gone by the second one. */
function createSightings(): (found: readonly Attempt[]) => Attempt[] {
  let before = new Map<Uuid, number>();
  return (found) => {
    const again = found.filter(({ id, attempt }) => before.get(id) === attempt);
    before = new Map(found.map(({ id, attempt }) => [id, attempt]));
    return again;
  };
}

/**
 * Ends the leases of workers that are gone. A worker that only lost its connection takes its number again within a
 * fraction of a second, so an orphan must be seen twice.
 */
function createReaper(parts: Parts, ownNumber: number): () => Promise<void> {
  const seenTwice = createSightings();
  return async () => {
    const orphans = seenTwice(await parts.workers.orphans());
    for (const { id, attempt } of orphans) {
      parts.log.warn({ run: publicId('run', id), attempt }, 'the worker of a run is gone');
      await parts.runs.lose(id, attempt);
    }
    if (orphans.length > 0) await removeOldWork(parts, ownNumber);
  };
}

/** Held while the worker of a directory lives, whether or not it reaches the database. */
function ownerLock(workDirectory: string): string {
  return join(workDirectory, 'worker.sock');
}

/** Removes the work directories of workers that are gone: files of runs that may have been deleted since. */
async function removeOldWork(parts: Parts, ownNumber: number): Promise<void> {
  await parts.workers.forgetDead();
  const alive = new Set([ownNumber, ...(await parts.workers.alive())].map(String));
  const names = await readdir(parts.workRoot).catch(() => []);
  for (const name of names.filter((candidate) => !alive.has(candidate))) {
    const directory = join(parts.workRoot, name);
    const letGo = await holdLock(ownerLock(directory));
    if (letGo === undefined) continue;
    await rm(directory, { recursive: true, force: true });
    await letGo();
  }
}
