import type { Delivery, DeliveryDetail, Webhook, WebhookEvent, WebhookWithSecret } from '@millrun/sdk';
import type { Actor, Audit } from '../accounts/audit.ts';
import { notify, type Db, type Tx } from '../db/database.ts';
import { queueNames, within, type Queue } from '../db/queue.ts';
import type { Clock } from '../lib/clock.ts';
import { notFound, validationFailed, type AppError, type FieldErrors } from '../lib/errors.ts';
import { newUuid, parseId, publicId, type Uuid } from '../lib/ids.ts';
import type { AddressGuard } from './guard.ts';
import * as queries from './queries.ts';
import type { DeliveryRow, WebhookRow } from './queries.ts';
import { newSecret } from './sign.ts';

export const webhookEvents = ['run.completed', 'run.failed'] as const satisfies readonly WebhookEvent[];

/** Workers listen here for deliveries that are due at once. */
export const deliveryChannel = 'millrun_delivery';

/** A former secret signs beside the new one for this long after a rotation, in milliseconds. */
const secretOverlapMs = 24 * 60 * 60 * 1000;

export interface WebhookChange {
  url?: string;
  events?: readonly string[];
  enabled?: boolean;
}

export interface NewWebhook {
  url: string;
  events: readonly string[];
}

/** Every change leaves an entry in the audit log: whoever holds a token could send results elsewhere. */
export interface Webhooks {
  register(accountId: Uuid, request: NewWebhook, actor: Actor): Promise<WebhookWithSecret>;
  list(accountId: Uuid): Promise<Webhook[]>;
  get(accountId: Uuid, id: string): Promise<Webhook>;
  update(accountId: Uuid, id: string, change: WebhookChange, actor: Actor): Promise<Webhook>;
  remove(accountId: Uuid, id: string, actor: Actor): Promise<void>;
  rotateSecret(accountId: Uuid, id: string, actor: Actor): Promise<WebhookWithSecret>;
  test(accountId: Uuid, id: string): Promise<Delivery>;
  deliveries(accountId: Uuid, id: string, page: { limit: number; before?: Uuid | undefined }): Promise<Delivery[]>;
  /** With what was sent and what came back. */
  delivery(accountId: Uuid, id: string, deliveryId: string): Promise<DeliveryDetail>;
  redeliver(accountId: Uuid, id: string, deliveryId: string): Promise<Delivery>;
  /** Stores a delivery for every webhook of the account that wants the event, in the transaction that caused it. */
  enqueue(tx: Tx, event: RunEvent): Promise<void>;
}

export interface RunEvent {
  accountId: Uuid;
  type: WebhookEvent;
  runId: Uuid;
  /** The full run object; asked for only when somebody wants it. */
  payload: () => unknown;
}

interface Parts {
  db: Db;
  queue: Queue;
  guard: AddressGuard;
  clock: Clock;
  audit: Audit;
}

