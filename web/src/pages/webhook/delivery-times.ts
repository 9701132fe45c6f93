import type { Delivery } from '@millrun/sdk';

/** How soon the list is asked for again, in milliseconds: while something is being tried, and else. */
const busyMs = 1000;
const idleMs = 8000;
/** A try that is due, and the reply it waits for. */
const soonMs = 2000;

type Due = Pick<Delivery, 'state' | 'next_attempt_at'>;

/** When the next try is, in milliseconds since 1970; undefined when there is none. */
export function nextTry({ state, next_attempt_at }: Due): number | undefined {
  return state === 'pending' && next_attempt_at !== null ? Date.parse(next_attempt_at) : undefined;
}

export function refreshAfter(deliveries: readonly Due[], now: number): number {
  const due = deliveries.some((delivery) => (nextTry(delivery) ?? Number.POSITIVE_INFINITY) <= now + soonMs);
  return due ? busyMs : idleMs;
}
