import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { eventually, getRun, startSlow } from '../scenario.ts';
import { startServer } from '../server.ts';
import { auditEnded, storedRun } from './audit.ts';
import { descendants, kill, postmaster } from './processes.ts';
import { env, newTenant } from './tenant.ts';
vi.setConfig({ testTimeout: 90_000 });
const show = (log: string) => console.log(log.split('\n').filter((l) => !l.includes('"msg":"request"')).slice(-60).join('\n'));
test('host', async () => {
    await using server = await startServer({ env: { ...env, MILLRUN_LOG_LEVEL: 'debug' } });
    try {
    const unlucky = await newTenant(server);
    const id = await startSlow(unlucky.client);
    for (const lost of [1, 2]) {
      await eventually(`attempt ${lost} has a host`, async () => {
        const { worker, lost_attempts } = await storedRun(server, id);
        return worker !== null && lost_attempts === lost - 1 && (await getRun(unlucky.client, id)).progress !== 0;
      });
      console.log(new Date().toISOString(), 'kill');
      kill(descendants(server.process.pid).filter(({ command }) => command.includes('bwrap')));
    }
    await auditEnded(server, unlucky.client, [id]);
    } finally { show(server.log()); }
});
test('pg', async () => {
    await using server = await startServer({ env });
    server.process.on('exit', (c, s) => console.log('EXIT', c, s));
    try {
    const { client } = await newTenant(server);
    const accepted: string[] = [];
    const until = performance.now() + 12_000;
    const submitting = async () => {
      while (performance.now() < until) {
        const response = await client.submit('qr-code-generator', [], { text: 'https://example.com' });
        const body = (await response.json()) as { id: string };
        if (response.status === 202) accepted.push(body.id);
        else await sleep(50);
      }
    };
    const killing = async () => {
      while (performance.now() < until - 3000) {
        await sleep(1000 + Math.random() * 2000);
        try {
          kill([postmaster(server.process.pid)]);
        } catch {
          // It is being started just now.
        }
      }
    };
    await Promise.all([submitting(), submitting(), killing()]);
    } finally { show(server.log()); }
});
