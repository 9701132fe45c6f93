import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxedProcess } from './process-tree.ts';
import type { ConfinedLevel, Launcher, SandboxSpec } from './launcher.ts';

/** What the probe found inside; see `probe.mts`. */
export interface ProbeFacts {
  /** `device:inode` of what is at the hidden directory's path, if anything is. */
  hiddenDirectory: string | undefined;
  /** Lines of /etc/passwd. */
  users: number;
  interfaces: string[];
  /** To a port of the host that listens. */
  connected: boolean;
  openedKernelSettings: boolean;
  wroteUsr: boolean;
  wroteReadOnly: boolean;
  wroteWritable: boolean;
  wroteTemporary: boolean;
  processes: number;
  /** Of /proc/self/status, as it stands there. */
  status: { uid: string; noNewPrivileges: string; seccomp: string; effective: string; bounding: string };
}

export interface SelfTestFailure {
  /** What does not hold, as a sentence, or the last words of the program that sets the sandbox up. */
  reason: string;
  /** The sandbox could not be made at all. */
  inSetUp: boolean;
}

/** How long a probe may take. A working level needs about 100 ms; a loaded machine gets its time. */
const probeTimeoutMs = 10_000;
/** How long a killed tree may take to go. */
const killTimeoutMs = 2_000;

const probeLimits: SandboxSpec['limits'] = {
  memoryBytes: 1024 * 1024 * 1024,
  fileBytes: 1024 * 1024,
  openFiles: 256,
  processes: 128,
  temporaryBytes: 8 * 1024 * 1024,
};

/**
 * Tries the real chain with programs that do what must not work.
 * @returns undefined when the level holds.
 */
export async function selfTest(
  launch: Launcher,
  level: ConfinedLevel,
  hiddenDirectory: string,
): Promise<SelfTestFailure | undefined> {
  const failures = await Promise.all([probeBoundary(launch, level, hiddenDirectory), probeKill(launch)]);
  return failures.find((failure) => failure !== undefined);
}

async function probeBoundary(
  launch: Launcher,
  level: ConfinedLevel,
  hiddenDirectory: string,
): Promise<SelfTestFailure | undefined> {
  const work = mkdtempSync(join(tmpdir(), 'millrun-self-test-'));
  const server = await listen();
  try {
    const spec = probeSpec(work, hiddenDirectory, portOf(server));
    const { facts, ...end } = await runProbe(launch(spec));
    if (!end.started) return { reason: end.errors, inSetUp: true };
    if (facts === undefined || end.code !== 0) return broken(`The test program did not end well. ${end.errors}`);
    return broken(brokenPromise(facts, level, identityOf(hiddenDirectory)));
  } finally {
    server.close();
    rmSync(work, { recursive: true, force: true });
  }
}

function probeSpec(work: string, hiddenDirectory: string, port: number): SandboxSpec {
  return {
    program: '/opt/probe/node',
    args: ['/opt/probe/probe.mts', hiddenDirectory, String(port), '/work'],
    readOnly: [
      { from: execPath, to: '/opt/probe/node' },
      { from: join(import.meta.dirname, 'probe.mts'), to: '/opt/probe/probe.mts' },
    ],
    writable: [{ from: work, to: '/work' }],
    env: {},
    cwd: '/work',
    limits: probeLimits,
  };
}

interface ProbeEnd {
  facts: ProbeFacts | undefined;
  code: number | null;
  started: boolean;
  /** The last line of standard error. */
  errors: string;
}

async function runProbe(tree: SandboxedProcess): Promise<ProbeEnd> {
  let facts: ProbeFacts | undefined;
  let errors = '';
  tree.child.on('message', (message) => (facts = message as unknown as ProbeFacts));
  tree.child.stdout?.resume();
  tree.child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-500)));
  const end = await withDeadline(tree.exited, probeTimeoutMs, tree.kill);
  return { facts, code: end?.code ?? null, started: end?.started ?? true, errors: lastLine(errors) };
}

function broken(reason: string | undefined): SelfTestFailure | undefined {
  return reason === undefined ? undefined : { reason, inSetUp: false };
}

/** The first promise the facts show to be broken, as a sentence. */
export function brokenPromise(
  facts: ProbeFacts,
  level: ConfinedLevel,
  hiddenIdentity: string | undefined,
): string | undefined {
  const { status } = facts;
  const hidden = hiddenIdentity === undefined || facts.hiddenDirectory !== hiddenIdentity;
  const promises: readonly [holds: boolean, otherwise: string][] = [
    [hidden, 'The data directory is visible inside.'],
    [facts.users === 0, 'The users of the host are visible inside.'],
    [facts.interfaces.every((name) => name === 'lo'), `The network is visible inside: ${facts.interfaces.join(', ')}.`],
    [!facts.connected, 'A connection to the host could be made.'],
    [!facts.openedKernelSettings, "The kernel's settings could be written."],
    [!facts.wroteUsr, 'The system directory /usr could be written.'],
    [!facts.wroteReadOnly, 'A read-only file could be written.'],
    [facts.wroteWritable, 'The work directory could not be written.'],
    [facts.wroteTemporary, 'The temporary directory could not be written.'],
    [facts.processes < 10, 'The processes of the host are visible inside.'],
    [status.uid === '65534', `The user inside is ${status.uid}, not 65534.`],
    [status.noNewPrivileges === '1', 'Programs inside could gain privileges.'],
    [/^0+$/.test(status.effective + status.bounding), 'Programs inside have capabilities.'],
    [level !== 'bubblewrap' || status.seccomp === '2', 'System calls are not filtered.'],
  ];
  return promises.find(([holds]) => !holds)?.[1];
}

/** Kills the outermost process alone, as the end of the service would, and waits for the rest to follow. */
async function probeKill(launch: Launcher): Promise<SelfTestFailure | undefined> {
  const tree = launch({
    program: '/usr/bin/sh',
    args: ['-c', 'echo ready; exec sleep 300'],
    readOnly: [],
    writable: [],
    env: {},
    cwd: '/tmp',
    limits: probeLimits,
  });
  const ready = new Promise((resolve) => tree.child.stdout?.once('data', resolve));
  await withDeadline(Promise.race([ready, tree.exited]), probeTimeoutMs, tree.kill);
  tree.child.kill('SIGKILL');
  const end = await withDeadline(tree.exited, killTimeoutMs, tree.kill);
  return broken(end === undefined ? 'Processes outlive the sandbox they were started in.' : undefined);
}

async function withDeadline<T>(work: Promise<T>, timeoutMs: number, onTimeout: () => void): Promise<T | undefined> {
  const deadline = new AbortController();
  const late = delay(timeoutMs, 'late' as const, { signal: deadline.signal }).catch(() => undefined);
  const first = await Promise.race([work.then((value) => ({ value })), late]);
  deadline.abort();
  if (typeof first === 'object') return first.value;
  onTimeout();
  return undefined;
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
