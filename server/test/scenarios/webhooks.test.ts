import { beforeAll, describe, expect, test } from 'vitest';
import { Webhook as Verifier } from 'standardwebhooks';
import type { Delivery, DeliveryDetail, Run, Webhook, WebhookPayload, WebhookWithSecret } from '@millrun/sdk';
import type { Client } from '../client.ts';
import { startReceiver, startSilent, type ReceivedEvent } from '../receiver.ts';
import { cancel, errorOf, eventually, getRun, queryDatabase, startSlow, submitQuick, useServer } from '../scenario.ts';

/** The addresses in an event cannot follow a request: they are the public ones. */
const publicUrl = 'https://files.example.test';
const scenario = useServer({
  env: { MILLRUN_WEBHOOK_ALLOW: '127.0.0.1/32', MILLRUN_PUBLIC_URL: publicUrl, MILLRUN_SLOTS: '1' },
});
let client: Client;
beforeAll(async () => (client = await scenario.client()));

const both = ['run.completed', 'run.failed'];

function sendJson(of: Client, path: string, method: string, body: unknown): Promise<Response> {
  return of.request(path, { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
}

async function register(of: Client, url: string, events: readonly string[] = both): Promise<WebhookWithSecret> {
  const response = await sendJson(of, '/webhooks', 'POST', { url, events });
  expect(response.status).toBe(201);
  return (await response.json()) as WebhookWithSecret;
}

async function deliveriesOf(of: Client, id: string): Promise<Delivery[]> {
  const response = await of.request(`/webhooks/${id}/deliveries`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Delivery[] }).data;
}

function deliveryIn(of: Client, webhookId: string, state: Delivery['state']): Promise<Delivery> {
  return eventually(`a delivery is ${state}`, async () =>
    (await deliveriesOf(of, webhookId)).find((delivery) => delivery.state === state),
  );
}

async function detailOf(of: Client, webhookId: string, deliveryId: string): Promise<DeliveryDetail> {
  const response = await of.request(`/webhooks/${webhookId}/deliveries/${deliveryId}`);
  expect(response.status).toBe(200);
  return (await response.json()) as DeliveryDetail;
}

/** Verifies as a receiver would, with the library of the Standard Webhooks project. */
function verify(secret: string, event: ReceivedEvent): WebhookPayload {
  return new Verifier(secret).verify(event.body, event.headers as Record<string, string>) as WebhookPayload;
}

describe('registering', () => {
  const url = 'http://127.0.0.1:9/hook';

  test('answers 201 with the secret, which is shown this once', async () => {
    const made = await register(client, url, ['run.failed', 'run.completed', 'run.failed']);
    expect(made).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-z]{26}$/),
      url,
      events: both,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/),
      enabled: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const { secret, ...shown } = made;
    expect(await (await client.request(`/webhooks/${made.id}`)).json()).toEqual(shown);
    const list = await (await client.request('/webhooks')).text();
    expect(JSON.parse(list)).toEqual({ data: [shown] });
    expect(list).not.toContain(secret);
    expect(scenario.server.log()).not.toContain(secret);
  });

  test('refuses a body that cannot be read with 400, and another type of body with 415', async () => {
    for (const body of ['{', '', 'url=x', '{"url":"http://127.0.0.1:9/hook"'])
      await errorOf(
        await client.request('/webhooks', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }),
        400,
      );
    const form = new URLSearchParams({ url });
    await errorOf(await client.request('/webhooks', { method: 'POST', body: form }), 415);
  });

  test('refuses a field that breaks a rule with 422, by its name', async () => {
    const cases: [body: unknown, field: string][] = [
      [{ events: both }, 'url'],
      [{ url }, 'events'],
      [{ url, events: [] }, 'events'],
      [{ url, events: ['run.started'] }, 'events'],
      [{ url, events: both, secret: 'mine' }, 'secret'],
      [{ url: 'not a url', events: both }, 'url'],
      [{ url: 'ftp://example.com/', events: both }, 'url'],
      [{ url: 'file:///etc/passwd', events: both }, 'url'],
      [{ url: 'http://user:password@example.com/', events: both }, 'url'],
      [{ url: `https://example.com/${'x'.repeat(2000)}`, events: both }, 'url'],
      [{ url: ['http://127.0.0.1:9/hook'], events: both }, 'url'],
      [{ url, events: 'run.failed' }, 'events'],
      [{ url: 5, events: both }, 'url'],
      [{ url, events: [5] }, 'events.0'],
      [[], 'body'],
      [null, 'body'],
    ];
    for (const [body, field] of cases) {
      const error = await errorOf(await sendJson(client, '/webhooks', 'POST', body), 422);
      expect(Object.keys(error.errors ?? {}), JSON.stringify(body)).toContain(field);
    }
  });

  test('refuses addresses that are not public with 422, however they are written', async () => {
    const addresses = [
      '127.0.0.2',
      '10.0.0.1',
      '172.16.5.4',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '2130706434',
      '0x7f000002',
      '0177.0.0.2',
      '127.2',
      '[::1]',
      '[::]',
      '[fe80::1]',
      '[fd00::1]',
      '[ff02::1]',
      '[::ffff:10.0.0.1]',
      '[::ffff:a00:1]',
      '[64:ff9b::a00:1]',
      '[2002:a00:1::]',
      '[::10.0.0.1]',
      'host.invalid',
    ];
    for (const address of addresses) {
      const error = await errorOf(
        await sendJson(client, '/webhooks', 'POST', { url: `http://${address}/hook`, events: both }),
        422,
      );
      expect(Object.keys(error.errors ?? {}), address).toEqual(['url']);
    }
  });
});

