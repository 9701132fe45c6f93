import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../accounts/audit.ts';
import type { Allowance, Limits } from '../accounts/limits.ts';
import type { People } from '../accounts/people.ts';
import type { Plans } from '../accounts/plans.ts';
import { refused, type Bearer, type Tokens } from '../accounts/tokens.ts';
import { AppError } from '../lib/errors.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Owner } from '../runs/runs.ts';
import { actorOf, identify, isFromPage } from './browser.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set by `authenticate`. */
    owner: Owner;
    /** The same, as the audit log names them: a person at the page, or a token. */
    actor: Actor;
  }
}

interface Parts {
  tokens: Tokens;
  people: People;
  limits: Limits;
  plans: Plans;
}

/** The hook before every API route: token → account (401), plan (403), minute (429). No byte of a body has been read. */
export function createGate(parts: Parts): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    if (request.headers.authorization === undefined && isFromPage(request)) return letPageIn(parts, request, reply);
    const bearer = await authenticate(parts, request);
    request.owner = ownerOf(parts.plans, bearer.accountId, bearer.plan);
    request.actor = { name: `token ${bearer.name}`, address: request.ip };
    await countRequest(parts.limits, request.owner, reply);
    const { planName, plan } = request.owner;
    if (!plan.apiAccess)
      throw new AppError(403, 'plan_without_api_access', `The plan "${planName}" does not include API access.`);
  };
}

/** The account page shows what a token would get. Looking costs nothing of the account's minute; starting a run does. */
async function letPageIn(
  { people, limits, plans }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  request.visitor = await identify(people, request, reply);
  const { account, personId } = request.visitor;
  request.owner = ownerOf(plans, account.id, account.plan);
  request.actor = actorOf(request);
  const allowance = await limits.countPage(personId);
  if (!allowance.allowed) throw rateLimited('Too many requests from this browser', allowance);
  if (startsRun(request)) await countRequest(limits, request.owner, reply);
}

function startsRun({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'POST' && /\/(tools\/:slug|retry)$/.test(routeOptions.url ?? '');
}

async function countRequest(limits: Limits, { accountId, planName, plan }: Owner, reply: FastifyReply): Promise<void> {
  const allowance = await limits.countRequest(accountId, planName, plan);
  if (allowance !== undefined) applyAllowance(reply, allowance);
}

function ownerOf(plans: Plans, accountId: Uuid, planName: string): Owner {
  const plan = plans[planName];
  if (plan === undefined)
    throw new AppError(403, 'plan_without_api_access', `The plan "${planName}" is not offered any more.`);
  return { accountId, planName, plan };
}

async function authenticate(parts: Parts, request: FastifyRequest): Promise<Bearer> {
  try {
    return await parts.tokens.authenticate(readBearer(request.headers.authorization));
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
