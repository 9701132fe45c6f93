import { performance } from 'node:perf_hooks';

/** Where the time comes from. Rooms receive one; tests hand in a virtual one. */
export interface Clock {
  /** The wall clock, for what is stored or shown. */
  now(): Date;
  /** Milliseconds that never jump, for durations and deadlines. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
