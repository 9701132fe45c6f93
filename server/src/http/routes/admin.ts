import type { FastifyInstance } from 'fastify';
import type { AdminAccount, AdminAccounts, AdminSettings, Member, PlanInfo } from '@millrun/web/wire';
import type { Plan } from '../../accounts/plans.ts';
import { notFound } from '../../lib/errors.ts';
import * as schemas from '../account-schemas.ts';
import type { Body } from '../account-schemas.ts';
import { actorOf } from '../browser.ts';
import type { Edge } from '../edge.ts';
import { viewLink } from './account.ts';

type Id = { Params: { id: string } };

/** What an administrator sees and sets; for others these addresses do not exist. */
export function adminRoutes(app: FastifyInstance, edge: Edge): void {
  const { administration } = edge;
  app.addHook('onRequest', async ({ visitor }) => {
    if (!visitor.admin) throw notFound('There is nothing at this address.');
  });
  app.get('/settings', async (): Promise<AdminSettings> => ({
    plans: Object.entries(edge.plans).map(viewPlan),
    default_plan: edge.defaultPlan,
    open_sign_up: edge.openSignUp,
    oidc: edge.signIn.oidc?.name ?? null,
  }));
  app.get<{ Querystring: { q?: string; limit?: number; cursor?: string } }>(
    '/accounts',
    { schema: { querystring: schemas.accountsQuery } },
    async (request): Promise<AdminAccounts> => administration.accounts({ limit: 20, ...request.query }),
  );
  app.patch<Id & Body<typeof schemas.planChange>>(
    '/accounts/:id',
    { schema: { body: schemas.planChange } },
    async (request): Promise<AdminAccount> =>
      administration.setPlan(request.params.id, request.body.plan, actorOf(request)),
  );
  app.get<Id>('/accounts/:id/people', async (request): Promise<{ data: (Member & { admin: boolean })[] }> => ({
    data: await administration.people(request.params.id),
  }));
  app.post<Body<typeof schemas.adminInvitation>>(
    '/invitations',
    { schema: { body: schemas.adminInvitation } },
    async (request, reply) => {
      const { email, plan } = request.body;
      const link = await administration.invite({ email: email === null ? null : email.trim(), plan });
      return reply.code(201).send(viewLink(edge, request, link));
    },
  );
  app.post<Id>('/people/:id/recovery', async (request, reply) =>
    reply.code(201).send(viewLink(edge, request, await administration.recover(request.params.id))),
  );
  app.patch<Id & Body<typeof schemas.adminChange>>(
    '/people/:id',
    { schema: { body: schemas.adminChange } },
    async (request, reply) => {
      await administration.setAdmin(request.params.id, request.body.admin);
      return reply.code(204).send();
    },
  );
}

function viewPlan([name, plan]: [string, Plan]): PlanInfo {
  return {
    name,
    api_access: plan.apiAccess,
    requests_per_minute: plan.requestsPerMinute,
    runs_per_day: plan.runsPerDay,
    max_file_bytes: plan.maxFileBytes,
    max_files: plan.maxFiles,
    max_run_bytes: plan.maxRunBytes,
    concurrent_runs: plan.concurrentRuns,
    members: plan.members,
  };
}
