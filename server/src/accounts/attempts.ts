import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Pool } from 'pg';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import { AppError } from '../lib/errors.ts';

/** Guards whatever takes a secret by guess: sign-in, one-time links, a password change, sign-up. */
export interface Attempts {
  /**
   * Counts an attempt before the secret is looked at, so that many at once cannot slip through together.
   *
   * @throws AppError 429 `rate_limited` with `Retry-After`.
   */
  count(address: string, email?: string): Promise<void>;
  /** It was right: a person who mistyped first starts anew. */
  forgive(address: string, email?: string): Promise<void>;
}

const tenMinutes = 600;
const hour = 3600;
/** Attempts from one network address, of one network address for one e-mail address, and for one e-mail address. */
const fromAddress = { points: 50, duration: tenMinutes };
const forPair = { points: 10, duration: tenMinutes };
const forEmail = { points: 100, duration: hour };

/** In memory on a single node; in the database when several nodes may share it. */
export function createAttempts({ pool, shared }: { pool: Pool; shared: boolean }): Attempts {
  const limiter = (keyPrefix: string, rule: { points: number; duration: number }): RateLimiterAbstract =>
    shared
      ? new RateLimiterPostgres({
          storeClient: pool,
          storeType: 'pool',
          tableName: 'rate_limits',
          tableCreated: true,
          keyPrefix,
          ...rule,
        })
      : new RateLimiterMemory({ keyPrefix, ...rule });
  const addresses = limiter('from', fromAddress);
  const pairs = limiter('pair', forPair);
  const emails = limiter('email', forEmail);
  return {
    async count(address, email) {
      const block = blockOf(address);
      await consume(addresses, block);
      if (email === undefined) return;
      await consume(pairs, pairKey(block, email));
      await consume(emails, keyOf(email));
    },
    async forgive(address, email) {
      const block = blockOf(address);
      await addresses.reward(block);
      if (email === undefined) return;
      await pairs.delete(pairKey(block, email));
      await emails.reward(keyOf(email));
    },
  };
}

async function consume(limiter: RateLimiterAbstract, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    const minutes = Math.ceil(seconds / 60);
    throw new AppError(
      429,
      'rate_limited',
      `Too many attempts; try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
      {
        headers: { 'Retry-After': String(seconds) },
      },
    );
  }
}

/** One person has a whole /64 of IPv6 addresses. */
function blockOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  return new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.split(':').slice(0, 4).join(':');
}

function pairKey(block: string, email: string): string {
  return `${block} ${keyOf(email)}`;
}

function keyOf(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
}
