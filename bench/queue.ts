/** A claim with 10,000 runs queued, of two accounts. Mark: under 2 ms. Measured inside the room, on the real database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCore } from '../server/src/compose.ts';
import { readConfig } from '../server/src/config.ts';
import { commandLine } from '../server/src/accounts/audit.ts';
import { defaultPlans } from '../server/src/accounts/plans.ts';
import { systemClock } from '../server/src/lib/clock.ts';
import { newUuid } from '../server/src/lib/ids.ts';
import { createLog } from '../server/src/lib/log.ts';
import type { Owner } from '../server/src/runs/runs.ts';
import { median } from './measure.ts';

const queued = 10_000;
const claims = 200;

const directory = await mkdtemp(join(tmpdir(), 'millrun-bench-'));
const core = await openCore(readConfig({ MILLRUN_DATA_DIR: directory }), createLog('fatal'), { worker: true });
const { accounts } = core;
const links = core.signer.links('http://127.0.0.1/api/v2');

async function ownerOf(email: string): Promise<Owner> {
  const { id, plan } = await accounts.ensure(email, 'unlimited', commandLine);
  const limits = defaultPlans[plan];
  if (limits === undefined) throw new Error(`no plan ${plan}`);
  return { accountId: id, planName: plan, plan: limits };
}

const owners = [await ownerOf('a@example.com'), await ownerOf('b@example.com')];
const submit = (index: number) => {
  const owner = owners[index % 2];
  if (owner === undefined) throw new Error('no owner');
  const request = { id: newUuid(systemClock), tool: 'qr-code-generator', settings: {}, form: {}, inputs: [] };
  return core.runs.submit(owner, request, links);
};
const startedAt = performance.now();
for (let done = 0; done < queued; done += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => submit(done + i)));
console.log(`${queued} runs submitted, ${(queued / ((performance.now() - startedAt) / 1000)).toFixed(0)}/s`);

const times: number[] = [];
for (let i = 0; i < claims; i++) {
  const begun = performance.now();
  const [run] = await core.runs.claim(1, 1);
  times.push(performance.now() - begun);
  if (run === undefined) throw new Error('nothing was claimed');
  await core.runs.fail(run, { code: 'cancelled', message: 'bench' });
}
const sorted = times.toSorted((a, b) => a - b);
console.log(
  `claim with ${queued} queued: p50 ${median(times).toFixed(2)} ms, p95 ${(sorted[Math.floor(claims * 0.95)] ?? 0).toFixed(2)} ms`,
);
await core.releasers.releaseAll();
await rm(directory, { recursive: true, force: true });
process.exit(0);