describe('a registered webhook', () => {
  test('can be changed, field by field, under the same rules', async () => {
    const { id } = await register(client, 'http://127.0.0.1:9/one', ['run.failed']);
    const change = async (body: unknown) => (await sendJson(client, `/webhooks/${id}`, 'PATCH', body)).json();
    expect(await change({ events: both })).toMatchObject({ id, url: 'http://127.0.0.1:9/one', events: both });
    expect(await change({ url: 'http://127.0.0.1:9/two' })).toMatchObject({ url: 'http://127.0.0.1:9/two' });
    expect(await change({ enabled: false })).toMatchObject({ enabled: false, events: both });
    const now = await (await client.request(`/webhooks/${id}`)).json();
    expect(now).toMatchObject({ url: 'http://127.0.0.1:9/two', events: both, enabled: false });

    for (const [body, field] of [
      [{ url: 'http://10.0.0.1/' }, 'url'],
      [{ events: [] }, 'events'],
      [{ enabled: 'perhaps' }, 'enabled'],
      [{ enabled: null }, 'enabled'],
      [{ id: 'wh_1' }, 'id'],
      [{}, 'body'],
    ] as const) {
      const error = await errorOf(await sendJson(client, `/webhooks/${id}`, 'PATCH', body), 422);
      expect(Object.keys(error.errors ?? {})).toEqual([field]);
    }
    expect(await (await client.request(`/webhooks/${id}`)).json()).toEqual(now);
  });

  test('can be removed, and is unknown then', async () => {
    const { id } = await register(client, 'http://127.0.0.1:9/hook');
    const response = await client.request(`/webhooks/${id}`, { method: 'DELETE' });
    expect(response.status).toBe(204);
    await errorOf(await client.request(`/webhooks/${id}`, { method: 'DELETE' }), 404);
    await errorOf(await client.request(`/webhooks/${id}`), 404);
    const { data } = (await (await client.request('/webhooks')).json()) as { data: Webhook[] };
    expect(data.map((webhook) => webhook.id)).not.toContain(id);
  });
});

