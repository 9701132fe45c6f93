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
  /** The command makes a process namespace, and a shell in it runs `announce` before the program. */
  announces: boolean;
  /** Bytes to be read from file descriptor 5 (`dataDescriptor`). */
  data?: Buffer;
}

const statusDescriptor = 4;
export const dataDescriptor = 5;

/**
 * For a shell inside, before it runs the program: says that the sandbox stands and waits for the answer. Whoever was not
 * yet bound to the life of the service when that was killed ends here, for nobody answers.
 */
export const announce =
  `echo started >&${statusDescriptor} && read -r go <&${statusDescriptor} || exit; ` +
  `unset go; exec ${statusDescriptor}>&-`;

/** Ends the command when its parent died before it could ask to be told. */
const withParent = 'test "$PPID" -eq "$1" && shift && exec "$@"';

/**
 * The command, killed by the kernel when the process that spawns it ends, however it ends; where util-linux is missing the
 * bare command. The signal comes when the spawning THREAD ends, so trees are launched from the main thread only.
 */
export function boundToParent(command: TreeCommand['command']): [string, ...string[]] {
  const setpriv = findProgram('setpriv');
  const sh = findProgram('sh');
  if (setpriv === undefined || sh === undefined) return [...command];
  return [setpriv, '--pdeathsig', 'KILL', '--', sh, '-c', withParent, 'sh', String(process.pid), ...command];
}

/**
 * Spawns the tree in a process group of its own.
 * @throws Error when the command cannot be passed to the system at all (a NUL byte, far too long).
 */
export function launchTree(tree: TreeCommand): SandboxedProcess {
  const [program, ...args] = withoutGroups(tree.command);
  const pipeIf = (needed: boolean) => (needed ? 'pipe' : 'ignore');
  const ends = [pipeIf(tree.announces), pipeIf(tree.data !== undefined)] as const;
  const child = withoutInheritedFiles(['ignore', 'pipe', 'pipe', 'pipe', ...ends], (all) =>
    spawn(program, args, { env: { ...tree.env, ...channelEnvironment }, cwd: tree.cwd, detached: true, stdio: all }),
  );
  const [, , , channel, statusPipe, dataPipe] = child.stdio as (Duplex | null | undefined)[];
  let ended = false;
  const kill = () => {
    if (ended) return;
    status.init ??= initOf(child);
    killGroup(child);
  };
  child.on('error', () => undefined); // Told by `exited`.
  if (channel) attachChannel(child, channel, kill);
  dataPipe?.on('error', () => undefined).end(tree.data); // Ended without reading it: told by `exited`.
  const status = answerAnnouncement(child, statusPipe, kill);
  const exited = firstEnd(child).then(async (end) => {
    killGroup(child); // What stayed behind in the group; in a sandbox nothing can.
    ended = true;
    return treeEnd(end, status);
  });
  return { child, kill, exited };
}

/** Root's groups would still open files inside. */
function withoutGroups(command: TreeCommand['command']): readonly [string, ...string[]] {
  const setpriv = findProgram('setpriv');
  if (process.getuid?.() !== 0 || setpriv === undefined) return command;
  return [setpriv, '--clear-groups', '--', ...command];
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
  /** Settles when nobody can announce anything any more. */
  closed: Promise<void>;
}

/** Lets the program run once it is known which process must end to prove that all have. */
function answerAnnouncement(child: ChildProcess, pipe: Duplex | null | undefined, kill: () => void): TreeStatus {
  if (!pipe) return { init: undefined, started: true, closed: Promise.resolve() };
  const closed = new Promise<void>((resolve) => pipe.once('close', () => resolve()));
  const status: TreeStatus = { init: undefined, started: false, closed };
  pipe.once('data', () => {
    status.init ??= initOf(child);
    if (status.init === undefined) return kill();
    status.started = true;
    pipe.end('go\n');
  });
  pipe.on('error', () => undefined);
  child.once('exit', () => pipe.end()); // To whoever still waits for an answer.
  return status;
}

async function treeEnd(end: FirstEnd, status: TreeStatus): Promise<SandboxExit> {
  if (!end.spawned) return { code: null, signal: null, started: false };
  await status.closed;
  if (status.init !== undefined) await killed(status.init);
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

/** The wrapper's one child is process 1 of the new namespace; undefined before it is made and when it has gone. */
function initOf(wrapper: ChildProcess): RunningProcess | undefined {
  const pid = Number.parseInt(readProcess(`${wrapper.pid}/task/${wrapper.pid}/children`), 10);
  if (Number.isNaN(pid) || !/^NSpid:.*\t1$/m.test(readProcess(`${pid}/status`))) return undefined;
  const stat = readStat(pid);
  return stat === undefined ? undefined : { pid, startTime: stat.startTime };
}

/**
 * Its wrapper has ended and takes it along, unless the wrapper was killed before it had arranged for that. The kernel lets process 1 of a namespace end only after every other process in it.
 */
async function killed(init: RunningProcess): Promise<void> {
  if (isRunning(init)) killProcess(init.pid);
  for (let wait = 1; isRunning(init); wait = Math.min(wait * 2, 50)) await delay(wait);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ESRCH: it has gone by itself.
  }
}

function isRunning(known: RunningProcess): boolean {
  const stat = readStat(known.pid);
  return stat !== undefined && stat.startTime === known.startTime && stat.state !== 'Z' && stat.state !== 'X';
}

/** Fields 3 and 22 of proc_pid_stat(5); the name in field 2 may hold anything, so they are counted from its end. */
function readStat(pid: number): { state: string; startTime: string } | undefined {
  const stat = readProcess(`${pid}/stat`);
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTime = fields[18];
  return state === undefined || startTime === undefined ? undefined : { state, startTime };
}

/** A file of /proc about a process; empty when the process has gone. */
function readProcess(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return '';
  }
}
