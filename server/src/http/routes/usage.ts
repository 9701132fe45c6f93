import type { FastifyInstance } from 'fastify';
import type { Usage } from '@millrun/sdk';
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
      const runsToday = await edge.runs.runsToday(owner);
      return {
        plan: planName,
        runs_today: runsToday,
        runs_per_day: plan.runsPerDay,
        api_rate_limit: plan.requestsPerMinute,
        runs_remaining: plan.runsPerDay === 0 ? null : Math.max(0, plan.runsPerDay - runsToday),
        resets_at: nextMidnight(edge.clock.now()).toISOString(),
        limits: {
          max_file_bytes: plan.maxFileBytes,
          max_files: plan.maxFiles,
          max_run_bytes: plan.maxRunBytes,
          concurrent_runs: plan.concurrentRuns,
        },
      };
    },
  );
}
