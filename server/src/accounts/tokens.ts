import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { notify, type Db, type Tx } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { newUuid, publicId, type Uuid } from '../lib/ids.ts';
import type { Actor, Audit } from './audit.ts';

/** Who a token speaks for. */
export interface Bearer {
  accountId: Uuid;
  /** What the token is called. */
  name: string;
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
  create(accountId: Uuid, options: NewToken, actor: Actor): Promise<MadeToken>;
  /** Of one account, or of all; the oldest first. */
  list(accountId?: Uuid): Promise<TokenInfo[]>;
  /**
   * A new token in the place of one, for as long as that was made for; the former keeps working for the overlap. Undefined when there is no such token that is
   * not revoked, in the account if one is named.
   */
  rotate(which: WhichToken, overlapSeconds: number, actor: Actor): Promise<MadeToken | undefined>;
  /** False when there is no such token that is not revoked, in the account if one is named. */
  revoke(which: WhichToken, actor: Actor): Promise<boolean>;
  /** @throws AppError 401 with the reason as its code. */
  authenticate(token: string): Promise<Bearer>;
  /** A token or an account has changed: what is remembered of them is forgotten. */
  forget(): void;
}

export interface NewToken {
  name: string;
  expiresAt: Date | undefined;
}

/** The only time the token itself is there. */
export interface MadeToken {
  token: string;
  info: Omit<TokenInfo, 'email'>;
}

export interface WhichToken {
  id: Uuid;
  accountId?: Uuid;
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

export function createTokens(parts: { db: Db; clock: Clock; audit: Audit }): Tokens {
  const { db, clock, audit } = parts;
  const lastMarked = new Map<Uuid, number>();
  const remembered = new Map<string, { row: TokenRow; until: number }>();
  let changes = 0;

  function forget(): void {
    changes += 1;
    remembered.clear();
  }

  async function insert(tx: Tx, accountId: Uuid, { name, expiresAt }: NewToken): Promise<MadeToken> {
    const token = newToken();
    const row = {
      id: newUuid(clock),
      name,
      prefix: token.slice(0, shownLength),
      created_at: clock.now(),
      expires_at: expiresAt ?? null,
      revoked_at: null,
      last_used_at: null,
    };
    await tx
      .insertInto('tokens')
      .values({ ...row, account_id: accountId, hash: hashOf(token) })
      .execute();
    return { token, info: { ...row, id: publicId('token', row.id) } };
  }

  async function lockToken(tx: Tx, { id, accountId }: WhichToken) {
    return tx
      .selectFrom('tokens')
      .select(['account_id', 'name', 'created_at', 'expires_at'])
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
      .forUpdate()
      .executeTakeFirst();
  }

  async function findToken(hash: Buffer): Promise<TokenRow | undefined> {
    const key = hash.toString('base64');
    const known = remembered.get(key);
    if (known !== undefined && known.until > clock.monotonicMs()) return known.row;
    const changesBefore = changes;
    const row = await db
      .selectFrom('tokens as t')
      .innerJoin('accounts as a', 'a.id', 't.account_id')
      .select([
        't.id',
        't.name',
        't.account_id as accountId',
        't.expires_at as expiresAt',
        't.revoked_at as revokedAt',
        'a.plan',
      ])
      .where('t.hash', '=', hash)
      .executeTakeFirst();
    if (remembered.size >= mostRemembered) remembered.clear();
    // A change that was told meanwhile may be younger than what was read.
    if (row !== undefined && changes === changesBefore)
      remembered.set(key, { row, until: clock.monotonicMs() + rememberedMs });
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
    create: (accountId, options, actor) =>
      db.transaction().execute(async (tx) => {
        const made = await insert(tx, accountId, options);
        await audit.record(tx, { accountId, actor, action: 'token.created', subject: options.name });
        return made;
      }),
    forget,
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
    async rotate(which, overlapSeconds, actor) {
      const made = await db.transaction().execute(async (tx) => {
        const old = await lockToken(tx, which);
        if (old === undefined) return undefined;
        const now = clock.now();
        const accountId = old.account_id;
        const lifetime = old.expires_at === null ? undefined : old.expires_at.getTime() - old.created_at.getTime();
        const expiresAt = lifetime === undefined ? undefined : new Date(now.getTime() + lifetime);
        const fresh = await insert(tx, accountId, { name: old.name, expiresAt });
        const end = new Date(now.getTime() + overlapSeconds * 1000);
        const change = overlapSeconds === 0 ? { revoked_at: now } : { expires_at: earlier(old.expires_at, end) };
        await tx.updateTable('tokens').set(change).where('id', '=', which.id).execute();
        await audit.record(tx, { accountId, actor, action: 'token.rotated', subject: old.name });
        await notify(tx, accountsChannel, '');
        return fresh;
      });
      forget(); // This process hears of it only after the caller may have come back.
      return made;
    },
    async revoke(which, actor) {
      const revoked = await db.transaction().execute(async (tx) => {
        const old = await lockToken(tx, which);
        if (old === undefined) return false;
        await tx.updateTable('tokens').set({ revoked_at: clock.now() }).where('id', '=', which.id).execute();
        await audit.record(tx, { accountId: old.account_id, actor, action: 'token.revoked', subject: old.name });
        await notify(tx, accountsChannel, '');
        return true;
      });
      forget();
      return revoked;
    },
    async authenticate(token) {
      if (!isWellFormed(token)) throw refused('token_invalid', 'The API token is not valid.');
      const row = await findToken(hashOf(token));
      if (row === undefined) throw refused('token_invalid', 'The API token is not valid.');
      if (row.revokedAt !== null) throw refused('token_revoked', 'The API token was revoked.');
      if (row.expiresAt !== null && row.expiresAt <= clock.now())
        throw refused('token_expired', 'The API token has expired.');
      markUsed(row.id);
      return { accountId: row.accountId, name: row.name, plan: row.plan };
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
