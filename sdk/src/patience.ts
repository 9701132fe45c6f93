import { clientError, MillrunError } from './errors.ts';
import { backOff, mayPass, pause } from './transport.ts';

/** How long a run is followed while the service cannot be reached, in milliseconds: a restart, or a lost network. */
export const longestOutageMs = 120_000;

/** Bears an outage up to a limit; for reading alone, which does no harm when it is done again. */
export interface Patience {
  /** It works: what went wrong before is forgotten. */
  renew(): void;
  /**
   * Waits before the next try.
   *
   * @throws MillrunError the one given, when it will not pass or the outage has lasted too long.
   */
  bear(error: unknown, firstPauseMs?: number): Promise<void>;
}

export function createPatience(signal: AbortSignal | undefined): Patience {
  let since: number | undefined;
  let failures = 0;
  return {
    renew() {
      since = undefined;
      failures = 0;
    },
    async bear(error, firstPauseMs) {
      signal?.throwIfAborted();
      if (!(error instanceof MillrunError) || !mayPass(error)) throw error;
      const now = performance.now();
      since ??= now;
      const pauseMs = Math.max(backOff(failures, firstPauseMs), (error.retryAfterS ?? 0) * 1000);
      if (now + pauseMs - since > longestOutageMs) throw error;
      failures += 1;
      await pause(pauseMs, signal);
    },
  };
}

export function connectionCut(origin: string): MillrunError {
  return clientError('connection_failed', `The connection to ${origin} was cut.`, { replyLost: true });
}
