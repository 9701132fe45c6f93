import { beforeAll, describe, expect, test } from 'vitest';
import type { Submission, Usage } from '@millrun/sdk';
import { systemClock } from '../../src/lib/clock.ts';
import { createClient, type Client } from '../client.ts';
import {
  avoidMidnight,
  cancel,
  errorOf,
  eventually,
  getRun,
  makeToken,
  quick,
  startSlow,
  storedFiles,
  submitQuick,
  submitSlow,
  useServer,
} from '../scenario.ts';

const plans = {
  frugal: { runs_per_day: 3 },
  lonely: { concurrent_runs: 1 },
  brisk: { requests_per_minute: 5 },
};
// Strangers are told apart by address, which a proxy in front would say.
const scenario = useServer({
  env: { MILLRUN_PLANS: JSON.stringify(plans), MILLRUN_TRUST_PROXY: 'yes', MILLRUN_SLOTS: '3' },
});
avoidMidnight();

async function usageOf(client: Client): Promise<Usage> {
  const response = await client.request('/usage');
  expect(response.status).toBe(200);
  return (await response.json()) as Usage;
}

const countOf = (responses: readonly Response[], status: number) =>
  responses.filter((response) => response.status === status).length;

const statuses = (responses: readonly Response[]) => responses.map(({ status }) => status).toSorted();

describe('usage', () => {
  test('says what the plan is, what it allows and what is used', async () => {
    const pro = await scenario.client('pro');
    const midnight = new RegExp(`T00:00:00\\.000Z$`);
    expect(await usageOf(pro)).toEqual({
      plan: 'pro',
      runs_today: 0,
      runs_per_day: 500,
      api_rate_limit: 60,
      runs_remaining: 500,
      resets_at: expect.stringMatching(midnight),
      requests_this_minute: 1,
      bytes_in_today: 0,
      bytes_out_today: 0,
      limits: { max_file_bytes: 500_000_000, max_files: 50, max_run_bytes: expect.any(Number), concurrent_runs: 4 },
    });
    await submitQuick(pro);
    await submitQuick(pro);
    const after = await usageOf(pro);
    expect(after).toMatchObject({ runs_today: 2, runs_remaining: 498 });
    const left = Date.parse(after.resets_at) - systemClock.now().getTime();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(24 * 60 * 60 * 1000);
  });

  test('has the numbers of the team plan', async () => {
    expect(await usageOf(await scenario.client('team'))).toMatchObject({
      plan: 'team',
      runs_per_day: 2000,
      api_rate_limit: 120,
      limits: { max_file_bytes: 2_000_000_000, max_files: 200, concurrent_runs: 16 },
    });
  });

  test('has 0 for what has no limit, and nothing remaining to count', async () => {
    const client = await scenario.client('unlimited');
    expect(await usageOf(client)).toMatchObject({
      runs_per_day: 0,
      api_rate_limit: 0,
      runs_remaining: null,
      requests_this_minute: null,
    });
    const response = await client.request('/usage');
    expect(response.headers.has('x-ratelimit-limit')).toBe(false);
  });

  test('has the numbers an operator has set', async () => {
    expect(await usageOf(await scenario.client('frugal'))).toMatchObject({ plan: 'frugal', runs_per_day: 3 });
  });
});

