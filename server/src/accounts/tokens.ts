import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { notify, type Db } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { newUuid, publicId, type Uuid } from '../lib/ids.ts';

/** Who a token speaks for. */
export interface Bearer {
  accountId: Uuid;
  plan: string;
}

export interface TokenInfo {
  id: string;
  name: string;
  prefix: string;
  email: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

export interface Tokens {
  /** Makes a token and returns it, for the only time. */
  create(accountId: Uuid, options: { name: string; expiresAt: Date | undefined }): Promise<string>;
  list(accountId?: Uuid): Promise<TokenInfo[]>;
  /** A new token in the place of one, which keeps working for the overlap. Undefined when there is no such token. */
  rotate(tokenId: Uuid, overlapSeconds: number): Promise<string | undefined>;
  revoke(tokenId: Uuid): Promise<boolean>;
  /** @throws AppError 401 with the reason as its code. */
  authenticate(token: string): Promise<Bearer>;
  /** A token or an account has changed: what is remembered of them is forgotten. */
  forget(): void;
}

/** PostgreSQL channel that tells every process that a token or an account has changed. */
export const accountsChannel = 'millrun_accounts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 40;
const checksumLength = 6;
const shape = new RegExp(`^mr_[0-9A-Za-z]{${secretLength + checksumLength}}$`);
const shownLength = 'mr_'.length + 6;
/**
 * How long a token that was good is believed without a query, in milliseconds. A change is told to every process at once;
 * this bounds what a lost message can do.
 */
const rememberedMs = 1000;
const mostRemembered = 10_000;
/** `last_used_at` is for people: once a minute is enough, and keeps a write off most requests. */
const lastUsedEveryMs = 60_000;

/** CRC-32 in base 62: lets a scanner, and us, tell a mistyped token without a query. */
function checksum(secret: string): string {
  let rest = crc32(secret);
  let text = '';
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

export function newToken(): string {
  const secret = Array.from({ length: secretLength }, () => alphabet[randomInt(62)]).join('');
  return `mr_${secret}${checksum(secret)}`;
}

export function isWellFormed(token: string): boolean {
  if (!shape.test(token)) return false;
  const secret = token.slice(3, 3 + secretLength);
  return token.endsWith(checksum(secret));
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export function createTokens(parts: { db: Db; clock: Clock }): Tokens {
  const { db, clock } = parts;
  const lastMarked = new Map<Uuid, number>();
  const remembered = new Map<string, { row: TokenRow; until: number }>();

  async function create(accountId: Uuid, options: { name: string; expiresAt: Date | undefined }): Promise<string> {
    const token = newToken();
    await db
      .insertInto('tokens')
      .values({
        id: newUuid(clock),
        account_id: accountId,
        name: options.name,
        hash: hashOf(token),
        prefix: token.slice(0, shownLength),
        expires_at: options.expiresAt ?? null,
      })
      .execute();
    return token;
  }

  async function findToken(hash: Buffer): Promise<TokenRow | undefined> {
    const key = hash.toString('base64');
    const known = remembered.get(key);
    if (known !== undefined && known.until > clock.monotonicMs()) return known.row;
    const row = await db
      .selectFrom('tokens as t')
      .innerJoin('accounts as a', 'a.id', 't.account_id')
      .select(['t.id', 't.account_id as accountId', 't.expires_at as expiresAt', 't.revoked_at as revokedAt', 'a.plan'])
      .where('t.hash', '=', hash)
      .executeTakeFirst();
    if (remembered.size >= mostRemembered) remembered.clear();
    if (row !== undefined) remembered.set(key, { row, until: clock.monotonicMs() + rememberedMs });
    return row;
  }

  function markUsed(id: Uuid): void {
    const now = clock.now();
    if (now.getTime() - (lastMarked.get(id) ?? 0) < lastUsedEveryMs) return;
    lastMarked.set(id, now.getTime());
    const mark = db.updateTable('tokens').set({ last_used_at: now }).where('id', '=', id).execute();
    mark.catch(() => lastMarked.delete(id)); // The next request tries again.
  }

  return {
    create,
    forget: () => remembered.clear(),
    async list(accountId) {
      const rows = await db
        .selectFrom('tokens as t')
        .innerJoin('accounts as a', 'a.id', 't.account_id')
        .select([
          't.id',
          't.name',
          't.prefix',
          'a.email',
          't.created_at',
          't.expires_at',
          't.revoked_at',
          't.last_used_at',
        ])
        .$if(accountId !== undefined, (query) => query.where('t.account_id', '=', accountId ?? ''))
        .orderBy('t.id')
        .execute();
      return rows.map((row) => ({ ...row, id: publicId('token', row.id) }));
    },
    async rotate(tokenId, overlapSeconds) {
      const old = await db
        .selectFrom('tokens')
        .select(['account_id', 'name', 'expires_at', 'revoked_at'])
        .where('id', '=', tokenId)
        .executeTakeFirst();
      if (old === undefined || old.revoked_at !== null) return undefined;
      const now = clock.now();
      const fresh = await create(old.account_id, { name: old.name, expiresAt: old.expires_at ?? undefined });
      const end = new Date(now.getTime() + overlapSeconds * 1000);
      const change = overlapSeconds === 0 ? { revoked_at: now } : { expires_at: earlier(old.expires_at, end) };
      await db.updateTable('tokens').set(change).where('id', '=', tokenId).execute();
      await notify(db, accountsChannel, '');
      return fresh;
    },
    async revoke(tokenId) {
      const revoked = await db
        .updateTable('tokens')
        .set({ revoked_at: clock.now() })
        .where('id', '=', tokenId)
        .where('revoked_at', 'is', null)
        .returning('id')
        .executeTakeFirst();
      await notify(db, accountsChannel, '');
      return revoked !== undefined;
    },
    async authenticate(token) {
      if (!isWellFormed(token)) throw refused('token_invalid', 'The API token is not valid.');
      const row = await findToken(hashOf(token));
      if (row === undefined) throw refused('token_invalid', 'The API token is not valid.');
      if (row.revokedAt !== null) throw refused('token_revoked', 'The API token was revoked.');
      if (row.expiresAt !== null && row.expiresAt <= clock.now())
        throw refused('token_expired', 'The API token has expired.');
      markUsed(row.id);
      return { accountId: row.accountId, plan: row.plan };
    },
  };
}

interface TokenRow extends Bearer {
  id: Uuid;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

function earlier(a: Date | null, b: Date): Date {
  return a !== null && a < b ? a : b;
}

export function refused(code: string, message: string): AppError {
  return new AppError(401, code, message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
