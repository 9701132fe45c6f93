import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { eventually, getRun, queryDatabase, startSlow, storedFiles, submitQuick, untilStatus } from '../scenario.ts';
import { startServer, type TestServer } from '../server.ts';
import { auditEnded, deleteAll, storedRun, untilEnded } from './audit.ts';
import { descendants, kill, postmaster, toolHosts, untilGone } from './processes.ts';
import { beginUpload, env, newTenant, submitLasting } from './tenant.ts';
vi.setConfig({ testTimeout: 90_000 });
test('in the middle of runs and of an upload: they go on when it is back', async () => {
  await using server = await startServer({ env });
  server.process.on('exit', (c, s) => console.log('EXIT', c, s));
  try {
    const tenant = await newTenant(server);
    const { client } = tenant;
    const ids = [await submitLasting(client), await submitLasting(client), await submitLasting(client, 10)];
    await untilStatus(client, ids[0] ?? '', 'processing');
    await beginUpload(server, tenant);

    kill([postmaster(server.process.pid)]);
    const statuses: string[] = [];
    const t0 = performance.now();
    await eventually('the database is back', async () => {
      const { status } = await client.request(`/runs/${ids[0]}`).catch((e) => ({ status: String(e.cause) }));
      statuses.push(`${(performance.now() - t0).toFixed(0)} ${status}`);
      await sleep(10);
      return status === 200;
    });
    console.log(statuses.join('\n'));
    const runs = await auditEnded(server, client, ids);
    console.log(await queryDatabase(server, 'select status, attempt, lost_attempts from runs'));
  } finally {
    console.log(
      server
        .log()
        .split('\n')
        .filter((l) => !l.includes('incoming'))
        .slice(-60)
        .join('\n'),
    );
  }
});
