import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { attachChannel, channelEnvironment } from './channel.ts';
import { withoutInheritedFiles } from './descriptors.ts';
import { findProgram } from './host-programs.ts';
import { killGroup } from './program.ts';

export interface SandboxExit {
  /** Null when a signal ended the program. */
  code: number | null;
  signal: string | null;
  /** False when the sandbox itself could not be set up: the program never ran. */
  started: boolean;
}

export interface SandboxedProcess {
  /** `stdout` and `stderr` are pipes to be read; `send` and the event `message` reach a Node program inside. */
  child: ChildProcess;
  /** SIGKILL for the whole tree at once. */
  kill(): void;
  /** Resolves when every process of the tree has gone; without a sandbox, when the first one has. Never rejects. */
  exited: Promise<SandboxExit>;
}

/** A program with everything that wraps it, ready to be spawned. */
export interface TreeCommand {
  command: readonly [string, ...string[]];
  /** The whole environment. */
  env: Record<string, string>;
  cwd?: string;
  /** Set when the wrapper reports on file descriptor 4 (`statusDescriptor`) how far it got. */
  reportsStatus: boolean;
  /** Bytes to be read from file descriptor 5 (`dataDescriptor`). */
  data?: Buffer;
}

export const statusDescriptor = 4;
export const dataDescriptor = 5;

/**
 * Ends the command when the process that spawned it is gone. The kernel sends the signal when the spawning THREAD ends,
 * so trees are launched from the main thread only; the comparison catches a parent that died before the request.
 */
const withParent = 'test "$PPID" -eq "$1" && shift && exec "$@"';

/**
 * Spawns the tree in a process group of its own.
 * @throws Error when the command cannot be passed to the system at all (a NUL byte, far too long).
 */
export function launchTree(tree: TreeCommand): SandboxedProcess {
  const [program, ...args] = boundToParent(tree.command);
  const stdio = [
    'ignore',
    'pipe',
    'pipe',
    'pipe',
    'pipe',
    ...(tree.data === undefined ? [] : ['pipe' as const]),
  ] as const;
  const child = withoutInheritedFiles([...stdio], (all) =>
    spawn(program, args, { env: { ...tree.env, ...channelEnvironment }, cwd: tree.cwd, detached: true, stdio: all }),
  );
  let ended = false;
  const kill = () => {
    if (!ended) killGroup(child);
  };
  child.on('error', () => undefined); // Told by `exited`.
  attachChannel(child, child.stdio[3] as Duplex, kill);
  if (tree.data !== undefined) sendData(child.stdio as readonly unknown[], tree.data);
  const status = readStatus(child.stdio[statusDescriptor] as Duplex, tree.reportsStatus);
  const exited = firstEnd(child).then(async (end) => {
    killGroup(child); // What stayed behind in the group; in a sandbox nothing can.
    ended = true;
    return treeEnd(end, status);
  });
  return { child, kill, exited };
}

function sendData(stdio: readonly unknown[], data: Buffer): void {
  const pipe = stdio[dataDescriptor] as Duplex;
  pipe.on('error', () => undefined); // The wrapper ended without reading it: told by `exited`.
  pipe.end(data);
}

function boundToParent([program, ...args]: TreeCommand['command']): [string, ...string[]] {
  const setpriv = findProgram('setpriv');
  const sh = findProgram('sh');
  if (setpriv === undefined || sh === undefined) return [program, ...args];
  const root = process.getuid?.() === 0 ? ['--clear-groups'] : [];
  const guard = [sh, '-c', withParent, 'sh', String(process.pid)];
  return [setpriv, '--pdeathsig', 'KILL', ...root, '--', ...guard, program, ...args];
}

interface FirstEnd {
  spawned: boolean;
  code: number | null;
  signal: NodeJS.Signals | null;
}

function firstEnd(child: ChildProcess): Promise<FirstEnd> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ spawned: true, code, signal }));
    if (child.pid === undefined) child.once('error', () => resolve({ spawned: false, code: null, signal: null }));
  });
}

interface TreeStatus {
  /** Process 1 of the new process namespace, once known. */
  init: RunningProcess | undefined;
  started: boolean;
  /** Settles when nobody can report any more. */
  closed: Promise<void>;
}

/** Collects what bubblewrap (`--json-status-fd`) or the set-up script of `unshare.ts` reports. */
function readStatus(pipe: Duplex, reportsStatus: boolean): TreeStatus {
  const status: TreeStatus = { init: undefined, started: !reportsStatus, closed: Promise.resolve() };
  if (!reportsStatus) {
    pipe.destroy();
    return status;
  }
  let text = '';
  pipe.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    status.init ??= runningProcess(/"child-pid": ?(\d+)/.exec(text)?.[1]);
    status.started ||= /"exit-code"|"started"/.test(text);
  });
  pipe.on('error', () => undefined);
  status.closed = new Promise((resolve) => pipe.once('close', () => resolve()));
  return status;
}

async function treeEnd(end: FirstEnd, status: TreeStatus): Promise<SandboxExit> {
  if (!end.spawned) return { code: null, signal: null, started: false };
  await status.closed;
  if (status.init !== undefined) await gone(status.init);
  // A set-up that fails exits with a code; a signal came from outside and blames nobody.
  return { ...ownEnd(end), started: status.started || end.signal !== null };
}

/** From the end, so that of two names for a number the usual one stays: SIGABRT before SIGIOT. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
);

/** The wrappers say 128 + n for a program that signal n ended. */
function ownEnd({ code, signal }: FirstEnd): { code: number | null; signal: string | null } {
  const name = code === null ? undefined : signalNames.get(code - 128);
  return name === undefined ? { code, signal } : { code: null, signal: name };
}

interface RunningProcess {
  pid: number;
  /** With the number it names one process for ever: numbers are used again. */
  startTime: string;
}

function runningProcess(pid: string | undefined): RunningProcess | undefined {
  if (pid === undefined) return undefined;
  const stat = readStat(Number(pid));
  return stat === undefined ? undefined : { pid: Number(pid), startTime: stat.startTime };
}

/** The kernel lets process 1 of a namespace end only after every other process in it. */
async function gone(init: RunningProcess): Promise<void> {
  for (let wait = 1; isRunning(init); wait = Math.min(wait * 2, 50)) await delay(wait);
}

function isRunning(known: RunningProcess): boolean {
  const stat = readStat(known.pid);
  return stat !== undefined && stat.startTime === known.startTime && stat.state !== 'Z' && stat.state !== 'X';
}

/** Fields 3 and 22 of proc_pid_stat(5); the name in field 2 may hold anything, so they are counted from its end. */
function readStat(pid: number): { state: string; startTime: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startTime: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