describe('an event', () => {
  test('is sent when a run is done: signed, and with the full run', async () => {
    await using receiver = await startReceiver(204);
    const of = await scenario.client();
    const { id, secret } = await register(of, receiver.url);
    const runId = await submitQuick(of);
    const [event] = await receiver.received(1);
    if (event === undefined) throw new Error('no event');

    expect(event.headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'webhook-id': expect.stringMatching(/^evt_[0-9a-z]{26}$/),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,\S+$/),
    });
    const payload = verify(secret, event);
    expect(payload).toEqual({
      id: event.headers['webhook-id'],
      type: 'run.completed',
      timestamp: expect.stringMatching(/Z$/),
      data: expect.objectContaining({ id: runId, status: 'done', tool: 'qr-code-generator' }),
    });
    const run = await getRun(of, runId);
    const sent = payload.data as Run;
    expect(Object.keys(sent).toSorted()).toEqual(Object.keys(run).toSorted());
    expect(sent.outputs?.map(({ sha256 }) => sha256)).toEqual(run.outputs?.map(({ sha256 }) => sha256));

    // Its addresses are those of the service and work as they stand.
    expect(sent.status_url).toBe(`${publicUrl}/api/v2/runs/${runId}`);
    const url = sent.outputs?.[0]?.url ?? '';
    expect(url).toContain(`${publicUrl}/api/v2/runs/${runId}/outputs/0/`);
    expect((await fetch(url.replace(publicUrl, scenario.server.origin))).status).toBe(200);

    const delivery = await deliveryIn(of, id, 'delivered');
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_/),
      event_id: payload.id,
      event_type: 'run.completed',
      run_id: runId,
      state: 'delivered',
      attempts: [{ at: expect.any(String), status: 204, duration_ms: expect.any(Number) }],
      next_attempt_at: null,
      created_at: expect.any(String),
    });
  });

  test('is refused by whoever checks the signature when a byte of it was changed', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { secret } = await register(of, receiver.url);
    await submitQuick(of);
    const [event] = await receiver.received(1);
    if (event === undefined) throw new Error('no event');
    const { secret: another } = await register(of, receiver.url);
    expect(() => verify(secret, { ...event, body: event.body.replace('done', 'DONE') })).toThrow();
    expect(() => verify(another, event)).toThrow();
    verify(secret, event);
  });

  test('is sent when a run fails and when one is cancelled', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { secret } = await register(of, receiver.url, ['run.failed']);
    const slow = await startSlow(of);
    const queued = await submitQuick(of);
    await cancel(of, queued);
    await cancel(of, slow);
    const broken = await of.accepted('image-compressor', [
      { filename: 'a.png', content: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex') },
    ]);
    const done = await submitQuick(of);
    await of.finished(done);

    const events = (await receiver.received(3)).map((event) => verify(secret, event));
    const told = events.map(({ type, data }) => [type, (data as Run).id, (data as Run).error?.code]);
    const inOrder = (rows: unknown[]) => rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    expect(inOrder(told)).toEqual(
      inOrder([
        ['run.failed', queued, 'cancelled'],
        ['run.failed', slow, 'cancelled'],
        ['run.failed', broken.id, 'invalid_input'],
      ]),
    );
  });

  test('is stored once for each run that ends and each webhook that wants it', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const first = await register(of, receiver.url);
    const second = await register(of, receiver.url);
    const failures = await register(of, receiver.url, ['run.failed']);
    const off = await register(of, receiver.url);
    await sendJson(of, `/webhooks/${off.id}`, 'PATCH', { enabled: false });

    const ids = await Promise.all(Array.from({ length: 5 }, () => submitQuick(of)));
    const slow = await startSlow(of);
    // However many cancel it, it ends once.
    await Promise.all(Array.from({ length: 5 }, () => of.request(`/runs/${slow}/cancel`, { method: 'POST' })));
    await Promise.all(ids.map((id) => of.finished(id)));
    const runsOf = async (id: string) => (await deliveriesOf(of, id)).map(({ run_id }) => run_id).toSorted();
    expect(await runsOf(first.id)).toEqual([...ids, slow].toSorted());
    expect(await runsOf(second.id)).toEqual([...ids, slow].toSorted());
    expect(await runsOf(failures.id)).toEqual([slow]);
    expect(await runsOf(off.id)).toEqual([]);

    // Both webhooks are told the same event.
    const eventOf = async (id: string) => (await deliveriesOf(of, id)).find(({ run_id }) => run_id === slow)?.event_id;
    expect(await eventOf(first.id)).toBe(await eventOf(second.id));
    await receiver.received(13);
    expect(receiver.events).toHaveLength(13);
  });

  test('is not told to another account', async () => {
    await using receiver = await startReceiver(200);
    const [of, stranger] = [await scenario.client(), await scenario.client()];
    const { id } = await register(of, receiver.url);
    await stranger.finished(await submitQuick(stranger));
    await of.finished(await submitQuick(of));
    await deliveryIn(of, id, 'delivered');
    expect(await deliveriesOf(of, id)).toHaveLength(1);
    expect(receiver.events).toHaveLength(1);
  });
});

