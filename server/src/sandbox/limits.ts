import { release } from 'node:os';
import { findProgram } from './host-programs.ts';

/** Set on every process of the tree; `processes` and `temporaryBytes` on the tree as a whole. */
export interface SandboxLimits {
  /**
   * RLIMIT_DATA of each process, in bytes. Not RLIMIT_AS: V8 and WebAssembly reserve far more than they use. Node 24 on
   * x64 needs 600 MiB of it before it does anything, for the range it reserves for compiled code.
   */
  memoryBytes: number;
  /** RLIMIT_FSIZE: the largest file a process can write, in bytes. */
  fileBytes: number;
  /** RLIMIT_NOFILE. */
  openFiles: number;
  /** RLIMIT_NPROC, threads counted too. Holds only where the kernel counts per sandbox; see `countsPerSandbox`. */
  processes: number;
  /** Size of /tmp, and of /dev/shm again, in bytes of memory. */
  temporaryBytes: number;
}

/**
 * The program with its limits set, by util-linux `prlimit`; the bare program where that is missing.
 * `confined` says that this command runs inside a user namespace of its own.
 */
export function withLimits(
  limits: SandboxLimits,
  confined: boolean,
  command: readonly [string, ...string[]],
): [string, ...string[]] {
  const prlimit = findProgram('prlimit');
  if (prlimit === undefined) return [...command];
  const options = [
    `--data=${limits.memoryBytes}`,
    `--fsize=${limits.fileBytes}`,
    `--nofile=${limits.openFiles}`,
    '--core=0',
    ...(confined && countsPerSandbox() ? [`--nproc=${limits.processes}`] : []),
  ];
  return [prlimit, ...options, '--', ...command];
}

/**
 * Since Linux 5.14 RLIMIT_NPROC counts a user within a user namespace; before, all of the user's processes on the host,
 * where the limit of one sandbox would starve the others.
 */
function countsPerSandbox(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
