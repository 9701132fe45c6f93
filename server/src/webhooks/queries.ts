import { sql, type Selectable, type SqlBool } from 'kysely';
import type { WebhookEvent } from '@millrun/sdk';
import type { Db, Tx } from '../db/database.ts';
import type { Schema, StoredAttempt } from '../db/schema.ts';
import type { Uuid } from '../lib/ids.ts';

export type WebhookRow = Selectable<Schema['webhooks']>;
export type DeliveryRow = Selectable<Schema['webhook_deliveries']>;

export function selectWebhook(db: Db, accountId: Uuid, id: Uuid): Promise<WebhookRow | undefined> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function selectWebhooks(db: Db, accountId: Uuid): Promise<WebhookRow[]> {
  return db.selectFrom('webhooks').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
}

/** The enabled webhooks of an account that subscribe to an event. */
export function selectWanting(tx: Tx, accountId: Uuid, type: WebhookEvent): Promise<{ id: Uuid; account_id: Uuid }[]> {
  return tx
    .selectFrom('webhooks')
    .select(['id', 'account_id'])
    .where('account_id', '=', accountId)
    .where('enabled', '=', true)
    .where(sql<SqlBool>`${type} = any(events)`)
    .execute();
}

export async function disableWebhook(tx: Tx, id: Uuid, reason: string): Promise<void> {
  await tx.updateTable('webhooks').set({ enabled: false, disabled_reason: reason }).where('id', '=', id).execute();
}

export async function insertDelivery(tx: Tx, row: DeliveryRow): Promise<void> {
  await tx
    .insertInto('webhook_deliveries')
    .values({ ...row, payload: JSON.stringify(row.payload), attempts: JSON.stringify(row.attempts) })
    .execute();
}

export function lockDelivery(tx: Tx, webhookId: Uuid, id: Uuid): Promise<DeliveryRow | undefined> {
  return tx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export function selectDelivery(db: Db, webhookId: Uuid, id: Uuid): Promise<DeliveryRow | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** A delivery with the webhook it goes to; undefined when either is gone. */
export async function selectDue(db: Db, id: Uuid): Promise<{ delivery: DeliveryRow; webhook: WebhookRow } | undefined> {
  const delivery = await db.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  if (delivery === undefined) return undefined;
  const webhook = await db.selectFrom('webhooks').selectAll().where('id', '=', delivery.webhook_id).executeTakeFirst();
  return webhook === undefined ? undefined : { delivery, webhook };
}

export async function updateDelivery(tx: Tx, row: DeliveryRow): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({
      state: row.state,
      payload: JSON.stringify(row.payload),
      attempts: JSON.stringify(row.attempts),
      next_attempt_at: row.next_attempt_at,
    })
    .where('id', '=', row.id)
    .execute();
}

/** Newest first, without what was sent and what came back: that is kilobytes each. */
export function selectDeliveries(
  db: Db,
  webhookId: Uuid,
  page: { limit: number; before?: Uuid | undefined },
): Promise<Omit<DeliveryRow, 'payload'>[]> {
  const attempts = sql<StoredAttempt[]>`(
    select coalesce(jsonb_agg(attempt - 'request' - 'response' order by place), '[]')
    from jsonb_array_elements(attempts) with ordinality as tried (attempt, place)
  )`.as('attempts');
  return db
    .selectFrom('webhook_deliveries')
    .select([
      'id',
      'webhook_id',
      'account_id',
      'event_id',
      'event_type',
      'run_id',
      'state',
      attempts,
      'next_attempt_at',
      'created_at',
    ])
    .where('webhook_id', '=', webhookId)
    .$if(page.before !== undefined, (query) => query.where('id', '<', page.before ?? ''))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}
