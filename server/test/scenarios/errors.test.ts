import { beforeAll, describe, expect, test } from 'vitest';
import { gzipSync } from 'node:zlib';
import type { Delivery, ErrorBody, Webhook } from '@millrun/sdk';
import { createClient, type Client } from '../client.ts';
import { multipartType, openRaw, requestHead } from '../raw-http.ts';
import {
  cancel,
  errorOf,
  eventually,
  makeToken,
  queryDatabase,
  quick,
  startSlow,
  submitQuick,
  useServer,
} from '../scenario.ts';

const scenario = useServer({
  env: {
    MILLRUN_TRUST_PROXY: 'yes', // Each stranger comes from an address of its own, so that none is limited.
    MILLRUN_WEBHOOK_ALLOW: '127.0.0.1/32',
    MILLRUN_PLANS: JSON.stringify({ brisk: { requests_per_minute: 1 } }),
  },
});
let client: Client;
beforeAll(async () => (client = await scenario.client()));

const json = { 'Content-Type': 'application/json' };
let strangers = 0;
const asStranger = () => ({ 'X-Forwarded-For': `198.51.100.${(strangers += 1) % 250}` });

/** Ids that a path names. */
interface Ids {
  run: string;
  webhook: string;
  delivery: string;
}
interface Route {
  method: string;
  path(ids: Ids): string;
  body?: string;
}

const unknown: Ids = {
  run: 'run_00000000000000000000000000',
  webhook: 'wh_00000000000000000000000000',
  delivery: 'dlv_00000000000000000000000000',
};

/** The routes that name something an account owns. */
const owned: Route[] = [
  { method: 'GET', path: ({ run }) => `/runs/${run}` },
  { method: 'GET', path: ({ run }) => `/runs/${run}?wait=1` },
  { method: 'DELETE', path: ({ run }) => `/runs/${run}` },
  { method: 'POST', path: ({ run }) => `/runs/${run}/cancel` },
  { method: 'POST', path: ({ run }) => `/runs/${run}/retry` },
  { method: 'GET', path: ({ run }) => `/runs/${run}/stream` },
  { method: 'GET', path: ({ run }) => `/runs/${run}/archive` },
  { method: 'GET', path: ({ run }) => `/runs/${run}/outputs/0` },
  { method: 'GET', path: ({ run }) => `/runs/${run}/outputs/0/qr-code.png` },
  { method: 'GET', path: ({ webhook }) => `/webhooks/${webhook}` },
  { method: 'PATCH', path: ({ webhook }) => `/webhooks/${webhook}`, body: '{"enabled":false}' },
  { method: 'DELETE', path: ({ webhook }) => `/webhooks/${webhook}` },
  { method: 'POST', path: ({ webhook }) => `/webhooks/${webhook}/test` },
  { method: 'POST', path: ({ webhook }) => `/webhooks/${webhook}/rotate-secret` },
  { method: 'GET', path: ({ webhook }) => `/webhooks/${webhook}/deliveries` },
  {
    method: 'POST',
    path: ({ webhook, delivery }) => `/webhooks/${webhook}/deliveries/${delivery}/redeliver`,
  },
];
const routes: Route[] = [
  ...owned,
  { method: 'GET', path: () => '/tools' },
  { method: 'GET', path: () => '/tools/image-compressor' },
  { method: 'POST', path: () => '/tools/image-compressor' },
  { method: 'GET', path: () => '/runs' },
  { method: 'GET', path: () => '/usage' },
  { method: 'GET', path: () => '/webhooks' },
  { method: 'POST', path: () => '/webhooks', body: '{}' },
];

function send(of: Pick<Client, 'request'>, { method, path, body }: Route, ids: Ids, headers = {}): Promise<Response> {
  const init = body === undefined ? {} : { body };
  return of.request(path(ids), { method, ...init, headers: { ...(body === undefined ? {} : json), ...headers } });
}

/** A reply as bytes and headers, without what differs from one request to the next. */
async function fingerprint(response: Response): Promise<unknown> {
  const id = response.headers.get('x-request-id') ?? 'none';
  const headers = [...response.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status: response.status, headers, text: (await response.text()).replace(id, 'ID') };
}

