import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AccountSummary, LinkInfo, SessionState, SignedInDevice } from '@millrun/web/wire';
import type { MemberAccount, Visitor } from '../../accounts/people.ts';
import { authPrefix } from '../../accounts/sign-in.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { publicId } from '../../lib/ids.ts';
import * as schemas from '../account-schemas.ts';
import type { Body } from '../account-schemas.ts';
import { actorOf, browserOf, requirePage, setCookies } from '../browser.ts';
import type { Edge } from '../edge.ts';

/** Who is signed in, as the page is told. */
function sessionStates(edge: Edge): (visitor: Visitor | undefined) => Promise<SessionState> {
  const { people, openSignUp, signIn } = edge;
  return async (visitor) => {
    const always: SessionState = { open_sign_up: openSignUp, oidc: signIn.oidc?.name ?? null };
    if (visitor === undefined) return always;
    const { personId, email, admin, account, accounts } = visitor;
    return {
      ...always,
      person: { id: publicId('person', personId), email, admin, has_password: await people.hasPassword(personId) },
      account: summarize(edge, account),
      accounts: accounts.map((each) => summarize(edge, each)),
    };
  };
}

/** Coming in and going out; for everybody, signed in or not. */
export function sessionRoutes(app: FastifyInstance, edge: Edge): void {
  const { people, attempts } = edge;
  const stateOf = sessionStates(edge);
  const signIn = async (request: FastifyRequest, reply: FastifyReply, email: string, password: string) => {
    const visitor = await people.signIn(browserOf(request), email, password);
    setCookies(reply, visitor.cookies);
    return stateOf(visitor);
  };

  app.addHook('onRequest', async (request) => requirePage(request));
  app.get('/session', async (request, reply): Promise<SessionState> => {
    const visitor = await people.visitor(browserOf(request));
    setCookies(reply, visitor?.cookies ?? []);
    return stateOf(visitor);
  });
  app.post<Body<typeof schemas.credentials>>(
    '/session',
    { schema: { body: schemas.credentials } },
    async (request, reply): Promise<SessionState> => {
      const { email, password } = request.body;
      await attempts.count(request.ip, email);
      const state = await signIn(request, reply, email.trim(), password);
      await attempts.forgive(request.ip, email);
      return state;
    },
  );
  app.delete('/session', async (request, reply) => {
    setCookies(reply, await edge.signIn.signOut(browserOf(request)));
    return reply.code(204).send();
  });
  app.post<Body<typeof schemas.credentials>>(
    '/sign-up',
    { schema: { body: schemas.credentials } },
    async (request, reply) => {
      if (!edge.openSignUp)
        throw new AppError(403, 'sign_up_closed', 'Accounts are made by invitation here. Ask the operator for a link.');
      const { email, password } = request.body;
      await attempts.count(request.ip);
      await people.signUp(email.trim(), password, { name: email.trim(), address: request.ip });
      return reply.code(202).send({});
    },
  );
  app.post<Body<typeof schemas.linkSecret>>(
    '/link',
    { schema: { body: schemas.linkSecret } },
    async (request): Promise<LinkInfo> => {
      await attempts.count(request.ip);
      const info = await people.describeLink(request.body.secret);
      await attempts.forgive(request.ip);
      return info;
    },
  );
  app.post<Body<typeof schemas.linkAnswer>>(
    '/link/accept',
    { schema: { body: schemas.linkAnswer } },
    async (request, reply): Promise<SessionState> => {
      const { email, password } = request.body;
      await attempts.count(request.ip, email);
      const person = await people.acceptLink(request.body, { name: email, address: request.ip });
      const state = await signIn(request, reply, person.email, password);
      await attempts.forgive(request.ip, email);
      return state;
    },
  );
}

/** Plain navigations: to the provider and back. What comes back is checked against a cookie of its own. */
export function oidcRoutes(app: FastifyInstance, { signIn }: Edge): void {
  const requireProvider = () => {
    if (signIn.oidc === undefined) throw notFound('There is nothing at this address.');
  };
  app.get('/oidc/start', async (request, reply) => {
    requireProvider();
    const { location, cookies } = await signIn.startOidc(browserOf(request));
    setCookies(reply, cookies);
    return reply.redirect(location);
  });
  app.get(`${authPrefix.replace('/account', '')}/callback/oidc`, async (request, reply) => {
    requireProvider();
    const { location, cookies } = await signIn.finishOidc(browserOf(request), request.url);
    setCookies(reply, cookies);
    return reply.redirect(location);
  });
}

/** What a signed-in person may do about themselves. */
export function personRoutes(app: FastifyInstance, edge: Edge): void {
  const { people, attempts } = edge;
  const stateOf = sessionStates(edge);
  app.put<Body<typeof schemas.accountChoice>>(
    '/session/account',
    { schema: { body: schemas.accountChoice } },
    async (request): Promise<SessionState> => {
      await people.chooseAccount(request.visitor, request.body.account_id);
      return stateOf(await people.visitor(browserOf(request)));
    },
  );
  app.post<Body<typeof schemas.passwordChange>>(
    '/password',
    { schema: { body: schemas.passwordChange } },
    async (request, reply) => {
      const { current_password: current, new_password: next } = request.body;
      await attempts.count(request.ip, request.visitor.email);
      await people.changePassword(request.visitor, current, next, actorOf(request));
      await attempts.forgive(request.ip, request.visitor.email);
      return reply.code(204).send();
    },
  );
  app.get('/devices', async (request): Promise<{ data: SignedInDevice[] }> => ({
    data: await people.devices(request.visitor),
  }));
  app.delete<{ Params: { id: string } }>('/devices/:id', async (request, reply) => {
    await people.endDevice(request.visitor, request.params.id);
    return reply.code(204).send();
  });
  app.delete('/devices', async (request, reply) => {
    await people.endAll(request.visitor, actorOf(request));
    return reply.code(204).send();
  });
}

export function summarize({ plans }: Edge, { id, name, plan, role }: MemberAccount): AccountSummary {
  return { id: publicId('account', id), name, plan, api_access: plans[plan]?.apiAccess ?? false, role };
}
