import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { createDiskStore } from '../files/disk.ts';
import { toError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { examineLevels } from '../sandbox/sandbox.ts';
import { allEngines } from '../tools/registry.ts';

/** Each part with its verdict and, when it is bad, its mend. Exit code 1 when the service could not run. */
export async function doctor(): Promise<void> {
  const config = readConfig();
  const say = (good: boolean, label: string, text: string) =>
    console.log(`${good ? 'ok     ' : 'missing'}  ${label.padEnd(22)} ${text}`);
  console.log(`Node ${process.version}, data directory ${config.dataDirectory}\n`);
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 });

  const levels = await examineLevels(config.dataDirectory);
  for (const { level, works, detail } of levels) say(works, `sandbox ${level}`, detail);
  const storage = await problemOf(() => createDiskStore({ root: join(config.dataDirectory, 'files') }).check());
  say(storage === undefined, 'storage', storage ?? 'can be written');
  const database = await problemOf(async () => (await openDatabase(config, createLog('fatal'))).close());
  say(
    database === undefined,
    'database',
    database ?? (config.databaseUrl === undefined ? 'embedded PostgreSQL' : 'DATABASE_URL'),
  );
  for (const engine of allEngines()) {
    const version = await engine.version();
    say(version !== undefined, engine.name, version ?? `install it with: ${engine.install ?? 'npm ci'}`);
  }
  const confined = levels.some(({ works }) => works) || config.sandbox !== 'require';
  if (storage !== undefined || database !== undefined || !confined) process.exitCode = 1;
}

async function problemOf(check: () => Promise<void>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return toError(error).message;
  }
}
