import { mkdirSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

/** Where it is kept below the data directory; tool hosts read it. */
export function compiledCodeDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'cache', 'compiled');
}

/**
 * Keeps what Node makes of our sources from one start to the next: taking the types out of a few hundred files costs a
 * second, here and in every tool host. Only modules that are imported afterwards count.
 */
export function keepCompiledCode(dataDirectory: string): void {
  const directory = compiledCodeDirectory(dataDirectory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  enableCompileCache(directory);
}

/** Writes what has been compiled so far, for those who start while this process runs. */
export function saveCompiledCode(): void {
  flushCompileCache();
}