describe('what belongs to another account', () => {
  let theirs: Ids;
  let owner: Client;
  beforeAll(async () => {
    owner = await scenario.client();
    const hook = { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] };
    const made = await owner.request('/webhooks', { method: 'POST', headers: json, body: JSON.stringify(hook) });
    const { id: webhook } = (await made.json()) as Webhook;
    const run = await submitQuick(owner);
    await owner.finished(run);
    const deliveries = await owner.request(`/webhooks/${webhook}/deliveries`);
    const [delivery] = ((await deliveries.json()) as { data: Delivery[] }).data;
    theirs = { run, webhook, delivery: delivery?.id ?? '' };
  });

  test('is 404 on every route, byte for byte as if it had never existed', async () => {
    for (const route of owned) {
      const foreign = await send(client, route, theirs);
      const never = await send(client, route, unknown);
      expect(foreign.status, `${route.method} ${route.path(theirs)}`).toBe(404);
      expect(await fingerprint(foreign)).toEqual(await fingerprint(never));
    }
  });

  test('is still as it was afterwards', async () => {
    expect(await (await owner.request(`/runs/${theirs.run}`)).json()).toMatchObject({ status: 'done' });
    expect(await (await owner.request(`/webhooks/${theirs.webhook}`)).json()).toMatchObject({ enabled: true });
    const { data } = (await (await owner.request(`/webhooks/${theirs.webhook}/deliveries`)).json()) as {
      data: Delivery[];
    };
    expect(data.map(({ id, event_type }) => [id, event_type])).toEqual([[theirs.delivery, 'run.completed']]);
  });

  test('cannot be told from nothing without a token either', async () => {
    const stranger = { request: (path: string, init: RequestInit) => fetch(scenario.server.base + path, init) };
    for (const route of owned) {
      const replies = [
        await send(stranger, route, theirs, asStranger()),
        await send(stranger, route, unknown, asStranger()),
      ];
      expect(replies[0]?.status).toBe(401);
      expect(await fingerprint(replies[0] as Response)).toEqual(await fingerprint(replies[1] as Response));
    }
  });

  test('is not reached through a webhook or a run of one’s own', async () => {
    const hook = { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] };
    const made = await client.request('/webhooks', { method: 'POST', headers: json, body: JSON.stringify(hook) });
    const { id } = (await made.json()) as Webhook;
    await errorOf(
      await client.request(`/webhooks/${id}/deliveries/${theirs.delivery}/redeliver`, { method: 'POST' }),
      404,
    );
  });
});

describe('401', () => {
  test('is the answer of every route to a request without a token', async () => {
    const stranger = { request: (path: string, init: RequestInit) => fetch(scenario.server.base + path, init) };
    for (const route of routes) {
      const response = await send(stranger, route, unknown, asStranger());
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect((await errorOf(response, 401)).code).toBe('token_missing');
    }
  });

  test('comes before anything else that is wrong with a request', async () => {
    const { base } = scenario.server;
    for (const [method, path, body] of [
      ['GET', '/tools/no-such-tool', null],
      ['GET', '/runs?limit=0', null],
      ['POST', '/webhooks', '{'],
      ['POST', '/tools/image-compressor', 'no form'],
      ['POST', '/webhooks', 'x'.repeat(100_000)],
    ] as const) {
      await errorOf(await fetch(base + path, { method, body, headers: { ...json, ...asStranger() } }), 401);
    }
  });

  test('is the answer to whatever is no Bearer token of ours', async () => {
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      'Basic dXNlcjpwYXNz',
      'Bearer x',
      'Bearer a b',
      'Token x',
      'Bearer mr_é'.normalize('NFD').replace(/[^\x20-\x7e]/g, ''),
    ];
    for (const authorization of wrong) {
      const headers = { Authorization: authorization, ...asStranger() };
      const response = await fetch(`${scenario.server.base}/usage`, { headers });
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      await errorOf(response, 401);
    }
  });
});