describe('the rate limit', () => {
  test('accepts 60 requests of a pro minute and refuses the 61st, in order', async () => {
    const client = await scenario.client('pro');
    for (let request = 1; request <= 60; request++) {
      const response = await client.request('/usage');
      expect(response.status, `request ${request}`).toBe(200);
      expect(response.headers.get('x-ratelimit-limit')).toBe('60');
      expect(response.headers.get('x-ratelimit-remaining')).toBe(String(60 - request));
      expect(await response.json()).toMatchObject({ requests_this_minute: request });
    }
    const response = await client.request('/usage');
    const seconds = Number(response.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(Number.isInteger(seconds)).toBe(true);
    expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
    const error = await errorOf(response, 429);
    expect(error).toMatchObject({ code: 'rate_limited', message: expect.stringContaining('60') });
  });

  test('accepts exactly 120 of 200 requests of a team that come together', async () => {
    const client = await scenario.client('team');
    const responses = await Promise.all(Array.from({ length: 200 }, () => client.request('/usage')));
    expect(countOf(responses, 200)).toBe(120);
    expect(countOf(responses, 429)).toBe(80);
    for (const response of responses.filter(({ status }) => status === 429)) {
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
  });

  test('is one for the account: a second token gives no more, another account has its own', async () => {
    const { server } = scenario;
    const email = 'two-tokens@example.com';
    const tokens = await Promise.all(
      [1, 2].map((name) => server.millrun('token', 'create', '--email', email, '--plan', 'brisk', '--name', `${name}`)),
    );
    const [first, second] = tokens.map((token) => createClient(server.base, token)) as [Client, Client];
    const responses = [];
    for (const client of [first, second, first, second, first, second]) responses.push(await client.request('/usage'));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    const other = await scenario.client('brisk');
    expect((await other.request('/usage')).status).toBe(200);
  });

  test('counts every request, also one that comes to nothing', async () => {
    const client = await scenario.client('brisk');
    await client.request('/runs/run_00000000000000000000000000');
    await client.request('/runs?limit=0');
    await client.request('/webhooks', { method: 'POST', body: '{', headers: { 'Content-Type': 'application/json' } });
    await client.submit('no-such-tool', []);
    expect((await client.request('/tools')).headers.get('x-ratelimit-remaining')).toBe('0');
    await errorOf(await client.request('/tools'), 429);
  });

  test('is told on every reply, by the usual names and by those of the IETF draft', async () => {
    const client = await scenario.client('pro');
    const id = await submitQuick(client);
    await client.finished(id);
    const replies = [
      await client.request('/usage'),
      await client.request('/runs/run_00000000000000000000000000'),
      await client.request(`/runs/${id}/stream`),
      await client.request(`/runs/${id}/archive`),
      await client.request('/webhooks', { method: 'POST', body: '{', headers: { 'Content-Type': 'application/json' } }),
      await client.submit(quick.tool, quick.files, {}),
      await client.submit(quick.tool, quick.files, quick.settings),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 404, 200, 200, 400, 422, 202]);
    for (const { headers, url } of replies) {
      const remaining = Number(headers.get('x-ratelimit-remaining'));
      const reset = Number(headers.get('x-ratelimit-reset'));
      expect(headers.get('x-ratelimit-limit'), url).toBe('60');
      expect(remaining, url).toBeGreaterThan(0);
      expect(reset, url).toBeGreaterThan(0);
      expect(reset, url).toBeLessThanOrEqual(60);
      expect(headers.get('ratelimit-policy'), url).toBe('"minute";q=60;w=60');
      expect(headers.get('ratelimit'), url).toBe(`"minute";r=${remaining};t=${reset}`);
    }
    const [first, ...others] = replies.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(others).toEqual(others.map((_, index) => (first ?? 0) - index - 1));
  });

  test('does not count downloads through signed addresses', async () => {
    const client = await scenario.client('brisk');
    const run = await client.finished(await submitQuick(client));
    const url = run.outputs?.[0]?.url ?? '';
    const unsigned = url.split('?')[0] ?? '';
    for (let download = 0; download < 10; download++) {
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(response.headers.has('x-ratelimit-remaining')).toBe(false);
      await response.body?.cancel();
    }
    // Without the signature it is a request of the account: the third to fifth of this minute, and one too many.
    const responses = [];
    for (let request = 0; request < 4; request++) responses.push(await client.request(unsigned));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect((await fetch(url)).status).toBe(200);
  });

  test('refuses an upload before it is received', async () => {
    const client = await scenario.client('brisk');
    for (let request = 0; request < 5; request++) await client.request('/usage');
    const before = await storedFiles(scenario.server);
    const response = await client.submit('image-compressor', [{ filename: 'a.png', content: Buffer.alloc(5_000_000) }]);
    await errorOf(response, 429);
    expect(await storedFiles(scenario.server)).toEqual(before);
  });
});

describe('strangers', () => {
  const knock = (address: string, token?: string) =>
    fetch(`${scenario.server.base}/usage`, {
      headers: {
        'X-Forwarded-For': address,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
    });

  test('are limited by address, more strictly than any paid plan', async () => {
    const guess = `mr_${'0'.repeat(46)}`;
    const responses = [];
    // Without a token and with a wrong one: it is the same count.
    for (let request = 0; request < 40; request++) {
      responses.push(await knock('203.0.113.7', request % 2 === 0 ? undefined : guess));
    }
    const accepted = responses.findIndex(({ status }) => status === 429);
    expect(accepted).toBeGreaterThan(5);
    expect(accepted).toBeLessThan(60);
    expect(countOf(responses.slice(0, accepted), 401)).toBe(accepted);
    expect(countOf(responses.slice(accepted), 429)).toBe(40 - accepted);
    const last = await knock('203.0.113.7');
    expect(last.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect((await errorOf(last, 429)).code).toBe('rate_limited');

    // Nobody else suffers: not another address, nor whoever has a token at the same one.
    await errorOf(await knock('203.0.113.8'), 401);
    expect((await knock('203.0.113.7', await makeToken(scenario.server))).status).toBe(200);
  });
});

describe('a plan without API access', () => {
  test('is 403 on every route, and nothing happens', async () => {
    const free = await scenario.client('free');
    const routes = [
      ['GET', '/tools'],
      ['GET', '/tools/image-compressor'],
      ['GET', '/runs'],
      ['GET', '/runs/run_00000000000000000000000000'],
      ['POST', '/runs/run_00000000000000000000000000/cancel'],
      ['DELETE', '/runs/run_00000000000000000000000000'],
      ['GET', '/runs/run_00000000000000000000000000/stream'],
      ['GET', '/usage'],
      ['GET', '/webhooks'],
    ] as const;
    for (const [method, path] of routes) {
      const error = await errorOf(await free.request(path, { method }), 403);
      expect(error.code, path).toBe('plan_without_api_access');
    }
  });

  test('is 403 for a submission too, before a byte of it is kept', async () => {
    const free = await scenario.client('free');
    const before = await storedFiles(scenario.server);
    const response = await free.submit('image-compressor', [{ filename: 'a.png', content: Buffer.alloc(5_000_000) }]);
    expect((await errorOf(response, 403)).code).toBe('plan_without_api_access');
    expect(await storedFiles(scenario.server)).toEqual(before);
  });
});

describe('the runs of a day', () => {
  test('are counted when they are accepted: of those that race for the last one, one gets it', async () => {
    const client = await scenario.client('frugal');
    for (const id of [await submitQuick(client), await submitQuick(client)]) await client.finished(id);
    const before = await storedFiles(scenario.server);
    const list = { filename: 'list.txt', content: 'one' };
    const responses = await Promise.all(Array.from({ length: 10 }, () => client.submit('qr-code-generator', [list])));
    expect(statuses(responses)).toEqual([202, ...Array.from({ length: 9 }, () => 429)]);
    expect(await usageOf(client)).toMatchObject({ runs_today: 3, runs_remaining: 0 });

    const refused = responses.find(({ status }) => status === 429) as Response;
    const untilMidnight = 86_400 - ((systemClock.now().getTime() / 1000) % 86_400);
    expect(Math.abs(Number(refused.headers.get('retry-after')) - untilMidnight)).toBeLessThan(60);
    expect((await errorOf(refused, 429)).code).toBe('daily_run_limit_reached');
    const accepted = responses.find(({ status }) => status === 202) as Response;
    await client.finished(((await accepted.json()) as Submission).id);
    const kept = (await storedFiles(scenario.server)).filter((file) => !before.includes(file));
    expect(kept).toHaveLength(2); // Its input and its output: nothing of the nine others.
  });

  test('are not counted for what is refused, and come back when a queued run is cancelled', async () => {
    const client = await scenario.client('frugal');
    await errorOf(await client.submit(quick.tool, quick.files, {}), 422);
    await errorOf(await client.submit('no-such-tool', []), 404);
    expect((await usageOf(client)).runs_today).toBe(0);

    // All places of the worker are taken, so the last one of this account stays queued.
    const busy = await scenario.client();
    const slow = [await startSlow(busy), await startSlow(busy), await startSlow(busy)];
    const ids = [await submitQuick(client), await submitQuick(client), await submitQuick(client)];
    await errorOf(await client.submit(quick.tool, quick.files, quick.settings), 429);
    await cancel(client, ids[2] ?? '');
    expect(await usageOf(client)).toMatchObject({ runs_today: 2, runs_remaining: 1 });
    expect((await client.submit(quick.tool, quick.files, quick.settings)).status).toBe(202);
    await errorOf(await client.submit(quick.tool, quick.files, quick.settings), 429);
    for (const id of slow) await cancel(busy, id);
  });
});

describe('runs at the same time', () => {
  let client: Client;
  beforeAll(async () => (client = await scenario.client('lonely')));

  test('are as many as the plan allows, and the rest of the worker is for others', async () => {
    const first = await startSlow(client);
    const second = await submitSlow(client);
    const other = await scenario.client('lonely');
    // Runs of somebody else start and end; the account's second one has been passed over each time.
    for (let round = 0; round < 3; round++) {
      expect((await other.finished(await submitQuick(other))).status).toBe('done');
    }
    expect((await getRun(client, first)).status).toBe('processing');
    expect((await getRun(client, second)).status).toBe('queued');
    await cancel(client, first);
    await eventually('the second one starts', async () => (await getRun(client, second)).status === 'processing');
    await cancel(client, second);
  });
});
