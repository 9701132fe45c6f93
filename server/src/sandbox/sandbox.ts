import { realpathSync } from 'node:fs';
import { isAbsolute, normalize, relative } from 'node:path';
import { toError } from '../lib/errors.ts';
import { explainSetUpFailure } from './advice.ts';
import { bubblewrapLauncher } from './bubblewrap.ts';
import type { ConfinedLevel, Launcher, SandboxSpec } from './launcher.ts';
import type { SandboxedProcess } from './process-tree.ts';
import { selfTest } from './self-test.ts';
import type { Mount } from './system-mounts.ts';
import { unconfinedLauncher } from './unconfined.ts';
import { unshareLauncher } from './unshare.ts';

export type SandboxLevel = ConfinedLevel | 'none';
export type SandboxPolicy = 'require' | 'auto' | 'off';

export interface Sandbox {
  level: SandboxLevel;
  /** One sentence for doctor and readiness: what holds, or what to install or allow. */
  detail: string;
  /** Where a program inside finds a mount: its `to`, or its `from` when there is no sandbox to make mounts in. */
  pathInside(mount: Mount): string;
  /** To be called on the main thread. @throws Error for a specification that would undo the sandbox. */
  launch(spec: SandboxSpec): SandboxedProcess;
}

/** How one level fares on this machine. */
export interface LevelReport {
  level: ConfinedLevel;
  works: boolean;
  /** What holds, or why it does not work and the exact line that may help. */
  detail: string;
}

interface SandboxOptions {
  policy: SandboxPolicy;
  /** A directory that must be invisible inside, such as the data directory. */
  hiddenDirectory: string;
  /** Which levels to try, best first. */
  levels?: readonly ConfinedLevel[];
}

const launchers: Record<ConfinedLevel, () => Launcher> = { bubblewrap: bubblewrapLauncher, unshare: unshareLauncher };
const allLevels: readonly ConfinedLevel[] = ['bubblewrap', 'unshare'];

const strengths: Record<ConfinedLevel, string> = {
  bubblewrap: 'bubblewrap: no network, no host files, own processes, no privileges, system calls filtered.',
  unshare: 'unshare: no network, no host files, own processes, no privileges; system calls are not filtered.',
};

/**
 * The best sandbox that passes its self-test here.
 * @throws Error with policy `require` when none does; its message names what to install or allow.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (options.policy === 'off') return withoutSandbox('No sandbox: switched off. Process only files you trust.');
  const failed: LevelReport[] = [];
  for (const level of options.levels ?? allLevels) {
    const tried = await tryLevel(level, options.hiddenDirectory);
    if (tried.launcher !== undefined) return confinedSandbox(level, tried.launcher, tried.report.detail);
    failed.push(tried.report);
  }
  const reasons = failed.map((report) => report.detail).join(' ');
  if (options.policy === 'require') throw new Error(`No sandbox works here. ${reasons}`);
  return withoutSandbox(`No sandbox: process only files you trust. ${reasons}`);
}

/** Every level with its self-test's outcome, for `doctor`. */
export async function examineLevels(hiddenDirectory: string): Promise<LevelReport[]> {
  const tried = await Promise.all(allLevels.map((level) => tryLevel(level, hiddenDirectory)));
  return tried.map(({ report }) => report);
}

async function tryLevel(
  level: ConfinedLevel,
  hiddenDirectory: string,
): Promise<{ report: LevelReport; launcher?: Launcher }> {
  const fails = (reason: string) => ({ report: { level, works: false, detail: `${level}: ${reason}` } });
  try {
    const launcher = checked(launchers[level](), hiddenDirectory);
    const failure = await selfTest(launcher, level, hiddenDirectory);
    if (failure === undefined) return { report: { level, works: true, detail: strengths[level] }, launcher };
    return fails(failure.inSetUp ? explainSetUpFailure(level, failure.reason) : failure.reason);
  } catch (thrown) {
    return fails(explainSetUpFailure(level, toError(thrown).message));
  }
}

function confinedSandbox(level: ConfinedLevel, launch: Launcher, detail: string): Sandbox {
  return { level, detail, pathInside: (mount) => mount.to, launch };
}

function withoutSandbox(detail: string): Sandbox {
  const launch = unconfinedLauncher();
  return { level: 'none', detail, pathInside: (mount) => mount.from, launch: (spec) => launch(withEnvironment(spec)) };
}

function checked(launch: Launcher, hiddenDirectory: string): Launcher {
  return (spec) => launch(withEnvironment(withCheckedMounts(spec, hiddenDirectory)));
}

function withEnvironment(spec: SandboxSpec): SandboxSpec {
  const base = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8' };
  return { ...spec, env: { ...base, ...spec.env } };
}

function withCheckedMounts(spec: SandboxSpec, hiddenDirectory: string): SandboxSpec {
  const hidden = realPath(hiddenDirectory);
  const check = (mount: Mount) => checkedMount(mount, hidden);
  return { ...spec, readOnly: spec.readOnly.map(check), writable: spec.writable.map(check) };
}

function checkedMount({ from, to }: Mount, hidden: string): Mount {
  const source = realPath(from);
  if (!isAbsolute(from) || isWithin(hidden, source)) throw new Error(`${from} must not be visible in a sandbox.`);
  if (!isAbsolute(to) || normalize(to) !== to || /^\/($|(proc|dev|sys)(\/|$)|(usr|tmp|etc)$)/.test(to))
    throw new Error(`${to} is no place for a mount in a sandbox.`);
  return { from: source, to };
}

function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith('../');
}

/** Without links; a path that does not exist stays as it is, for the launch to fail on. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
