import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../compose.ts';
import { readConfig, type Config } from '../config.ts';
import { systemClock } from '../lib/clock.ts';
import { toError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { keepCompiledCode, saveCompiledCode } from './compiled-code.ts';
import { holdDataDirectory } from './data-directory.ts';
import { greet } from './greeting.ts';

type Role = 'serve' | 'api' | 'worker';

/** What keeps a role from running is said in one sentence; the stack is for a bug report. */
export async function start(role: Role): Promise<void> {
  try {
    await run(role);
    process.exit(0);
  } catch (error) {
    const { message, stack } = toError(error);
    console.error(`Millrun cannot run: ${message}`);
    if (!(error instanceof Error) || error.name !== 'Error') console.error(stack);
    process.exit(1);
  }
}

/** Runs a role until it is told to stop. A second signal stops at once. */
async function run(role: Role): Promise<void> {
  const config = readConfig();
  const log = createLog(config.logLevel);
  const stopSignal = waitForStop(config);
  const letGo = role === 'worker' ? undefined : await holdDataDirectory(config);
  keepCompiledCode(config.dataDirectory);
  const { composeWorker, openCore } = await import('../compose.ts');
  const core = await openCore(config, log, { worker: role !== 'api' });
  if (letGo !== undefined) core.releasers.add(letGo);
  try {
    const worker = role === 'api' ? undefined : await composeWorker(core);
    const { address, firstLink } = role === 'worker' ? {} : await listenAt(core);
    greet({ role, address, firstLink, config, sandbox: worker?.sandbox, engines: worker?.engines });
    saveCompiledCode();
    const reason = await stopSignal;
    log.info({ reason }, 'stopping');
    console.log('Stopping: running work is finished first. Once more to stop at once.');
    // At once, beside the requests under way: what is only queued stays so.
    worker?.stop().catch(() => undefined);
  } finally {
    await core.releasers.releaseAll();
  }
}

async function listenAt(core: Core): Promise<{ address?: string; firstLink?: string | undefined }> {
  const { composeApi } = await import('../compose.ts');
  const { app, firstLink } = await composeApi(core);
  const address = await app.listen({ host: core.config.host, port: core.config.port });
  core.own.address = address;
  return { address, firstLink: await firstLink() };
}

/** One Ctrl-C may arrive several times: from the terminal, and from npm and the launcher, which pass it on. */
const sameSignalMs = 1000;

async function waitForStop(config: Config): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let askedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const now = systemClock.monotonicMs();
      if (askedAt !== undefined && now - askedAt > sameSignalMs) process.exit(1);
      askedAt ??= now;
      resolve(signal);
    });
  }
  if (config.startedByNpm) void watchParent().then(() => resolve('npm has ended'));
  return promise;
}

/** npm does not pass every end on to what it started. */
async function watchParent(): Promise<void> {
  const parent = process.ppid;
  while (process.ppid === parent) await sleep(500, undefined, { ref: false });
}
