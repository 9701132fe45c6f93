import type { FastifyInstance } from 'fastify';
import type { Usage, UsageHistory } from '@millrun/sdk';
import { nextMidnight } from '../../runs/runs.ts';
import type { Edge } from '../edge.ts';
import * as schemas from '../schemas.ts';

export function usageRoutes(api: FastifyInstance, edge: Edge): void {
  api.get(
    '/usage',
    {
      schema: {
        tags: ['Account'],
        summary: 'What is used and what the plan allows',
        response: schemas.replies({ 200: schemas.usage }),
      },
    },
    async ({ owner }): Promise<Usage> => {
      const { plan, planName } = owner;
      const [today, standing] = await Promise.all([
        edge.runs.usageToday(owner),
        edge.limits.standing(owner.accountId, planName, plan),
      ]);
      return {
        plan: planName,
        runs_today: today.runs,
        runs_per_day: plan.runsPerDay,
        api_rate_limit: plan.requestsPerMinute,
        runs_remaining: plan.runsPerDay === 0 ? null : Math.max(0, plan.runsPerDay - today.runs),
        resets_at: nextMidnight(edge.clock.now()).toISOString(),
        requests_this_minute: standing === undefined ? null : standing.limit - standing.remaining,
        bytes_in_today: today.bytesIn,
        bytes_out_today: today.bytesOut,
        limits: {
          max_file_bytes: plan.maxFileBytes,
          max_files: plan.maxFiles,
          max_run_bytes: plan.maxRunBytes,
          concurrent_runs: plan.concurrentRuns,
        },
      };
    },
  );
  api.get<{ Querystring: { days?: number } }>(
    '/usage/history',
    {
      schema: {
        tags: ['Account'],
        summary: 'What the runs of the last days came to, by day and tool',
        querystring: schemas.historyQuery,
        response: schemas.replies({ 200: schemas.usageHistory }, 400),
      },
    },
    async ({ owner, query }): Promise<UsageHistory> => edge.runs.usageHistory(owner, query.days ?? 30),
  );
}