describe('400, 413, 415 and 422', () => {
  const post = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = json) =>
    client.request('/webhooks', { method: 'POST', body, headers });

  test('tell what cannot be read from what breaks a rule', async () => {
    expect((await errorOf(await post('{"url"'), 400)).code).toBe('malformed_json');
    expect((await errorOf(await post(''), 400)).code).toBe('malformed_json');
    expect((await errorOf(await client.request('/runs?limit=many'), 400)).code).toBe('invalid_parameter');
    const error = await errorOf(await post('{"url":"http://127.0.0.1:9/"}'), 422);
    expect(error.code).toBe('validation_failed');
    expect(error.errors).toEqual({ events: [expect.any(String)] });
  });

  test('name the limit of a body', async () => {
    const error = await errorOf(await post(JSON.stringify({ url: 'x'.repeat(70_000), events: [] })), 413);
    expect(error.code).toBe('payload_too_large');
    expect(error.message).toContain('64 kB');
  });

  test('refuse types that a route does not take', async () => {
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense', 'a/b/c']) {
      const error = await errorOf(
        await post('{"url":"http://127.0.0.1:9/","events":[]}', { 'Content-Type': type }),
        415,
      );
      expect(error.code, type).toBe('unsupported_media_type');
    }
    const packed = gzipSync('{"url":"http://127.0.0.1:9/","events":["run.failed"]}');
    const error = await errorOf(await post(packed, { ...json, 'Content-Encoding': 'gzip' }), 415);
    expect(error.code).toBe('unsupported_media_type');
    const form = await client.request('/tools/image-compressor', {
      method: 'POST',
      body: packed,
      headers: { 'Content-Type': multipartType, 'Content-Encoding': 'gzip' },
    });
    expect((await errorOf(form, 415)).code).toBe('unsupported_media_type');
  });

  test('keep a body from reaching into the objects of the server', async () => {
    for (const body of ['{"__proto__":{"enabled":true}}', '{"constructor":{"prototype":{}}}']) {
      const response = await post(body);
      expect([400, 422]).toContain(response.status);
      await errorOf(response, response.status);
    }
  });
});

describe('404 and 405', () => {
  test('tell an address that nobody knows from one that takes other methods', async () => {
    const { origin, base } = scenario.server;
    for (const path of [
      '/nothing',
      '/api',
      '/api/v1/tools',
      '/api/v2/nothing',
      '/api/v2/runs/a/b',
      '/..%2f..%2fetc/passwd',
    ]) {
      expect((await errorOf(await client.request(origin + path), 404)).code, path).toBe('not_found');
    }
    const cases: [method: string, path: string, allowed: string[]][] = [
      ['POST', '/tools', ['GET', 'HEAD']],
      ['DELETE', '/tools', ['GET', 'HEAD']],
      ['PUT', '/tools/image-compressor', ['GET', 'HEAD', 'POST']],
      ['POST', '/runs', ['GET', 'HEAD']],
      ['PATCH', '/runs/some-run', ['DELETE', 'GET', 'HEAD']],
      ['GET', '/runs/some-run/cancel', ['POST']],
      ['POST', '/runs/some-run/stream', ['GET', 'HEAD']],
      ['POST', '/usage', ['GET', 'HEAD']],
      ['PUT', '/webhooks', ['GET', 'HEAD', 'POST']],
      ['PUT', '/webhooks/some-webhook', ['DELETE', 'GET', 'HEAD', 'PATCH']],
      ['OPTIONS', '/usage', ['GET', 'HEAD']],
    ];
    for (const [method, path, allowed] of cases) {
      const response = await client.request(base + path, { method });
      expect(response.headers.get('allow')?.split(', ').toSorted(), `${method} ${path}`).toEqual(allowed);
      expect((await errorOf(response, 405)).code).toBe('method_not_allowed');
    }
  });

  test('take an address with a slash at its end for the one without', async () => {
    expect((await client.request('/usage/')).status).toBe(200);
  });

  test('are an error in the one shape for an address that cannot be read, or is absurdly long', async () => {
    await errorOf(await client.request('/runs/%zz'), 400);
    await errorOf(await client.request('/%c0%ae%c0%ae/'), 400);
    await errorOf(await client.request(`/runs/${'a'.repeat(5000)}`), 404);
    await errorOf(await client.request(`/tools/${'a'.repeat(5000)}`), 404);
  });
});

