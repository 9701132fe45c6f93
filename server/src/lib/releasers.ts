/** Something that must be given back: a socket, a process, a lock. */
export type Release = () => void | Promise<void>;

/**
 * Whoever acquires, registers the release; all are released once, in reverse order. A release that fails does not keep
 * the others from running.
 */
export interface Releasers {
  add(release: Release): void;
  releaseAll(): Promise<void>;
}

export function createReleasers(onError: (error: unknown) => void): Releasers {
  const stack: Release[] = [];
  let releasing: Promise<void> | undefined;
  const unwind = async () => {
    for (let release = stack.pop(); release !== undefined; release = stack.pop()) {
      try {
        await release();
      } catch (error) {
        onError(error);
      }
    }
  };
  return {
    add: (release) => void stack.push(release),
    releaseAll: () => (releasing ??= unwind()),
  };
}
