import { sql } from 'kysely';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Db } from '../db/database.ts';

const registry = new Registry();
collectDefaultMetrics({ register: registry });

const runsByStatus = new Gauge({
  name: 'millrun_runs',
  help: 'Runs of the last 24 hours by tool and status, and everything queued or processing.',
  labelNames: ['tool', 'status'],
  registers: [registry],
});
const oldestQueued = new Gauge({
  name: 'millrun_queue_oldest_seconds',
  help: 'Age of the oldest queued run.',
  registers: [registry],
});
const pendingDeliveries = new Gauge({
  name: 'millrun_webhook_deliveries_pending',
  help: 'Webhook deliveries that are not done.',
  registers: [registry],
});

/** The Prometheus text: this process, and what the database knows of the whole service. */
export async function collectMetrics(db: Db): Promise<string> {
  const counts = await sql<{ tool: string; status: string; count: number }>`
    select tool, status, count(*)::int as count from runs
    where status in ('queued', 'processing') or created_at > now() - interval '24 hours'
    group by tool, status`.execute(db);
  runsByStatus.reset();
  for (const { tool, status, count } of counts.rows) runsByStatus.set({ tool, status }, count);
  const waiting = await sql<{ oldest: number; deliveries: number }>`
    select
      coalesce((select extract(epoch from now() - min(created_at)) from runs where status = 'queued'), 0)::float8 as oldest,
      (select count(*)::int from webhook_deliveries where state = 'pending') as deliveries`.execute(db);
  oldestQueued.set(waiting.rows[0]?.oldest ?? 0);
  pendingDeliveries.set(waiting.rows[0]?.deliveries ?? 0);
  return registry.metrics();
}