describe('what is not even HTTP', () => {
  const answerTo = async (text: string): Promise<{ status: number; headers: string; body: ErrorBody }> => {
    const connection = await openRaw(scenario.server.origin, text);
    await connection.ended;
    const [head = '', body = ''] = connection.received().split('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    return { status, headers: head.toLowerCase(), body: JSON.parse(body) as ErrorBody };
  };

  test('is answered in the one shape too, and the connection ends', async () => {
    for (const [text, status] of [
      ['GARBAGE\r\n\r\n', 400],
      [requestHead('GET /api/v2/usage', { Connection: 'close', 'X-Long': 'x'.repeat(40_000) }), 431],
      [requestHead('POST /api/v2/webhooks', { 'Content-Length': '1', 'Transfer-Encoding': 'chunked' }), 400],
      [requestHead('POST /api/v2/webhooks', { 'Content-Length': '-1' }), 400],
    ] as const) {
      const answer = await answerTo(text);
      expect(answer.status, text.slice(0, 60)).toBe(status);
      expect(answer.headers).toContain('content-type: application/json; charset=utf-8');
      expect(answer.headers).toContain(`x-request-id: ${answer.body.request_id}`.toLowerCase());
      expect(answer.body).toEqual({
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/\.$/),
        request_id: expect.stringMatching(/\S/),
      });
    }
  });
});

describe('409 and 429', () => {
  test('have the one shape and what is their own', async () => {
    const id = await startSlow(client);
    expect(await errorOf(await client.request(`/runs/${id}`, { method: 'DELETE' }), 409)).toMatchObject({
      code: 'run_lifecycle_conflict',
      action: 'delete',
      status: 'processing',
      retry_after_s: 0,
    });
    const early = await errorOf(await client.request(`/runs/${id}/archive`), 409);
    expect(early.code).toBe('run_not_done');
    await cancel(client, id);

    const brisk = await scenario.client('brisk');
    await brisk.request('/usage');
    const response = await brisk.request('/usage');
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await errorOf(response, 429)).code).toBe('rate_limited');
  });
});

describe('500', () => {
  test('says nothing of the inside; the log says all of it under the request’s id', async () => {
    await queryDatabase(scenario.server, 'alter table webhooks rename to webhooks_elsewhere');
    try {
      const error = await errorOf(await client.request('/webhooks'), 500);
      expect(Object.keys(error).toSorted()).toEqual(['code', 'message', 'request_id']);
      expect(error.code).toBe('internal_error');
      expect(error.message).not.toMatch(/webhook|relation|select|\/|at /i);
      const line = await eventually('the log has it', () =>
        scenario.server
          .log()
          .split('\n')
          .find((text) => text.includes(error.request_id) && text.includes('relation')),
      );
      expect(line).toContain('webhooks');
    } finally {
      await queryDatabase(scenario.server, 'alter table webhooks_elsewhere rename to webhooks');
    }
  });
});

describe('the request’s id', () => {
  test('is on every reply, good or bad, and each has another', async () => {
    const { origin } = scenario.server;
    const run = await client.finished(await submitQuick(client));
    const replies = [
      ...(await Promise.all(routes.map((route) => send(client, route, { ...unknown, run: run.id })))),
      await client.submit(quick.tool, quick.files, quick.settings),
      await client.request('/openapi.json'),
      await fetch(run.outputs?.[0]?.url ?? ''),
      await fetch(run.outputs?.[0]?.url ?? '', { method: 'HEAD' }),
      await fetch(`${origin}/healthz`),
      await fetch(`${origin}/readyz`),
      await fetch(`${origin}/metrics`),
      await fetch(`${origin}/docs`),
      await fetch(`${origin}/`),
      await fetch(`${origin}/nothing`),
      await fetch(`${origin}/api/v2/%zz`),
    ];
    const ids = replies.map((response) => response.headers.get('x-request-id'));
    for (const [index, id] of ids.entries()) expect(id, replies[index]?.url).toMatch(/^[\w-]{8,}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is the server’s own, whatever a client sends, and stands in the log', async () => {
    const response = await client.request('/usage', { headers: { 'X-Request-Id': 'of-my-own' } });
    const id = response.headers.get('x-request-id') ?? '';
    expect(id).not.toBe('of-my-own');
    await eventually('the log has it', () => scenario.server.log().includes(id));
  });

  test('is all a log line has of a caller: no token, no secret', async () => {
    const token = await makeToken(scenario.server);
    const other = createClient(scenario.server.base, token);
    const hook = { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] };
    await other.request('/webhooks', { method: 'POST', headers: json, body: JSON.stringify(hook) });
    const response = await other.request('/runs?limit=0');
    const { request_id } = await errorOf(response, 400);
    const log = await eventually('the log has it', () => {
      const text = scenario.server.log();
      return text.includes(request_id) && text;
    });
    expect(log).not.toContain(token);
    expect(log).not.toContain('whsec_');
  });
});
