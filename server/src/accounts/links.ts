import { createHash, randomBytes } from 'node:crypto';
import type { LinkInfo, MemberRole } from '@millrun/web/wire';
import type { Db, Tx } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { newUuid, type Uuid } from '../lib/ids.ts';

/** What a one-time link allows whoever holds it. */
export interface LinkGrant {
  purpose: LinkInfo['purpose'];
  /** The address it was made for; without it the person chooses one. */
  email?: string | undefined;
  /** The account an invitation leads into; without it a new one is made, on `plan`. */
  accountId?: Uuid | undefined;
  role?: MemberRole | undefined;
  plan?: string | undefined;
  /** Makes an administrator of who uses it. */
  admin?: boolean;
  /** Whose password a recovery replaces. */
  personId?: Uuid | undefined;
}

export interface Link {
  id: Uuid;
  purpose: LinkInfo['purpose'];
  email: string | null;
  accountId: Uuid | null;
  role: MemberRole | null;
  plan: string | null;
  admin: boolean;
  personId: Uuid | null;
  expiresAt: Date;
}

export interface NewLink {
  id: Uuid;
  /** Stands in the fragment of the link, and nowhere else. */
  secret: string;
  expiresAt: Date;
}

const day = 86_400_000;
/** How long a link can be used, in milliseconds. */
const lifetimes: Record<LinkInfo['purpose'], number> = { first_person: day, invitation: 7 * day, recovery: day };
const secretBytes = 32;

export async function makeLink(tx: Tx | Db, clock: Clock, grant: LinkGrant): Promise<NewLink> {
  const now = clock.now();
  const secret = randomBytes(secretBytes).toString('base64url');
  const id = newUuid(clock);
  const expiresAt = new Date(now.getTime() + lifetimes[grant.purpose]);
  await tx
    .insertInto('links')
    .values({
      id,
      secret_hash: hashOf(secret),
      purpose: grant.purpose,
      email: grant.email?.toLowerCase() ?? null,
      account_id: grant.accountId ?? null,
      role: grant.role ?? null,
      plan: grant.plan ?? null,
      admin: grant.admin ?? false,
      person_id: grant.personId ?? null,
      created_at: now,
      expires_at: expiresAt,
    })
    .execute();
  return { id, secret, expiresAt };
}

/** @throws AppError 404 `link_invalid` for one that is unknown, used or too old. */
export async function findLink(db: Db, clock: Clock, secret: string): Promise<Link> {
  const row = await select(db, clock, secret).executeTakeFirst();
  if (row === undefined) throw linkInvalid();
  return row;
}

/** The link for the rest of the transaction, after which it is gone. @throws AppError 404 as `findLink`. */
export async function takeLink(tx: Tx, clock: Clock, secret: string): Promise<Link> {
  const row = await select(tx, clock, secret).forUpdate().executeTakeFirst();
  if (row === undefined) throw linkInvalid();
  await tx.deleteFrom('links').where('id', '=', row.id).execute();
  return row;
}

function select(db: Db | Tx, clock: Clock, secret: string) {
  return db
    .selectFrom('links')
    .select([
      'id',
      'purpose',
      'email',
      'account_id as accountId',
      'role',
      'plan',
      'admin',
      'person_id as personId',
      'expires_at as expiresAt',
    ])
    .where('secret_hash', '=', hashOf(secret))
    .where('expires_at', '>', clock.now());
}

/** The address of a link. A fragment reaches no server, so no log and no proxy sees the secret. */
export function linkAddress(origin: string, secret: string): string {
  return `${origin}/link#${secret}`;
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export function linkInvalid(): AppError {
  return new AppError(404, 'link_invalid', 'This link was used already, is too old, or is not complete.');
}
