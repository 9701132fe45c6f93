import { createHmac, timingSafeEqual } from 'node:crypto';
import { clientError } from './errors.ts';
import type { WebhookPayload } from './types.ts';

/** Headers of a request as Node or fetch have them. */
export type IncomingHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the message's time may be off, in seconds; 300 unless told. */
  toleranceS?: number | undefined;
  /** The time now, in milliseconds since 1970. */
  now?: number | undefined;
}

const standardToleranceS = 300;

/**
 * Reads a webhook message that is signed by the Standard Webhooks specification, and is not older or newer than five
 * minutes. The same event may come more than once: its `id` tells.
 *
 * @param body The body as it came, before any JSON parsing.
 * @param secret `whsec_…`; several while a secret is being replaced.
 * @throws MillrunError `webhook_refused` for everything that is not such a message.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: IncomingHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): WebhookPayload {
  const keys = (typeof secret === 'string' ? [secret] : secret).map(keyOf);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) throw refused('its webhook-timestamp cannot be read');
  const offS = Math.abs((options.now ?? Date.now()) / 1000 - Number(timestamp));
  if (offS > (options.toleranceS ?? standardToleranceS)) throw refused('its webhook-timestamp is too far off');
  const given = signatures.split(' ').filter((signature) => signature.startsWith('v1,'));
  const expected = keys.map((key) => `v1,${sign(key, id, timestamp, body)}`);
  if (!expected.some((one) => given.some((other) => areEqual(one, other))))
    throw refused('no signature is of this secret');
  return readPayload(typeof body === 'string' ? body : new TextDecoder().decode(body));
}

function readPayload(text: string): WebhookPayload {
  try {
    return JSON.parse(text) as WebhookPayload;
  } catch {
    throw refused('its body is not JSON');
  }
}

function sign(key: Uint8Array, id: string, timestamp: string, body: string | Uint8Array): string {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
}

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** An empty key would let everybody sign. */
function keyOf(secret: string): Uint8Array {
  const encoded = secret.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]{24,}={0,2}$/.test(encoded)) throw new TypeError('secret must be whsec_ and base64');
  return Buffer.from(encoded, 'base64');
}

function headerOf(headers: IncomingHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : (headers[name] ?? headerOfAnyCase(headers, name));
  if (typeof value !== 'string' || value === '') throw refused(`it has no ${name}`);
  return value;
}

function headerOfAnyCase(
  headers: Exclude<IncomingHeaders, Headers>,
  name: string,
): string | readonly string[] | undefined {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function refused(why: string) {
  return clientError('webhook_refused', `The webhook message is refused: ${why}.`);
}