describe('a receiver that fails', () => {
  test('is tried again after 5 seconds, with the same event and a new signature', async () => {
    await using receiver = await startReceiver(500, 200);
    const of = await scenario.client();
    const { id, secret } = await register(of, receiver.url);
    await submitQuick(of);

    await receiver.received(1);
    const pending = await eventually('the first try is recorded', async () =>
      (await deliveriesOf(of, id)).find(({ attempts }) => attempts.length === 1),
    );
    expect(pending).toMatchObject({ state: 'pending', attempts: [{ status: 500 }] });
    const wait = Date.parse(pending.next_attempt_at ?? '') - Date.parse(pending.attempts[0]?.at ?? '');
    expect(wait).toBeGreaterThan(4900);
    expect(wait).toBeLessThan(10_000);

    const [first, second] = await receiver.received(2);
    if (first === undefined || second === undefined) throw new Error('no events');
    expect(second.at - first.at).toBeGreaterThan(4000);
    expect(verify(secret, second).id).toBe(verify(secret, first).id);
    expect(Number(second.headers['webhook-timestamp'])).toBeGreaterThan(Number(first.headers['webhook-timestamp']));
    const delivered = await deliveryIn(of, id, 'delivered');
    expect(delivered.attempts.map(({ status }) => status)).toEqual([500, 200]);
    expect(delivered.next_attempt_at).toBeNull();
  });

  test('by sending elsewhere is not followed there', async () => {
    await using receiver = await startReceiver(302, 200);
    const of = await scenario.client();
    const { id } = await register(of, receiver.url);
    await submitQuick(of);
    const pending = await eventually('the try is recorded', async () =>
      (await deliveriesOf(of, id)).find(({ attempts }) => attempts.length === 1),
    );
    expect(pending).toMatchObject({ state: 'pending', attempts: [{ status: 302 }] });
    expect(receiver.events).toHaveLength(1);
  });

  test('by not being there is a try without a status, in words', async () => {
    const gone = await startReceiver(200);
    await gone[Symbol.asyncDispose]();
    const of = await scenario.client();
    const { id } = await register(of, gone.url);
    await submitQuick(of);
    const pending = await eventually('the try is recorded', async () =>
      (await deliveriesOf(of, id)).find(({ attempts }) => attempts.length === 1),
    );
    expect(pending.attempts).toEqual([
      { at: expect.any(String), duration_ms: expect.any(Number), error: 'The receiver refused the connection.' },
    ]);
  });

  test('with 410 is never called again until its owner says so', async () => {
    await using receiver = await startReceiver(410, 200);
    const of = await scenario.client();
    const { id } = await register(of, receiver.url);
    await submitQuick(of);
    const failed = await deliveryIn(of, id, 'failed');
    expect(failed).toMatchObject({ attempts: [{ status: 410 }], next_attempt_at: null });
    const disabled = await (await of.request(`/webhooks/${id}`)).json();
    expect(disabled).toMatchObject({ enabled: false, disabled_reason: expect.stringContaining('410') });
    await of.finished(await submitQuick(of));
    expect(await deliveriesOf(of, id)).toHaveLength(1);

    const enabled = await (await sendJson(of, `/webhooks/${id}`, 'PATCH', { enabled: true })).json();
    expect(enabled).toMatchObject({ enabled: true });
    expect(enabled).not.toHaveProperty('disabled_reason');
    await of.finished(await submitQuick(of));
    await deliveryIn(of, id, 'delivered');
    expect(receiver.events).toHaveLength(2);
  });

  test('whose address has become private meanwhile is not called', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { id } = await register(of, receiver.url);
    // As if its name had pointed elsewhere when it was registered.
    const { port } = new URL(receiver.url);
    await queryDatabase(scenario.server, 'update webhooks set url = $1 where url = $2', [
      `http://127.0.0.2:${port}/events`,
      receiver.url,
    ]);
    await submitQuick(of);
    const pending = await eventually('the try is recorded', async () =>
      (await deliveriesOf(of, id)).find(({ attempts }) => attempts.length === 1),
    );
    expect(pending.attempts[0]).toMatchObject({ error: expect.stringContaining('not public') });
    expect(pending.attempts[0]).not.toHaveProperty('status');
    expect(receiver.events).toEqual([]);
  });
});

