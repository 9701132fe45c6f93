import { beforeAll, describe, expect, test } from 'vitest';
import { signatureHeaders } from '../../server/src/webhooks/sign.ts';
import { startReceiver } from '../../server/test/receiver.ts';
import { eventually, makeToken, useServer } from '../../server/test/scenario.ts';
import { createClient, MillrunError, verifyWebhook, type Millrun, type Run } from '../src/index.ts';
import { thrownBy } from './thrown.ts';

const scenario = useServer({ env: { MILLRUN_WEBHOOK_ALLOW: '127.0.0.1/32' } });
let client: Millrun;
beforeAll(async () => {
  client = createClient({ baseUrl: scenario.server.origin, token: await makeToken(scenario.server) });
});

test('a webhook is registered, called, verified, rotated, redelivered and removed', async () => {
  await using receiver = await startReceiver(204);
  const hook = await client.webhooks.create({ url: receiver.url, events: ['run.completed'] });
  expect((await client.webhooks.list()).map(({ id }) => id)).toEqual([hook.id]);

  const run = await client.run('qr-code-generator', [], { text: 'x' });
  const [event] = await receiver.received(1);
  if (event === undefined) throw new Error('there is no event');
  const payload = verifyWebhook(event.body, event.headers, hook.secret);
  expect(payload).toMatchObject({ id: event.headers['webhook-id'], type: 'run.completed' });
  expect((payload.data as Run).id).toBe(run.id);
  expect(
    verifyWebhook(Buffer.from(event.body), new Headers({ ...event.headers } as Record<string, string>), hook.secret),
  ).toEqual(payload);
  expect(() => verifyWebhook(`${event.body} `, event.headers, hook.secret)).toThrow(MillrunError);

  const rotated = await client.webhooks.rotateSecret(hook.id);
  expect(rotated.secret).not.toBe(hook.secret);
  await client.webhooks.test(hook.id);
  const [, second] = await receiver.received(2);
  for (const secret of [hook.secret, rotated.secret])
    expect(verifyWebhook(second?.body ?? '', second?.headers ?? {}, secret).type).toBe('webhook.test');

  const deliveries = await eventually('both are delivered', async () => {
    const found = await Array.fromAsync(client.webhooks.deliveries(hook.id, { pageSize: 1 }));
    return found.length === 2 && found.every(({ state }) => state === 'delivered') && found;
  });
  const first = deliveries[1];
  expect(await client.webhooks.delivery(hook.id, first?.id ?? '')).toMatchObject({ request: { body: event.body } });
  await client.webhooks.redeliver(hook.id, first?.id ?? '');
  const [, , third] = await receiver.received(3);
  expect(third?.headers['webhook-id']).toBe(event.headers['webhook-id']);

  expect(await client.webhooks.update(hook.id, { enabled: false })).toMatchObject({ enabled: false });
  expect((await client.webhooks.get(hook.id)).enabled).toBe(false);
  await client.webhooks.remove(hook.id);
  expect(await thrownBy(client.webhooks.get(hook.id))).toMatchObject({ status: 404 });
});

describe('verifyWebhook', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const other = 'whsec_bm90IHRoZSBzZWNyZXQgb2YgdGhpcyBvbmUhIQ==';
  const at = 1_614_265_330;
  const now = at * 1000;
  const body = '{"test": 2432232314}';
  /** The specification's own example. */
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': String(at),
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };

  test('accepts the specification’s own example, with headers in any letters', () => {
    expect(verifyWebhook(body, headers, secret, { now })).toEqual({ test: 2_432_232_314 });
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(verifyWebhook(body, upper, [other, secret], { now })).toEqual({ test: 2_432_232_314 });
  });

  test('takes any of several signatures, and passes over those it does not know', () => {
    const signature = `v1a,abc v1,AAAA ${headers['webhook-signature']}`;
    expect(verifyWebhook(body, { ...headers, 'webhook-signature': signature }, secret, { now })).toBeDefined();
  });

  test('accepts five minutes of difference and no more', () => {
    for (const offS of [-300, 300])
      expect(verifyWebhook(body, headers, secret, { now: now + offS * 1000 })).toBeDefined();
    for (const offS of [-301, 301])
      expect(() => verifyWebhook(body, headers, secret, { now: now + offS * 1000 })).toThrow('too far off');
  });

  test.each([
    ['a changed body', { body: '{"test": 2432232315}' }],
    ['another secret', { secret: other }],
    ['another id', { headers: { ...headers, 'webhook-id': 'msg_other' } }],
    ['another time', { headers: { ...headers, 'webhook-timestamp': String(at + 1) } }],
    ['no signature', { headers: { ...headers, 'webhook-signature': undefined } }],
    ['an empty signature', { headers: { ...headers, 'webhook-signature': 'v1,' } }],
    ['a signature of another version', { headers: { ...headers, 'webhook-signature': 'v2,AAAA' } }],
    ['no time', { headers: { ...headers, 'webhook-timestamp': '' } }],
    ['a time that is no number', { headers: { ...headers, 'webhook-timestamp': 'NaN' } }],
    ['no headers at all', { headers: {} }],
  ])('refuses %s', (_what, over) => {
    const given = { body, headers, secret, ...over };
    const verify = () => verifyWebhook(given.body, given.headers, given.secret, { now });
    expect(verify).toThrow(MillrunError);
    expect(verify).toThrow(expect.objectContaining({ code: 'webhook_refused' }));
  });

  test('refuses a signed body that is not JSON', () => {
    const signed = signatureHeaders({ id: 'evt_1', timestamp: new Date(now), body: 'no json', secrets: [secret] });
    expect(() => verifyWebhook('no json', signed, secret, { now })).toThrow('not JSON');
  });

  test('an empty or broken secret is a mistake of the caller: it would let everybody sign', () => {
    for (const broken of ['', 'whsec_', 'whsec_short', 'whsec_not base64 at all, really not'])
      expect(() => verifyWebhook(body, headers, broken, { now })).toThrow(TypeError);
    expect(() => verifyWebhook(body, headers, [], { now })).toThrow(MillrunError);
  });
});
