import { setTimeout as sleep } from 'node:timers/promises';

/** Tries again with a pause that doubles up to `maxPauseMs`, until it works or `giveUp` says so; then the last error is thrown. */
export async function retry<T>(
  attempt: () => Promise<T>,
  options: { firstPauseMs: number; maxPauseMs: number; giveUp: (error: unknown, elapsedMs: number) => boolean },
): Promise<T> {
  const startedAt = performance.now();
  for (let pause = options.firstPauseMs; ; pause = Math.min(pause * 2, options.maxPauseMs)) {
    try {
      return await attempt();
    } catch (error) {
      if (options.giveUp(error, performance.now() - startedAt)) throw error;
      await sleep(pause);
    }
  }
}
