import type { Db } from '../db/database.ts';
import { isOutage } from '../lib/outage.ts';
import { queueNames, within, type Queue } from '../db/queue.ts';
import type { StoredAttempt } from '../db/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { publicId, type Uuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { createPullLoop, type PullLoop } from '../lib/pull-loop.ts';
import type { AddressGuard } from './guard.ts';
import * as queries from './queries.ts';
import type { DeliveryRow, WebhookRow } from './queries.ts';
import { signatureHeaders } from './sign.ts';

/** Pauses before the tries, in seconds: the contract's 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h. */
export const pauses = [0, 5, 300, 1800, 7200, 18_000, 36_000] as const;
/** A pause is longer by up to this share, so that many deliveries that failed together do not come back together. */
const jitter = 0.1;
const timeoutMs = 15_000;
/** Tries at once in this worker, and of them for one account: a slow receiver holds up nobody else. */
const slots = 40;
const perAccount = 5;

/** Replies kept of a delivery: its owner may have it sent again without end. */
const keptResponses = 10;

interface Parts {
  db: Db;
  queue: Queue;
  guard: AddressGuard;
  clock: Clock;
  log: Log;
  /** Renews what ages in a stored payload: the download addresses. */
  freshen(payload: Record<string, unknown>): Record<string, unknown>;
}

interface Job {
  id: string;
  delivery: Uuid;
}

export function startDeliveries(parts: Parts): PullLoop {
  const { queue, log } = parts;
  return createPullLoop<Job>({
    slots,
    pollMs: 1000,
    async pull(count) {
      const jobs = await queue.fetch<{ delivery: Uuid }>(queueNames.deliveries, {
        batchSize: count,
        groupConcurrency: perAccount,
      });
      return jobs.map(({ id, data }) => ({ id, delivery: data.delivery }));
    },
    handle: (job) =>
      deliver(parts, job).catch((error: unknown) => log.error({ err: error, delivery: job.delivery }, 'delivery')),
    onError: (error) => log[isOutage(error) ? 'warn' : 'error']({ err: error }, 'deliveries could not be fetched'),
  });
}

/** One try. A worker that dies in it leaves the job to the next one: at least once. */
async function deliver(parts: Parts, job: Job): Promise<void> {
  const due = await queries.selectDue(parts.db, job.delivery);
  if (due === undefined || due.delivery.state !== 'pending') {
    await parts.queue.deleteJob(queueNames.deliveries, job.id);
    return;
  }
  const made: Try = due.webhook.enabled
    ? await post(parts, due.delivery, due.webhook)
    : { attempt: { at: parts.clock.now().toISOString(), error: 'The webhook is disabled.', duration_ms: 0 } };
  await record(parts, job, due, made);
}

interface Try {
  attempt: StoredAttempt;
  /** The payload as it was sent; absent when the receiver was not called. */
  sent?: Record<string, unknown>;
}

async function post(parts: Parts, delivery: DeliveryRow, webhook: WebhookRow): Promise<Try> {
  const at = parts.clock.now();
  const payload = parts.freshen(delivery.payload);
  const body = JSON.stringify(payload);
  const headers = {
    'Content-Type': 'application/json',
    ...signatureHeaders({
      id: publicId('event', delivery.event_id),
      timestamp: at,
      body,
      secrets: secretsOf(webhook, at),
    }),
  };
  const { durationMs, sentHeaders, status, error, response } = await parts.guard.post(webhook.url, {
    body,
    headers,
    timeoutMs,
  });
  const attempt: StoredAttempt = {
    at: at.toISOString(),
    duration_ms: Math.round(durationMs),
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(sentHeaders === undefined ? {} : { request: { url: webhook.url, headers: sentHeaders } }),
    ...(response === undefined ? {} : { response }),
  };
  return sentHeaders === undefined ? { attempt } : { attempt, sent: payload };
}

function secretsOf(webhook: WebhookRow, now: Date): string[] {
  const { previous_secret, previous_secret_until } = webhook;
  const overlaps = previous_secret !== null && previous_secret_until !== null && previous_secret_until > now;
  return overlaps ? [webhook.secret, previous_secret] : [webhook.secret];
}

async function record(
  parts: Parts,
  job: Job,
  due: { delivery: DeliveryRow; webhook: WebhookRow },
  { attempt, sent }: Try,
): Promise<void> {
  const { webhook } = due;
  const gone = attempt.status === 410;
  await parts.db.transaction().execute(async (tx) => {
    await parts.queue.deleteJob(queueNames.deliveries, job.id, { db: within(tx) });
    if (gone) await queries.disableWebhook(tx, webhook.id, 'The receiver answered 410 Gone.');
    // Its owner may have had it sent again meanwhile: another try may have been recorded since ours began.
    const delivery = await queries.lockDelivery(tx, webhook.id, due.delivery.id);
    if (delivery === undefined) return;
    const attempts = withAttempt(delivery.attempts, attempt);
    const delivered = delivery.state === 'delivered' || isSuccess(attempt);
    const pause = delivered || gone || !webhook.enabled ? undefined : pauses[attempts.length];
    const wait = pause === undefined ? undefined : pause * (1 + Math.random() * jitter);
    await queries.updateDelivery(tx, {
      ...delivery,
      payload: sent ?? delivery.payload,
      attempts,
      state: delivered ? 'delivered' : wait === undefined ? 'failed' : 'pending',
      next_attempt_at: wait === undefined ? null : new Date(parts.clock.now().getTime() + wait * 1000),
    });
    if (wait === undefined) return;
    const next = { startAfter: Math.round(wait), group: { id: delivery.account_id }, db: within(tx) };
    await parts.queue.send(queueNames.deliveries, { delivery: delivery.id }, next);
  });
}

/** Only the latest attempts keep what came back, and the latest that sent anything what it sent. */
export function withAttempt(attempts: readonly StoredAttempt[], latest: StoredAttempt): StoredAttempt[] {
  const firstKept = attempts.length + 1 - keptResponses;
  const earlier = attempts.map(({ request, response, ...attempt }, index) => ({
    ...attempt,
    ...(request === undefined || latest.request !== undefined ? {} : { request }),
    ...(response === undefined || index < firstKept ? {} : { response }),
  }));
  return [...earlier, latest];
}

function isSuccess({ status }: StoredAttempt): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
