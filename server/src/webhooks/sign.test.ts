import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { newSecret, signatureHeaders } from './sign.ts';

const body = JSON.stringify({ type: 'run.completed', data: { name: 'Übersicht ☂ 𝒳.pdf' } });

describe('signatureHeaders', () => {
  test('a receiver with the library accepts the message and reads its body', () => {
    const secret = newSecret();
    const headers = signatureHeaders({ id: 'evt_1', timestamp: systemClock.now(), body, secrets: [secret] });
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });

  test('during a rotation either secret verifies, another one does not', () => {
    const [next, previous] = [newSecret(), newSecret()];
    const headers = signatureHeaders({ id: 'evt_1', timestamp: systemClock.now(), body, secrets: [next, previous] });
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    new Webhook(next).verify(body, headers);
    new Webhook(previous).verify(body, headers);
    expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow(WebhookVerificationError);
  });

  test('a changed body, id or time does not verify', () => {
    const secret = newSecret();
    const headers = signatureHeaders({ id: 'evt_1', timestamp: systemClock.now(), body, secrets: [secret] });
    const receiver = new Webhook(secret);
    expect(() => receiver.verify(`${body} `, headers)).toThrow(WebhookVerificationError);
    expect(() => receiver.verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow(WebhookVerificationError);
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(() => receiver.verify(body, { ...headers, 'webhook-timestamp': later })).toThrow(WebhookVerificationError);
  });

  test("agrees with the specification's own example", () => {
    const headers = signatureHeaders({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: new Date(1614265330 * 1000),
      body: '{"test": 2432232314}',
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    });
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('an unsigned message is never made', () => {
    expect(() => signatureHeaders({ id: 'evt_1', timestamp: systemClock.now(), body, secrets: [] })).toThrow('evt_1');
  });
});

test('secrets are 32 random bytes behind whsec_', () => {
  const secret = newSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newSecret()).not.toBe(secret);
});
