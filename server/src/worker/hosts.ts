import { mkdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { SandboxLimits } from '../sandbox/limits.ts';
import type { SandboxedProcess, SandboxExit } from '../sandbox/process-tree.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { CleanOrder, FetchReply, HostMessage, RunOrder, WarmOrder } from './messages.ts';

/** A host is replaced after this many runs, so that what libraries leak does not add up. */
const longestService = 500;
/** … or when its memory has grown beyond this, in bytes. */
const largestMemory = 700 * 1024 * 1024;
/** … or when its account has not needed it for this long, in milliseconds. */
const longestIdleMs = 60_000;
const readyTimeoutMs = 30_000;
/** A host that has not tidied up within this, in milliseconds, is stuck or obeys somebody else: it is killed. */
const cleanTimeoutMs = 10_000;
/** A slow engine is started ahead for this long after it was last needed, in milliseconds. */
const anticipationMs = 10 * 60_000;

/** Where a host finds its files, inside the sandbox. */
const inside = { inputs: '/run/in', outputs: '/run/out' };

/** A warm process in a sandbox that executes runs of one account, one at a time. */
export interface Host {
  /** The account it serves; undefined until its first run. */
  accountId: Uuid | undefined;
  /** Directories outside the sandbox, and how the same ones are called inside. */
  inputs: { outside: string; inside: string };
  outputs: { outside: string; inside: string };
  /** Gives it work; messages until `done` or `failed` go to `onMessage`, and its end, should it come first, to `onGone`. */
  run(order: RunOrder, onMessage: (message: HostMessage) => void, onGone: (exit: SandboxExit) => void): void;
  /** Answers its request for a file of the web. */
  reply(reply: FetchReply): void;
  /** Lets it remove what a run left below its outputs. */
  clean(directory: string): Promise<void>;
  /** Kills the whole sandbox. */
  kill(): void;
  /** Resolves when nothing of it runs any more. */
  readonly gone: Promise<{ code: number | null; signal: string | null; started: boolean }>;
}

export interface HostPool {
  /**
   * A warm host of the account, or a fresh one that becomes the account's. `slowEngines` are those the run needs that take
   * long to start: hosts that wait from now on start them ahead, for a while.
   */
  acquire(accountId: Uuid, slowEngines: readonly string[]): Promise<Host>;
  /** Takes a host back: kept warm for its account, or ended when `healthy` is false or its service is over. */
  release(host: Host, healthy: boolean): void;
  close(): Promise<void>;
}

interface PooledHost extends Host {
  /** Starts an engine ahead. */
  warm(engine: string): void;
  ready: Promise<void>;
  runs: number;
  memoryBytes: number;
  idleSince: number;
}

interface PoolOptions {
  sandbox: Sandbox;
  limits: SandboxLimits;
  /** Private to this worker; hosts get a directory each. */
  workDirectory: string;
  /** An existing directory with compiled code that hosts may read. */
  compiledCode?: string;
  /** Hosts kept warm at most, besides those at work. */
  maxIdle: number;
  /** `run`: a host is never used twice. */
  isolation: 'account' | 'run';
  clock: Clock;
  log: Log;
}

export function createHostPool(options: PoolOptions): HostPool {
  const { clock, log } = options;
  const alive = new Set<PooledHost>();
  let idle: PooledHost[] = [];
  let spare: PooledHost | undefined;
  let closed = false;
  let serial = 0;
  const neededAt = new Map<string, number>();

  function start(): PooledHost {
    const directory = join(options.workDirectory, String((serial += 1)));
    const host = launchHost(options, directory);
    alive.add(host);
    host.ready.catch(() => host.kill());
    void host.gone.then(async (exit) => {
      alive.delete(host);
      idle = idle.filter((other) => other !== host);
      if (spare === host) spare = undefined;
      if (!exit.started) log.error({ exit }, 'a tool host could not be started in its sandbox');
      await rm(directory, { recursive: true, force: true }).catch((error: unknown) =>
        log.warn({ err: error }, 'the directory of a tool host could not be removed'),
      );
    });
    return host;
  }

  /** One host waits ahead, so that a new account does not wait for Node to start. */
  function prepareSpare(): void {
    if (closed || spare !== undefined) return;
    const host = start();
    spare = host;
    const recently = clock.monotonicMs() - anticipationMs;
    const wanted = [...neededAt].filter(([, at]) => at > recently).map(([engine]) => engine);
    void host.ready.then(() => wanted.forEach((engine) => host.warm(engine))).catch(() => undefined);
  }

  function takeIdle(accountId: Uuid): PooledHost | undefined {
    const index = idle.findLastIndex((host) => host.accountId === accountId);
    return index === -1 ? undefined : idle.splice(index, 1)[0];
  }

  function retireIdle(): void {
    const now = clock.monotonicMs();
    const [stay, go] = [
      idle.filter((host) => now - host.idleSince < longestIdleMs),
      idle.filter((host) => now - host.idleSince >= longestIdleMs),
    ];
    const surplus = stay.slice(0, Math.max(0, stay.length - options.maxIdle));
    idle = stay.slice(surplus.length);
    for (const host of [...go, ...surplus]) host.kill();
  }

  const housekeeping = setInterval(retireIdle, 5000);
  prepareSpare();

  return {
    async acquire(accountId, slowEngines) {
      for (const engine of slowEngines) neededAt.set(engine, clock.monotonicMs());
      const warm = takeIdle(accountId);
      const host = warm ?? spare ?? start();
      if (host === spare) spare = undefined;
      host.accountId = accountId;
      host.runs += 1;
      await host.ready;
      return host;
    },
    release(given, healthy) {
      const host = [...alive].find((candidate) => candidate === given);
      if (host !== undefined) {
        const worn = host.runs >= longestService || host.memoryBytes > largestMemory || options.isolation === 'run';
        if (!healthy || worn || closed) host.kill();
        else {
          host.idleSince = clock.monotonicMs();
          idle.push(host);
        }
      }
      retireIdle();
      prepareSpare();
    },
    async close() {
      closed = true;
      clearInterval(housekeeping);
      const all = [...alive];
      for (const host of all) host.kill();
      await Promise.all(all.map((host) => host.gone));
    },
  };
}

const source = dirname(dirname(fileURLToPath(import.meta.url)));
/** The checkout: what the host program is loaded from, read-only. */
const project = resolve(source, '../..');

function launchHost(options: PoolOptions, directory: string): PooledHost {
  const place = (name: string, to: string) => {
    const outside = join(directory, name);
    return { outside, inside: options.sandbox.pathInside({ from: outside, to }) };
  };
  const inputs = place('in', inside.inputs);
  const outputs = place('out', inside.outputs);
  let process: SandboxedProcess | undefined;
  let killed = false;
  let onMessage: (message: HostMessage) => void = () => undefined;
  // One reaction for the life of the host: one a run would keep every run's order in memory until the host ends.
  let exit: SandboxExit | undefined;
  let onGone: (exit: SandboxExit) => void = () => undefined;
  const whenGone = (tell: (exit: SandboxExit) => void) => {
    onGone = tell;
    if (exit !== undefined) tell(exit);
  };
  const { promise: ready, resolve: becomeReady, reject: failReady } = Promise.withResolvers<void>();
  const readyTimer = setTimeout(() => failReady(new Error('a tool host did not become ready in time')), readyTimeoutMs);

  const host: PooledHost = {
    accountId: undefined,
    inputs,
    outputs,
    ready: ready.finally(() => clearTimeout(readyTimer)),
    runs: 0,
    memoryBytes: 0,
    idleSince: 0,
    run(order, listener, ended) {
      onMessage = listener;
      process?.child.send(order);
      whenGone(ended);
    },
    reply: (reply) => process?.child.send(reply),
    warm: (engine) => process?.child.send({ kind: 'warm', engine } satisfies WarmOrder),
    clean(directory) {
      const { promise, resolve } = Promise.withResolvers<void>();
      onMessage = (message) => {
        if (message.kind === 'cleaned') resolve();
      };
      process?.child.send({ kind: 'clean', directory } satisfies CleanOrder);
      whenGone(() => resolve());
      const late = setTimeout(() => host.kill(), cleanTimeoutMs);
      return promise.finally(() => clearTimeout(late));
    },
    kill() {
      killed = true;
      process?.kill();
    },
    gone: launch().catch((error: unknown) => {
      failReady(error);
      return { code: null, signal: null, started: false };
    }),
  };
  void host.gone.then((last) => {
    exit = last;
    onGone(last);
    failReady(new Error('a tool host ended before it was ready'));
  });
  return host;

  async function launch(): Promise<SandboxExit> {
    await makeDirectories(inputs.outside, outputs.outside);
    if (killed) return { code: null, signal: 'SIGKILL', started: true };
    process = options.sandbox.launch(hostSpec(options, inputs, outputs));
    process.child.on('error', failReady);
    process.child.on('message', (message: HostMessage) => {
      if (message.kind === 'ready') becomeReady();
      if ('memoryBytes' in message) host.memoryBytes = message.memoryBytes;
      onMessage(message);
    });
    return process.exited;
  }
}

async function makeDirectories(...directories: string[]): Promise<void> {
  for (const directory of directories) await mkdir(directory, { recursive: true, mode: 0o700 });
}

function hostSpec(
  options: PoolOptions,
  inputs: Host['inputs'],
  outputs: Host['outputs'],
): Parameters<Sandbox['launch']>[0] {
  const sameInside = (path: string) => ({ from: path, to: path });
  return {
    program: globalThis.process.execPath,
    args: ['--disable-warning=ExperimentalWarning', join(source, 'worker/host-main.ts')],
    readOnly: [
      sameInside(globalThis.process.execPath),
      sameInside(join(project, 'node_modules')),
      sameInside(join(project, 'server')),
      sameInside(join(project, 'sdk')),
      ...(options.compiledCode === undefined ? [] : [sameInside(options.compiledCode)]),
      { from: inputs.outside, to: inputs.inside },
    ],
    writable: [{ from: outputs.outside, to: outputs.inside }],
    // One thread an engine: runs beside each other use the processors better than threads inside one run.
    env: {
      VIPS_CONCURRENCY: '1',
      OMP_THREAD_LIMIT: '1',
      MALLOC_ARENA_MAX: '2',
      NODE_ENV: 'production',
      ...(options.compiledCode === undefined ? {} : { NODE_COMPILE_CACHE: options.compiledCode }),
    },
    cwd: outputs.inside,
    limits: options.limits,
  };
}
