import type { Submission } from '@millrun/sdk';
import type { Db, Tx } from '../db/database.ts';
import { AppError, badRequest } from '../lib/errors.ts';
import type { Uuid } from '../lib/ids.ts';

/** A key and what it stands for: SHA-256 over tool, fields and files. */
export interface IdempotentRequest {
  key: string;
  fingerprint: Buffer;
}

/** What is known of a key when a request with it arrives. */
export type KeyState =
  | { kind: 'new' }
  /** The same key has been answered: the body decides whether it is the same request. */
  | { kind: 'answered'; fingerprint: Buffer; reply: Submission };

const longestKey = 255;

export function readKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.length < 1 || header.length > longestKey) {
    throw badRequest('invalid_idempotency_key', `Idempotency-Key must have 1 to ${longestKey} characters.`);
  }
  return header;
}

/**
 * Reserves a key before its request is read.
 *
 * @throws AppError 409 `idempotency_key_in_use` while another request with it is being received.
 */
export async function reserveKey(db: Db, accountId: Uuid, key: string): Promise<KeyState> {
  const inserted = await db
    .insertInto('idempotency_keys')
    .values({ account_id: accountId, key, fingerprint: null, response: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .executeTakeFirst();
  if (inserted !== undefined) return { kind: 'new' };
  const row = await db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'response'])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .executeTakeFirst();
  if (row?.fingerprint === undefined || row.fingerprint === null || row.response === null) {
    throw new AppError(
      409,
      'idempotency_key_in_use',
      'Another request with this Idempotency-Key is still being received.',
    );
  }
  return { kind: 'answered', fingerprint: row.fingerprint, reply: row.response as unknown as Submission };
}

/** Makes the key stand for the reply, in the transaction of the submission. */
export async function rememberReply(
  tx: Tx,
  accountId: Uuid,
  request: IdempotentRequest,
  reply: Submission,
): Promise<void> {
  await tx
    .updateTable('idempotency_keys')
    .set({ fingerprint: request.fingerprint, response: JSON.stringify(reply) })
    .where('account_id', '=', accountId)
    .where('key', '=', request.key)
    .execute();
}

/** Frees a key whose request came to nothing; one that was answered stays. */
export async function freeKey(db: Db, accountId: Uuid, key: string): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('response', 'is', null)
    .execute();
}

export function keyReused(): AppError {
  const message = 'This Idempotency-Key was used with another request.';
  return new AppError(422, 'idempotency_key_reused', message, { body: { errors: { 'Idempotency-Key': [message] } } });
}
