import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Within the 24 to 64 bytes the Standard Webhooks specification asks for. */
const secretBytes = 32;

/** A signing secret as it is shown to the receiver: `whsec_` and base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}

interface Message {
  /** The same on every try of one event, so that a receiver can tell a repeat. */
  id: string;
  /** When this try is sent: receivers refuse one that is more than five minutes off. */
  timestamp: Date;
  body: string;
  /** Every secret that is valid now, the newest first: two while a rotation lasts. */
  secrets: readonly string[];
}

/** The Standard Webhooks headers of a message, one signature for each secret. */
export function signatureHeaders({ id, timestamp, body, secrets }: Message): Record<string, string> {
  if (secrets.length === 0) throw new Error(`webhook message ${id} has no secret to sign with`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, timestamp, body)).join(' '),
  };
}
