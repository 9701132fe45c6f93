import { setTimeout as sleep } from 'node:timers/promises';

/** Takes work whenever there is room for it. */
export interface PullLoop {
  /** There may be something: look now. */
  wake(): void;
  /** Work under way. */
  readonly busy: number;
  /** Takes nothing more; resolves when all work under way has ended. */
  stop(): Promise<void>;
}

interface PullLoopOptions<T> {
  slots: number;
  /** How long to wait between looks when nobody wakes it, in milliseconds. */
  pollMs: number;
  /** Takes up to `count` pieces of work. */
  pull(count: number): Promise<T[]>;
  /** Does one piece; must not throw. */
  handle(item: T): Promise<void>;
  onError(error: unknown): void;
}

/** After an error of `pull`, such as a database that is away. */
const errorPauseMs = 500;

export function createPullLoop<T>(options: PullLoopOptions<T>): PullLoop {
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  let nudged = false;
  let nudge: () => void = () => undefined;

  const wake = () => {
    nudged = true;
    nudge();
  };

  const waitForNudge = async () => {
    if (nudged) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    nudge = resolve;
    const timer = setTimeout(resolve, options.pollMs);
    await promise;
    clearTimeout(timer);
  };

  const begin = (item: T) => {
    const work: Promise<void> = options.handle(item).finally(() => {
      underWay.delete(work);
      wake();
    });
    underWay.add(work);
  };

  const pullOnce = async () => {
    const free = options.slots - underWay.size;
    nudged = false;
    if (free <= 0) return;
    const items = await options.pull(free);
    items.forEach(begin);
    if (items.length > 0) nudged = true; // There may be more.
  };

  const run = async () => {
    while (!stopped) {
      try {
        await pullOnce();
      } catch (error) {
        options.onError(error);
        await sleep(errorPauseMs);
      }
      if (!stopped) await waitForNudge();
    }
  };
  const running = run();

  return {
    wake,
    get busy() {
      return underWay.size;
    },
    async stop() {
      stopped = true;
      wake();
      await running;
      await Promise.all(underWay);
    },
  };
}