export function createWebhooks({ db, queue, guard, clock, audit }: Parts): Webhooks {
  async function find(accountId: Uuid, id: string): Promise<WebhookRow> {
    const uuid = parseId('webhook', id);
    const row = uuid === undefined ? undefined : await queries.selectWebhook(db, accountId, uuid);
    if (row === undefined) throw notFound('There is no webhook with this id.');
    return row;
  }

  /** Everything that is wrong with a registration or a change, by field. */
  async function judge(change: WebhookChange): Promise<void> {
    const errors: FieldErrors = {};
    if (change.url !== undefined) {
      const refusal = await guard.judge(change.url);
      if (refusal !== undefined) errors['url'] = [refusal];
    }
    if (change.events !== undefined) {
      const problem = judgeEvents(change.events);
      if (problem !== undefined) errors['events'] = [problem];
    }
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
  }

  async function store(tx: Tx, webhook: { id: Uuid; account_id: Uuid }, event: StoredEvent): Promise<DeliveryRow> {
    const createdAt = clock.now();
    const row: DeliveryRow = {
      id: newUuid(clock),
      webhook_id: webhook.id,
      account_id: webhook.account_id,
      event_id: event.id,
      event_type: event.type,
      run_id: event.runId,
      payload: event.payload,
      state: 'pending',
      attempts: [],
      next_attempt_at: createdAt,
      created_at: createdAt,
    };
    await queries.insertDelivery(tx, row);
    await sendJob(tx, row);
    return row;
  }

  async function sendJob(tx: Tx, row: DeliveryRow): Promise<void> {
    await queue.send(queueNames.deliveries, { delivery: row.id }, { group: { id: row.account_id }, db: within(tx) });
    await notify(tx, deliveryChannel, '');
  }

  return {
    async register(accountId, request, actor) {
      await judge(request);
      const row: WebhookRow = {
        id: newUuid(clock),
        account_id: accountId,
        url: request.url,
        events: uniqueEvents(request.events),
        secret: newSecret(),
        previous_secret: null,
        previous_secret_until: null,
        enabled: true,
        disabled_reason: null,
        created_at: clock.now(),
      };
      await db.transaction().execute(async (tx) => {
        await tx.insertInto('webhooks').values(row).execute();
        await audit.record(tx, { accountId, actor, action: 'webhook.registered', subject: row.url });
      });
      return { ...view(row), secret: row.secret };
    },
    async list(accountId) {
      return (await queries.selectWebhooks(db, accountId)).map(view);
    },
    async get(accountId, id) {
      return view(await find(accountId, id));
    },
    async update(accountId, id, change, actor) {
      const row = await find(accountId, id);
      await judge(change);
      const changed: WebhookRow = {
        ...row,
        url: change.url ?? row.url,
        events: change.events === undefined ? row.events : uniqueEvents(change.events),
        enabled: change.enabled ?? row.enabled,
        disabled_reason: change.enabled === true ? null : row.disabled_reason,
      };
      const { url, events, enabled, disabled_reason } = changed;
      const subject = url === row.url ? url : `${row.url}, which now is ${url}`;
      await db.transaction().execute(async (tx) => {
        const values = { url, events, enabled, disabled_reason };
        await tx.updateTable('webhooks').set(values).where('id', '=', row.id).execute();
        await audit.record(tx, { accountId, actor, action: 'webhook.changed', subject });
      });
      return view(changed);
    },
    async remove(accountId, id, actor) {
      const row = await find(accountId, id);
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('webhooks').where('id', '=', row.id).execute();
        await audit.record(tx, { accountId, actor, action: 'webhook.removed', subject: row.url });
      });
    },
    async rotateSecret(accountId, id, actor) {
      const row = await find(accountId, id);
      const secret = newSecret();
      const until = new Date(clock.now().getTime() + secretOverlapMs);
      await db.transaction().execute(async (tx) => {
        const values = { secret, previous_secret: row.secret, previous_secret_until: until };
        await tx.updateTable('webhooks').set(values).where('id', '=', row.id).execute();
        await audit.record(tx, { accountId, actor, action: 'webhook.secret_rotated', subject: row.url });
      });
      return { ...view(row), secret };
    },
    async test(accountId, id) {
      const row = await find(accountId, id);
      const event = newEvent(clock, 'webhook.test', null, {
        message: 'This is a test of your webhook. Nothing has happened.',
      });
      return viewDelivery(await db.transaction().execute((tx) => store(tx, row, event)));
    },
    async deliveries(accountId, id, page) {
      const row = await find(accountId, id);
      return (await queries.selectDeliveries(db, row.id, page)).map(viewDelivery);
    },
    async delivery(accountId, id, deliveryId) {
      const webhook = await find(accountId, id);
      const uuid = parseId('delivery', deliveryId);
      const row = uuid === undefined ? undefined : await queries.selectDelivery(db, webhook.id, uuid);
      if (row === undefined) throw noSuchDelivery();
      return viewDetail(row, webhook.url);
    },

    async redeliver(accountId, id, deliveryId) {
      const webhook = await find(accountId, id);
      const uuid = parseId('delivery', deliveryId);
      return db.transaction().execute(async (tx) => {
        const row = uuid === undefined ? undefined : await queries.lockDelivery(tx, webhook.id, uuid);
        if (row === undefined) throw noSuchDelivery();
        const again: DeliveryRow = { ...row, state: 'pending', next_attempt_at: clock.now() };
        await queries.updateDelivery(tx, again);
        await sendJob(tx, again);
        return viewDelivery(again);
      });
    },
    async enqueue(tx, event) {
      const wanting = await queries.selectWanting(tx, event.accountId, event.type);
      if (wanting.length === 0) return;
      const stored = newEvent(clock, event.type, event.runId, event.payload());
      for (const webhook of wanting) await store(tx, webhook, stored);
    },
  };
}

interface StoredEvent {
  id: Uuid;
  type: string;
  runId: Uuid | null;
  payload: Record<string, unknown>;
}

function newEvent(clock: Clock, type: string, runId: Uuid | null, data: unknown): StoredEvent {
  const id = newUuid(clock);
  return { id, type, runId, payload: { id: publicId('event', id), type, timestamp: clock.now().toISOString(), data } };
}

function judgeEvents(events: readonly string[]): string | undefined {
  if (events.length === 0) return `must name at least one of ${webhookEvents.join(', ')}`;
  const unknown = events.find((event) => !webhookEvents.some((known) => known === event));
  return unknown === undefined
    ? undefined
    : `has "${unknown.slice(0, 40)}"; the events are ${webhookEvents.join(', ')}`;
}

function uniqueEvents(events: readonly string[]): WebhookEvent[] {
  return webhookEvents.filter((event) => events.includes(event));
}

function view(row: WebhookRow): Webhook {
  return {
    id: publicId('webhook', row.id),
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    created_at: row.created_at.toISOString(),
    ...(row.disabled_reason === null ? {} : { disabled_reason: row.disabled_reason }),
  };
}

function noSuchDelivery(): AppError {
  return notFound('There is no delivery with this id.');
}

/** As it stands in a list: without what was sent and what came back. */
function viewDelivery(row: Omit<DeliveryRow, 'payload'>): Delivery {
  const attempts = row.attempts.map((attempt) => {
    const { request: _, response: __, ...tried } = attempt;
    return tried;
  });
  return { ...viewHead(row), attempts };
}

function viewDetail(row: DeliveryRow, url: string): DeliveryDetail {
  const sent = row.attempts.findLast(({ request }) => request !== undefined)?.request;
  const attempts = row.attempts.map((attempt) => {
    const { request: _, ...tried } = attempt;
    return tried;
  });
  return {
    ...viewHead(row),
    attempts,
    request: { url: sent?.url ?? url, headers: sent?.headers ?? {}, body: JSON.stringify(row.payload) },
  };
}

function viewHead(row: Omit<DeliveryRow, 'payload'>): Omit<Delivery, 'attempts'> {
  return {
    id: publicId('delivery', row.id),
    event_id: publicId('event', row.event_id),
    event_type: row.event_type as Delivery['event_type'],
    run_id: row.run_id === null ? null : publicId('run', row.run_id),
    state: row.state,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
