import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AccountSummary, AuditPage, MadeLink, MadeToken, Member, Membership, TokenInfo } from '@millrun/web/wire';
import { linkAddress, type NewLink } from '../../accounts/links.ts';
import type { TokenInfo as StoredToken } from '../../accounts/tokens.ts';
import { AppError, notFound, validationFailed } from '../../lib/errors.ts';
import { parseId, type Uuid } from '../../lib/ids.ts';
import * as schemas from '../account-schemas.ts';
import type { Body } from '../account-schemas.ts';
import { actorOf } from '../browser.ts';
import type { Edge } from '../edge.ts';
import { summarize } from './session.ts';

type Id = { Params: { id: string } };
type Page = { Querystring: { limit?: number; cursor?: string } };

/** Matters of the account a signed-in person works in. */
export function accountRoutes(app: FastifyInstance, edge: Edge): void {
  const { accounts, audit } = edge;
  tokenRoutes(app, edge);
  memberRoutes(app, edge);
  app.patch<Body<typeof schemas.accountChange>>(
    '/',
    { schema: { body: schemas.accountChange } },
    async (request): Promise<AccountSummary> => {
      requireOwner(request);
      const { account } = request.visitor;
      const name = request.body.name.trim();
      await accounts.rename(account.id, name, actorOf(request));
      return summarize(edge, { ...account, name });
    },
  );
  app.get<Page>('/audit', { schema: { querystring: schemas.pageOf } }, async (request): Promise<AuditPage> => {
    requireOwner(request);
    return audit.list(request.visitor.account.id, { limit: 20, ...request.query });
  });
}

function tokenRoutes(app: FastifyInstance, { tokens, clock }: Edge): void {
  const accountOf = (request: FastifyRequest): Uuid => request.visitor.account.id;
  app.get('/tokens', async (request): Promise<{ data: TokenInfo[] }> => ({
    data: (await tokens.list(accountOf(request))).map(viewToken).toReversed(),
  }));
  app.post<Body<typeof schemas.newToken>>('/tokens', { schema: { body: schemas.newToken } }, async (request, reply) => {
    const { name, expires_at } = request.body;
    const expiresAt = expires_at === null ? undefined : readExpiry(expires_at, clock.now());
    const made = await tokens.create(accountOf(request), { name: name.trim(), expiresAt }, actorOf(request));
    return reply.code(201).send({ ...viewToken(made.info), token: made.token } satisfies MadeToken);
  });
  app.post<Id & Body<typeof schemas.rotation>>(
    '/tokens/:id/rotate',
    { schema: { body: schemas.rotation } },
    async (request, reply) => {
      const which = { id: tokenUuid(request.params.id), accountId: accountOf(request) };
      const made = await tokens.rotate(which, request.body.overlap_s, actorOf(request));
      if (made === undefined) throw noSuchToken();
      return reply.code(201).send({ ...viewToken(made.info), token: made.token } satisfies MadeToken);
    },
  );
  app.delete<Id>('/tokens/:id', async (request, reply) => {
    const which = { id: tokenUuid(request.params.id), accountId: accountOf(request) };
    if (!(await tokens.revoke(which, actorOf(request)))) throw noSuchToken();
    return reply.code(204).send();
  });
}

function memberRoutes(app: FastifyInstance, edge: Edge): void {
  const { membership } = edge;
  app.get('/members', async (request): Promise<Membership> => {
    const { id, role } = request.visitor.account;
    return membership.view(id, role === 'owner');
  });
  app.post<Body<typeof schemas.invitation>>(
    '/invitations',
    { schema: { body: schemas.invitation } },
    async (request, reply) => {
      requireOwner(request);
      const { email, role } = request.body;
      const invitation = { email: email === null ? null : email.trim(), role };
      const link = await membership.invite(request.visitor.account.id, invitation, actorOf(request));
      return reply.code(201).send(viewLink(edge, request, link));
    },
  );
  app.delete<Id>('/invitations/:id', async (request, reply) => {
    requireOwner(request);
    await membership.withdraw(request.visitor.account.id, request.params.id, actorOf(request));
    return reply.code(204).send();
  });
  app.patch<Id & Body<typeof schemas.roleChange>>(
    '/members/:id',
    { schema: { body: schemas.roleChange } },
    async (request): Promise<Member> => {
      requireOwner(request);
      const { id } = request.visitor.account;
      return membership.setRole(id, request.params.id, request.body.role, actorOf(request));
    },
  );
  app.delete<Id>('/members/:id', async (request, reply) => {
    const { visitor, params } = request;
    if (parseId('person', params.id) !== visitor.personId) requireOwner(request);
    await membership.remove(visitor.account.id, params.id, actorOf(request));
    return reply.code(204).send();
  });
}

export function viewLink(edge: Edge, request: FastifyRequest, { secret, expiresAt }: NewLink): MadeLink {
  return { url: linkAddress(edge.originFor(request), secret), expires_at: expiresAt.toISOString() };
}

function requireOwner({ visitor }: FastifyRequest): void {
  if (visitor.account.role !== 'owner')
    throw new AppError(403, 'owners_only', 'Only an owner of the account may see or change this.');
}

function viewToken(token: Omit<StoredToken, 'email'>): TokenInfo {
  return {
    id: token.id,
    name: token.name,
    prefix: token.prefix,
    created_at: token.created_at.toISOString(),
    expires_at: token.expires_at?.toISOString() ?? null,
    revoked_at: token.revoked_at?.toISOString() ?? null,
    last_used_at: token.last_used_at?.toISOString() ?? null,
  };
}

/** RFC 3339 with its zone; a date alone would mean another day elsewhere. */
const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

function readExpiry(text: string, now: Date): Date {
  const at = new Date(text);
  if (!timeShape.test(text) || Number.isNaN(at.getTime()))
    throw validationFailed({ expires_at: ['must be a time such as 2027-01-31T12:00:00Z'] });
  if (at <= now) throw validationFailed({ expires_at: ['must be in the future'] });
  return at;
}

function tokenUuid(id: string): Uuid {
  const uuid = parseId('token', id);
  if (uuid === undefined) throw noSuchToken();
  return uuid;
}

function noSuchToken(): AppError {
  return notFound('There is no token with this id that is not revoked.');
}
