import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

/**
 * Ids are UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits, so they sort by age and cannot be guessed. The
 * database keeps the UUID; outside it is a prefix and 26 characters of Crockford's base 32, which sort the same way.
 */
export type Uuid = string;

const prefixes = {
  run: 'run_',
  webhook: 'wh_',
  event: 'evt_',
  token: 'tok_',
  account: 'acc_',
  delivery: 'dlv_',
  person: 'per_',
  session: 'ses_',
  link: 'lnk_',
  audit: 'aud_',
} as const;
export type IdKind = keyof typeof prefixes;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export function newUuid(clock: Clock): Uuid {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(clock.now().getTime(), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** `018f…` → `run_01hx…`. */
export function publicId(kind: IdKind, uuid: Uuid): string {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = alphabet[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return prefixes[kind] + text;
}

const shape = /^[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$/;

/** The UUID behind a public id, or undefined for anything that is not one of ours. */
export function parseId(kind: IdKind, id: string): Uuid | undefined {
  const prefix = prefixes[kind];
  if (!id.startsWith(prefix)) return undefined;
  const text = id.slice(prefix.length);
  if (!shape.test(text)) return undefined;
  let value = 0n;
  for (const character of text) value = (value << 5n) | BigInt(alphabet.indexOf(character));
  const hex = value.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
