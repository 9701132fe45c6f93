import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';

/** How much of a program's standard error is kept for the log, in characters. */
const tailLength = 4000;

export interface ProgramOptions {
  cwd?: string;
  /** Added to the small fixed environment; never the service's own. */
  env?: Record<string, string>;
  signal?: AbortSignal;
  /** Kills the program after this long; the run's own deadline holds anyway. */
  timeoutMs?: number;
  /** Exit codes that are not a failure, 0 unless told. Remember that 0 alone is no success either. */
  okCodes?: readonly number[];
  /** Receives standard output line by line; without it standard output is collected. */
  onLine?: (line: string) => void;
  /** Receives standard error line by line, all of it. */
  onErrorLine?: (line: string) => void;
  /** Most standard output to collect, in bytes (1 MiB unless told); more is a failure. */
  maxOutputBytes?: number;
  /** Text for standard input; closed at once without it. */
  stdin?: string;
}

export interface ProgramResult {
  code: number;
  stdout: string;
  /** The last lines of standard error: for the log. */
  stderrTail: string;
}

/** The environment every engine gets: nothing of the service's own. */
function engineEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const temporary = tmpdir();
  return { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: temporary, TMPDIR: temporary, LANG: 'C.UTF-8', ...extra };
}

/**
 * Runs a program to its end in its own process group, which is killed whole on abort, on time-out and when it writes too
 * much. Inside a tool host this happens within the host's sandbox.
 *
 * @throws Failure `engine_failed` when it cannot start or ends with a code that is not in `okCodes`; `timed_out`.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: engineEnvironment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let reason: 'aborted' | 'timed_out' | 'too_much_output' | undefined;
  const stop = (why: typeof reason) => {
    reason ??= why;
    killGroup(child);
  };
  const abort = () => stop('aborted');
  options.signal?.addEventListener('abort', abort, { once: true });
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => stop('timed_out'), options.timeoutMs);
  if (options.signal?.aborted === true) abort();

  const stdout = collectOutput(child, options, () => stop('too_much_output'));
  let stderrTail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-tailLength);
  });
  if (options.onErrorLine !== undefined) createInterface({ input: child.stderr }).on('line', options.onErrorLine);
  child.stdin.on('error', () => undefined); // A program that does not read its input closes the pipe: not our failure.
  child.stdin.end(options.stdin ?? '');

  try {
    const { code, signal } = await closed(child);
    if (reason === 'timed_out') throw new Failure('timed_out', `${program} took too long.`, { log: stderrTail });
    options.signal?.throwIfAborted();
    if (reason === 'too_much_output')
      throw new Failure('resource_limit', `${program} wrote more than is allowed.`, { log: stderrTail });
    if (code === null) throw new Failure('engine_failed', `The engine was stopped by ${signal}.`, { log: stderrTail });
    if (!(options.okCodes ?? [0]).includes(code)) {
      throw new Failure('engine_failed', 'The engine could not process the file.', {
        log: `${program} exited ${code}: ${stderrTail}`,
      });
    }
    return { code, stdout: stdout(), stderrTail };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', abort);
    killGroup(child); // Whatever the program left running in its group.
  }
}

function collectOutput(child: ChildProcess, options: ProgramOptions, tooMuch: () => void): () => string {
  if (child.stdout === null) return () => '';
  if (options.onLine !== undefined) {
    createInterface({ input: child.stdout }).on('line', options.onLine);
    return () => '';
  }
  const limit = options.maxOutputBytes ?? 1024 * 1024;
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) tooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function closed(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Failure('engine_failed', 'The engine could not be started.', { cause, log: String(cause) })),
    );
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/**
 * Runs a program as a filter: `input` flows into it and what it writes flows into `output`, both with backpressure.
 *
 * @throws Failure `engine_failed` when it cannot start or does not exit with 0; what `signal` was aborted with.
 */
export async function filterProgram(
  program: string,
  args: readonly string[],
  { input, output, signal }: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<void> {
  const child = spawn(program, args, { env: engineEnvironment(), stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let stderrTail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-tailLength);
  });
  const end = closed(child);
  try {
    await Promise.all([end, pipeline(input, child.stdin, { signal }), pipeline(child.stdout, output, { signal })]);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    // A program that ends early breaks the pipes: its own words say why.
    if (errorCode(error) !== 'EPIPE') throw error;
  } finally {
    killGroup(child);
  }
  const { code, signal: killedBy } = await end;
  if (code === 0) return;
  const log = `${program} ended with ${code ?? killedBy}: ${stderrTail}`;
  throw new Failure('engine_failed', 'The engine could not process the file.', { log });
}

/** A program that stays: a listener that serves one request after another. */
export interface StartedProgram {
  /** False once it has ended, or when it could not be started. */
  running(): boolean;
  /** The last of what it said on standard error: for the log. */
  stderrTail(): string;
  /** Kills it with everything in its process group; settles when it is gone. */
  stop(): Promise<void>;
}

/**
 * Starts a program that outlives the call, in its own process group. It does not keep this process alive, and it is
 * killed when this process exits; when the process is killed instead, the sandbox around it takes the program along.
 * A program that cannot be started shows as one that is not running.
 */
export function startProgram(
  program: string,
  args: readonly string[],
  options: Pick<ProgramOptions, 'cwd' | 'env'> = {},
): StartedProgram {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: engineEnvironment(options.env),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let running = true;
  let stderrTail = '';
  const kill = () => killGroup(child);
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      running = false;
      process.off('exit', kill);
      resolve();
    };
    child.once('error', (cause) => {
      stderrTail += String(cause);
      end();
    });
    child.once('exit', end);
  });
  process.once('exit', kill);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-tailLength);
  });
  child.unref();
  (child.stderr as Socket).unref();
  return {
    running: () => running,
    stderrTail: () => stderrTail,
    async stop() {
      child.ref(); // Whoever waits for the end must see it.
      kill();
      await ended;
    },
  };
}

/** Kills a child that leads its own process group, and everything in that group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // ESRCH: the group has ended.
  }
}
