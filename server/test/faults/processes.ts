import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '../scenario.ts';

/** One process for ever: numbers are used again, but not with the same start. */
export interface RunningProcess {
  pid: number;
  parent: number;
  startTime: string;
  command: string;
}

/** Fields 3, 4 and 22 of proc_pid_stat(5); the name in field 2 may hold anything, so they are counted from its end. */
function read(pid: number): (RunningProcess & { state: string }) | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(fields[1]), startTime: fields[19] ?? '', state: fields[0] ?? '', command };
  } catch {
    return undefined; // It has ended.
  }
}

function all(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => read(Number(name)))
    .filter((found) => found !== undefined);
}

/** Everything a process has started, and what that has started. */
export function descendants(pid: number | undefined): RunningProcess[] {
  const everything = all();
  const below = (parent: number): RunningProcess[] =>
    everything.filter((found) => found.parent === parent).flatMap((child) => [child, ...below(child.pid)]);
  return pid === undefined ? [] : below(pid);
}

/** The Node processes of the tool hosts below a process, without the sandbox around them. */
export function toolHosts(pid: number | undefined): RunningProcess[] {
  return descendants(pid).filter(({ command }) => /^\S*node .*host-main\.ts$/.test(command));
}

export function postmaster(pid: number | undefined): RunningProcess {
  const found = descendants(pid).find(({ command }) => / -D \S+\/postgres /.test(command));
  if (found === undefined) throw new Error('the process has no PostgreSQL of its own');
  return found;
}

export function isRunning(known: RunningProcess): boolean {
  const found = read(known.pid);
  return found !== undefined && found.startTime === known.startTime && found.state !== 'Z' && found.state !== 'X';
}

/** Waits until none of them runs any more; tells which ones do otherwise. */
export async function untilGone(processes: readonly RunningProcess[], timeoutMs = 5000): Promise<void> {
  const left = () => processes.filter(isRunning);
  await eventually('every process is gone', () => left().length === 0, timeoutMs).catch((error: unknown) => {
    throw new Error(
      left()
        .map(({ pid, command }) => `${pid} still runs: ${command}`)
        .join('\n'),
      { cause: error },
    );
  });
}

export function kill(processes: readonly RunningProcess[], signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const { pid } of processes.filter(isRunning)) process.kill(pid, signal);
}
