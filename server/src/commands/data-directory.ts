import { join } from 'node:path';
import type { Config } from '../config.ts';
import { holdLock } from '../lib/lock.ts';
import type { Release } from '../lib/releasers.ts';

/** One API a data directory: two would not see each other's uploads and limits. */
export async function holdDataDirectory(config: Config): Promise<Release> {
  const letGo = await holdLock(join(config.dataDirectory, 'run', 'api.sock'));
  if (letGo === undefined) {
    throw new Error(
      `Millrun is already running on ${config.dataDirectory}. Stop it first, or set MILLRUN_DATA_DIR and PORT for a second one.`,
    );
  }
  return letGo;
}
