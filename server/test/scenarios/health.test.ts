import { describe, expect, test } from 'vitest';
import { createClient } from '../client.ts';
import { cancel, errorOf, eventually, makeToken, startSlow, submitQuick, useServer } from '../scenario.ts';
import { startServer } from '../server.ts';

interface Readiness {
  status: string;
  checks: Record<string, string>;
  sandbox: string;
}

describe('a server that runs', () => {
  const scenario = useServer({ env: { MILLRUN_SLOTS: '1' } });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(scenario.server.origin + path, { headers });

  test('says that it is alive, without a token', async () => {
    const response = await get('/healthz');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });

  test('says that it is ready, part by part, and how engines are confined', async () => {
    const response = await get('/readyz');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'ready',
      checks: { database: 'ok', storage: 'ok', worker: 'ok' },
      sandbox: expect.stringMatching(/^(bubblewrap|unshare|none)$/),
    });
  });

  test('is asked for its health as often as anybody likes', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => get('/healthz')));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
  });

  test('gives its metrics to whoever asks from the machine itself, in the form of Prometheus', async () => {
    const client = await scenario.client();
    await client.finished(await submitQuick(client));
    await client.finished(await submitQuick(client));
    const slow = await startSlow(client);
    await submitQuick(client);
    const response = await get('/metrics');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    for (const line of lines)
      expect(line).toMatch(/^(# (HELP|TYPE) \S+ .+|[a-z_][a-z_0-9]*(\{.*\})? (-?[\d.e+-]+|NaN|[+-]Inf))$/);
    expect(lines).toContain('millrun_runs{tool="qr-code-generator",status="done"} 2');
    expect(lines).toContain('millrun_runs{tool="qr-code-generator",status="processing"} 1');
    expect(lines).toContain('millrun_runs{tool="qr-code-generator",status="queued"} 1');
    expect(lines).toContain('millrun_webhook_deliveries_pending 0');
    expect(lines.some((line) => line.startsWith('millrun_queue_oldest_seconds '))).toBe(true);
    await cancel(client, slow);
  });

  test('hides its metrics from whoever comes through a proxy', async () => {
    await errorOf(await get('/metrics', { 'X-Forwarded-For': '203.0.113.5' }), 404);
  });
});

describe('an API without a worker', () => {
  test('is alive and not ready, says why, and becomes ready with a worker', async () => {
    await using api = await startServer({ role: 'api', env: { MILLRUN_METRICS_TOKEN: 'a-token-for-metrics' } });
    const read = async () => {
      const response = await fetch(`${api.origin}/readyz`);
      return { code: response.status, ...((await response.json()) as Readiness) };
    };
    expect((await fetch(`${api.origin}/healthz`)).status).toBe(200);
    expect(await read()).toMatchObject({
      code: 503,
      status: 'not_ready',
      checks: { database: 'ok', storage: 'ok', worker: 'none is connected' },
    });

    // Metrics with a token of their own: for nobody else, on the machine itself or not.
    const metrics = (token?: string) =>
      fetch(`${api.origin}/metrics`, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } });
    await errorOf(await metrics(), 401);
    await errorOf(await metrics('another'), 401);
    await errorOf(await metrics(await makeToken(api)), 401);
    expect((await metrics('a-token-for-metrics')).status).toBe(200);

    const worker = await startServer({ role: 'worker', dataDirectory: api.dataDirectory });
    try {
      expect(await eventually('it is ready', async () => (await read()).code === 200 && read())).toMatchObject({
        status: 'ready',
        checks: { worker: 'ok' },
      });
      const client = createClient(api.base, await makeToken(api));
      await eventually('the worker offers its tools', async () => {
        const response = await client.request('/tools/qr-code-generator');
        return ((await response.json()) as { available: boolean }).available;
      });
      expect((await client.finished(await submitQuick(client))).status).toBe('done');
    } finally {
      await worker.stop();
    }
    await eventually('it is not ready any more', async () => (await read()).code === 503);
  });
});