describe('the owner', () => {
  test('can have a test event sent', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { id, secret } = await register(of, receiver.url, ['run.failed']);
    const response = await of.request(`/webhooks/${id}/test`, { method: 'POST' });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ event_type: 'webhook.test', state: 'pending', run_id: null });
    const [event] = await receiver.received(1);
    expect(event && verify(secret, event)).toMatchObject({ type: 'webhook.test', data: expect.any(Object) });
    await deliveryIn(of, id, 'delivered');
  });

  test('can rotate the secret: for a day both sign', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { id, secret } = await register(of, receiver.url);
    const response = await of.request(`/webhooks/${id}/rotate-secret`, { method: 'POST' });
    expect(response.status).toBe(200);
    const rotated = (await response.json()) as WebhookWithSecret;
    expect(rotated).toMatchObject({ id, url: receiver.url, secret: expect.stringMatching(/^whsec_/) });
    expect(rotated.secret).not.toBe(secret);

    await of.request(`/webhooks/${id}/test`, { method: 'POST' });
    const [event] = await receiver.received(1);
    if (event === undefined) throw new Error('no event');
    expect(verify(secret, event)).toEqual(verify(rotated.secret, event));

    await queryDatabase(
      scenario.server,
      `update webhooks set previous_secret_until = now() - interval '1 second' where url = $1`,
      [receiver.url],
    );
    await of.request(`/webhooks/${id}/test`, { method: 'POST' });
    const [, later] = await receiver.received(2);
    if (later === undefined) throw new Error('no event');
    verify(rotated.secret, later);
    expect(() => verify(secret, later)).toThrow();
  });

  test('can page through the deliveries, newest first', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { id } = await register(of, receiver.url);
    const sent: string[] = [];
    for (let count = 0; count < 25; count++) {
      const response = await of.request(`/webhooks/${id}/test`, { method: 'POST' });
      sent.unshift(((await response.json()) as Delivery).id);
    }
    interface Page {
      data: Delivery[];
      next_cursor: string | null;
      has_more: boolean;
    }
    const page = async (query: string) =>
      (await (await of.request(`/webhooks/${id}/deliveries${query}`)).json()) as Page;
    const first = await page('');
    expect(first.data.map((delivery) => delivery.id)).toEqual(sent.slice(0, 20));
    expect(first.has_more).toBe(true);
    const last = await page(`?cursor=${first.next_cursor}`);
    expect(last.data.map((delivery) => delivery.id)).toEqual(sent.slice(20));
    expect(last).toMatchObject({ next_cursor: null, has_more: false });
    expect((await page('?limit=100')).data).toHaveLength(25);
    for (const query of ['?limit=0', '?limit=101', '?limit=x', '?cursor=x']) {
      await errorOf(await of.request(`/webhooks/${id}/deliveries${query}`), 400);
    }
  });

  test('can have a delivery sent again: the same event, so that the receiver knows it', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { id, secret } = await register(of, receiver.url);
    await submitQuick(of);
    const delivered = await deliveryIn(of, id, 'delivered');
    const response = await of.request(`/webhooks/${id}/deliveries/${delivered.id}/redeliver`, { method: 'POST' });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ id: delivered.id, state: 'pending' });
    const [first, second] = await receiver.received(2);
    if (first === undefined || second === undefined) throw new Error('no events');
    expect(verify(secret, second).id).toBe(verify(secret, first).id);
    const again = await deliveryIn(of, id, 'delivered');
    expect(again.attempts.map(({ status }) => status)).toEqual([200, 200]);
    expect(await deliveriesOf(of, id)).toHaveLength(1);
  });

  test('can see what was sent, to the letter, and what came back', async () => {
    await using receiver = await startReceiver(
      {
        status: 500,
        headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Reason': 'überlastet' },
        body: 'später',
      },
      { status: 202, headers: { 'Set-Cookie': ['a=1', 'b=2'] }, body: `${'x'.repeat(4095)}€` },
    );
    const of = await scenario.client();
    const { id, secret } = await register(of, receiver.url);
    const runId = await submitQuick(of);
    const { id: delivery } = await eventually('the first try is recorded', async () =>
      (await deliveriesOf(of, id)).find(({ attempts }) => attempts.length === 1),
    );
    const [first] = await receiver.received(1);
    const tried = await detailOf(of, id, delivery);
    expect(tried).toMatchObject({ id: delivery, run_id: runId, state: 'pending', attempts: [{ status: 500 }] });
    expect(tried.attempts[0]?.response).toEqual({
      headers: expect.objectContaining({ 'content-type': 'text/plain; charset=utf-8' }),
      body: 'später',
      truncated: false,
    });
    expect(tried.request).toMatchObject({ url: receiver.url, body: first?.body });
    expect(first?.headers).toMatchObject(tried.request.headers);

    await deliveryIn(of, id, 'delivered');
    const [, second] = await receiver.received(2);
    const detail = await detailOf(of, id, delivery);
    expect(detail.attempts.map(({ status, response }) => [status, response?.body])).toEqual([
      [500, 'später'],
      [202, 'x'.repeat(4095)],
    ]);
    expect(detail.attempts[1]?.response).toMatchObject({ truncated: true, headers: { 'set-cookie': 'a=1, b=2' } });
    // The request is the last try's: with its signature over the body as it is shown.
    expect(detail.request.body).toBe(second?.body);
    expect(detail.request.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': detail.event_id,
      'webhook-timestamp': second?.headers['webhook-timestamp'],
    });
    expect(new Verifier(secret).verify(detail.request.body, detail.request.headers)).toMatchObject({
      id: detail.event_id,
    });
    expect(JSON.stringify(detail)).not.toContain(secret);

    // The list has none of it.
    const [listed] = await deliveriesOf(of, id);
    const { request: _, attempts, ...head } = detail;
    expect(listed).toEqual({ ...head, attempts: attempts.map(({ response: __, ...attempt }) => attempt) });
    const again = await of.request(`/webhooks/${id}/deliveries/${delivery}/redeliver`, { method: 'POST' });
    expect(Object.keys((await again.json()) as Delivery).toSorted()).toEqual(
      Object.keys(head).concat('attempts').toSorted(),
    );
  });

  test('can see what will be sent while nobody was called yet', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { id } = await register(of, receiver.url);
    const { port } = new URL(receiver.url);
    const moved = `http://127.0.0.2:${port}/events`;
    await queryDatabase(scenario.server, 'update webhooks set url = $1 where url = $2', [moved, receiver.url]);
    const sent = (await (await of.request(`/webhooks/${id}/test`, { method: 'POST' })).json()) as Delivery;
    const refused = await eventually('the refusal is recorded', async () => {
      const detail = await detailOf(of, id, sent.id);
      return detail.attempts.length === 1 && detail;
    });
    expect(refused.attempts[0]).toEqual({
      at: expect.any(String),
      duration_ms: expect.any(Number),
      error: expect.stringContaining('not public'),
    });
    expect(refused.request).toMatchObject({ url: moved, headers: {} });
    expect(JSON.parse(refused.request.body)).toMatchObject({ id: sent.event_id, type: 'webhook.test' });
  });

  test('alone can see a delivery', async () => {
    await using receiver = await startReceiver(200);
    const [of, stranger] = [await scenario.client(), await scenario.client()];
    const { id } = await register(of, receiver.url);
    const other = await register(of, receiver.url);
    const theirs = await register(stranger, receiver.url);
    const { id: delivery } = (await (await of.request(`/webhooks/${id}/test`, { method: 'POST' })).json()) as Delivery;
    await detailOf(of, id, delivery);
    await errorOf(await stranger.request(`/webhooks/${id}/deliveries/${delivery}`), 404);
    await errorOf(await stranger.request(`/webhooks/${theirs.id}/deliveries/${delivery}`), 404);
    await errorOf(await of.request(`/webhooks/${other.id}/deliveries/${delivery}`), 404);
    await errorOf(await fetch(`${scenario.server.base}/webhooks/${id}/deliveries/${delivery}`), 401);
  });

  test('who asks for a delivery again twice at once gets it at least once more, and one record', async () => {
    await using receiver = await startReceiver(200);
    const of = await scenario.client();
    const { id } = await register(of, receiver.url);
    await submitQuick(of);
    const { id: delivery } = await deliveryIn(of, id, 'delivered');
    const path = `/webhooks/${id}/deliveries/${delivery}/redeliver`;
    const replies = await Promise.all([1, 2, 3].map(() => of.request(path, { method: 'POST' })));
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202]);
    await receiver.received(2);
    // What was tried is written down, each time.
    await eventually('every try is recorded', async () => {
      const [record, ...others] = await deliveriesOf(of, id);
      expect(others).toEqual([]);
      return record?.state === 'delivered' && record.attempts.length === receiver.events.length;
    });
  });

  test('is told that there is no such webhook or delivery', async () => {
    const { id } = await register(client, 'http://127.0.0.1:9/hook');
    const none = { webhook: 'wh_00000000000000000000000000', delivery: 'dlv_00000000000000000000000000' };
    for (const [method, path] of [
      ['GET', `/webhooks/${none.webhook}`],
      ['POST', `/webhooks/${none.webhook}/test`],
      ['POST', `/webhooks/${none.webhook}/rotate-secret`],
      ['GET', `/webhooks/${none.webhook}/deliveries`],
      ['GET', `/webhooks/${id}/deliveries/${none.delivery}`],
      ['GET', `/webhooks/${id}/deliveries/nothing`],
      ['POST', `/webhooks/${id}/deliveries/${none.delivery}/redeliver`],
      ['POST', `/webhooks/${id}/deliveries/nothing/redeliver`],
    ] as const) {
      await errorOf(await client.request(path, { method }), 404);
    }
  });
});

test('a slow receiver of one account does not hold up another’s', async () => {
  await using quick = await startReceiver(200);
  const [slow, fast] = [await scenario.client(), await scenario.client()];
  const silent = await startSilent();
  try {
    const held = await register(slow, silent.url);
    // More than one account may have under way at once: each is answered by nobody for 15 s.
    for (let count = 0; count < 60; count++) await slow.request(`/webhooks/${held.id}/test`, { method: 'POST' });
    await eventually('the silent receiver was called', () => silent.connections() > 0);
    const { id } = await register(fast, quick.url);
    const before = performance.now();
    await fast.request(`/webhooks/${id}/test`, { method: 'POST' });
    await quick.received(1);
    expect(performance.now() - before).toBeLessThan(10_000); // Before the first of the silent ones is given up.
    expect(silent.connections()).toBeLessThan(40);
  } finally {
    await silent.close();
  }
});
