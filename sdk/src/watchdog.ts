/** Ends something that has been quiet for too long. */
export interface Watchdog {
  /** Aborted, with `reason`, after the time without a `touch`. */
  readonly signal: AbortSignal;
  touch(): void;
  stop(): void;
}

export function startWatchdog(quietMs: number, reason: Error): Watchdog {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(reason), quietMs);
  return {
    signal: controller.signal,
    touch: () => void timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}

/** One signal for several reasons to stop. */
export function anySignal(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}
