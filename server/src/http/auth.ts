import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Allowance, Limits } from '../accounts/limits.ts';
import type { Plans } from '../accounts/plans.ts';
import { refused, type Tokens } from '../accounts/tokens.ts';
import { AppError } from '../lib/errors.ts';
import type { Owner } from '../runs/runs.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set by `authenticate`. */
    owner: Owner;
  }
}

interface Parts {
  tokens: Tokens;
  limits: Limits;
  plans: Plans;
}

/** The hook before every API route: token → account (401), plan (403), minute (429). No byte of a body has been read. */
export function createGate(parts: Parts): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    request.owner = await authenticate(parts, request);
    const { accountId, planName, plan } = request.owner;
    const allowance = await parts.limits.countRequest(accountId, planName, plan);
    if (allowance !== undefined) applyAllowance(reply, allowance);
    if (!plan.apiAccess)
      throw new AppError(403, 'plan_without_api_access', `The plan "${planName}" does not include API access.`);
  };
}

async function authenticate(parts: Parts, request: FastifyRequest): Promise<Owner> {
  try {
    const token = readBearer(request.headers.authorization);
    const { accountId, plan: planName } = await parts.tokens.authenticate(token);
    const plan = parts.plans[planName];
    if (plan === undefined)
      throw new AppError(403, 'plan_without_api_access', `The plan "${planName}" is not offered any more.`);
    return { accountId, planName, plan };
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 401) throw error;
    const allowance = await parts.limits.countStranger(request.ip);
    if (!allowance.allowed)
      throw rateLimited('Too many requests without a valid API token from this address', allowance);
    throw error;
  }
}

function readBearer(header: string | undefined): string {
  if (header === undefined) throw refused('token_missing', 'Send an API token: Authorization: Bearer <API_TOKEN>.');
  const match = /^Bearer +(\S+) *$/i.exec(header);
  if (match?.[1] === undefined) throw refused('token_invalid', 'The Authorization header must be: Bearer <API_TOKEN>.');
  return match[1];
}

/**
 * The field's `X-RateLimit-*` and the IETF draft's `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers),
 * on every authenticated reply.
 */
function applyAllowance(reply: FastifyReply, allowance: Allowance): void {
  const { limit, remaining, resetMs, allowed } = allowance;
  const seconds = Math.ceil(resetMs / 1000);
  void reply.headers({
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': seconds,
    'RateLimit-Policy': `"minute";q=${limit};w=60`,
    RateLimit: `"minute";r=${remaining};t=${seconds}`,
  });
  if (!allowed) throw rateLimited(`The plan allows ${limit} requests a minute`, allowance);
}

function rateLimited(reason: string, { resetMs }: Allowance): AppError {
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  return new AppError(429, 'rate_limited', `${reason}; try again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
