import type { TokenInfo } from '../../wire.ts';

export type TokenState = 'active' | 'expiring' | 'expired' | 'revoked';

const dayMs = 86_400_000;
/** From here on somebody should think of the next token. */
const soonMs = 14 * dayMs;
const latelyMs = 7 * dayMs;

export function stateOf({ expires_at, revoked_at }: TokenInfo, now: number): TokenState {
  if (revoked_at !== null) return 'revoked';
  if (expires_at === null) return 'active';
  const left = Date.parse(expires_at) - now;
  if (left <= 0) return 'expired';
  return left <= soonMs ? 'expiring' : 'active';
}

/** Of no use any more. One that expired lately is no former one: something may still try to use it. */
export function isFormer(token: TokenInfo, now: number): boolean {
  if (token.revoked_at !== null) return true;
  return token.expires_at !== null && now - Date.parse(token.expires_at) > latelyMs;
}

/** In how many days a new token expires, as offered. */
export const presetDays = [30, 90, 365] as const;

export type Expiry = `${(typeof presetDays)[number]}` | 'date' | 'never';

/** The moment a token made now expires. A day is meant to its end, where the person is. Undefined when it is not a day. */
export function expiryOf(expiry: Expiry, date: string, now: number): string | null | undefined {
  if (expiry === 'never') return null;
  if (expiry !== 'date') return new Date(now + Number(expiry) * dayMs).toISOString();
  const end = new Date(`${date}T23:59:59.999`);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

/** A day as `<input type="date">` writes it, where the person is. */
export function dayOf(moment: number): string {
  const date = new Date(moment);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
