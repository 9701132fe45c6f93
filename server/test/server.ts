import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const launcher = fileURLToPath(new URL('../bin/millrun.mjs', import.meta.url));

export interface TestServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** `{origin}/api/v2` */
  base: string;
  dataDirectory: string;
  process: ChildProcess;
  /** Everything written to standard error: the log. */
  log(): string;
  /** Everything written to standard output, which ends with what a newcomer is told. */
  greeting(): string;
  /** Runs a `millrun` command against the same data directory; returns its standard output, trimmed. */
  millrun(...args: string[]): Promise<string>;
  /** A token of a new account on a plan. */
  token(plan?: string): Promise<string>;
  /** Stops it as Ctrl-C does and waits; the data stays. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  role?: 'serve' | 'api' | 'worker';
  /** Reuse the data of another server. */
  dataDirectory?: string;
  env?: Record<string, string>;
}

let accounts = 0;

/**
 * The real program as a user starts it, on a free port and a data directory of its own: real PostgreSQL, real engines,
 * real sandbox. Disposing stops it and removes the data, unless the directory was handed in.
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dataDirectory = options.dataDirectory ?? (await newDataDirectory());
  const env = { PATH: process.env['PATH'] ?? '', PORT: '0', MILLRUN_DATA_DIR: dataDirectory, ...options.env };
  const child = spawn(process.execPath, [launcher, options.role ?? 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  let greeting = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (greeting += text));
  const origin = await readyAddress(child, () => log);

  const millrun = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [launcher, ...args], { env });
    return stdout.trim();
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGINT');
    await once(child, 'exit');
  };
  return {
    origin,
    base: `${origin}/api/v2`,
    dataDirectory,
    process: child,
    log: () => log,
    greeting: () => greeting,
    millrun,
    token: (plan = 'unlimited') =>
      millrun('token', 'create', '--email', `test-${(accounts += 1)}@example.com`, '--plan', plan),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      if (options.dataDirectory === undefined) await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Shared by all servers of all tests: compiling some hundred files anew for each of them would cost minutes. */
const compiledCode = join(tmpdir(), 'millrun-test-compiled');

async function newDataDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  await mkdir(compiledCode, { recursive: true, mode: 0o700 });
  await mkdir(join(directory, 'cache'), { mode: 0o700 });
  await symlink(compiledCode, join(directory, 'cache', 'compiled'));
  return directory;
}

/** The address it prints when it is ready; empty for a worker, which has none. */
function readyAddress(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready:\n${log()}`)));
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /^Millrun .*is running(?: on (\S+))?$/.exec(line);
      if (match !== null) resolve(match[1] ?? '');
    });
  });
}
