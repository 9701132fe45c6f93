import type { Pool } from 'pg';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import type { Uuid } from '../lib/ids.ts';
import type { Plan } from './plans.ts';

/** Where an account, or an address, stands in its minute. */
export interface Allowance {
  allowed: boolean;
  limit: number;
  remaining: number;
  resetMs: number;
}

export interface Limits {
  /** Counts one request of an account; exact at the edge, on any number of nodes. Undefined when the plan has no limit. */
  countRequest(accountId: Uuid, planName: string, plan: Plan): Promise<Allowance | undefined>;
  /** Where an account stands, without counting anything. Undefined when the plan has no limit. */
  standing(accountId: Uuid, planName: string, plan: Plan): Promise<Allowance | undefined>;
  /** Counts one request of a person's browser, apart from the account's allowance. */
  countPage(personId: Uuid): Promise<Allowance>;
  /** Counts one request without a valid token against its address. */
  countStranger(address: string): Promise<Allowance>;
}

const windowSeconds = 60;
/** Requests a minute without a valid token, by address: half of the smallest paid plan. */
const strangerLimit = 30;
/** Requests a minute of one person's browser: the page polls and follows runs; nobody clicks as fast. */
const pageLimit = 600;

/**
 * One window of a minute an account. A single node counts in memory; with a database that several nodes may share, the
 * count is kept there so that the limit is one for all of them.
 */
export function createLimits(parts: { pool: Pool; shared: boolean }): Limits {
  const limiters = new Map<number, RateLimiterAbstract>();
  const accountLimiter = (points: number) => {
    const existing = limiters.get(points);
    if (existing !== undefined) return existing;
    const made = parts.shared
      ? sharedLimiter(parts.pool, points)
      : new RateLimiterMemory({ points, duration: windowSeconds });
    limiters.set(points, made);
    return made;
  };
  const strangers = new RateLimiterMemory({ points: strangerLimit, duration: windowSeconds });
  const pages = new RateLimiterMemory({ points: pageLimit, duration: windowSeconds });
  return {
    async countRequest(accountId, planName, plan) {
      if (plan.requestsPerMinute === 0) return undefined;
      return count(accountLimiter(plan.requestsPerMinute), accountKey(planName, accountId), plan.requestsPerMinute);
    },
    async standing(accountId, planName, plan) {
      const limit = plan.requestsPerMinute;
      if (limit === 0) return undefined;
      const state = await accountLimiter(limit).get(accountKey(planName, accountId));
      // What is kept in memory may have ended a moment ago.
      if (state === null || state.msBeforeNext <= 0) return { allowed: true, limit, remaining: limit, resetMs: 0 };
      return toAllowance(state, limit, state.remainingPoints > 0);
    },
    countPage: (personId) => count(pages, personId, pageLimit),
    countStranger: (address) => count(strangers, address, strangerLimit),
  };
}

function accountKey(planName: string, accountId: Uuid): string {
  return `${planName}:${accountId}`;
}

function sharedLimiter(pool: Pool, points: number): RateLimiterAbstract {
  return new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix: 'account',
    points,
    duration: windowSeconds,
  });
}

async function count(limiter: RateLimiterAbstract, key: string, limit: number): Promise<Allowance> {
  try {
    return toAllowance(await limiter.consume(key), limit, true);
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return toAllowance(refusal, limit, false);
    throw refusal;
  }
}

function toAllowance(state: RateLimiterRes, limit: number, allowed: boolean): Allowance {
  return { allowed, limit, remaining: Math.max(0, state.remainingPoints), resetMs: Math.max(0, state.msBeforeNext) };
}
