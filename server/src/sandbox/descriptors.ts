import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import type { StdioOptions } from 'node:child_process';

const closeOnExec = 0o2000000; // O_CLOEXEC on Linux.

/**
 * Calls `spawn` with `stdio` grown so that no other open file of this process reaches the child. Node opens its own files
 * close-on-exec, but not what whoever started the service left open, and programs inside could read and write that. Where
 * the child would inherit one it finds /dev/null.
 */
export function withoutInheritedFiles<T>(stdio: Exclude<StdioOptions, string>, spawn: (stdio: StdioOptions) => T): T {
  // Above 2 `ignore` means that Node leaves the file as it is.
  const open = inheritedDescriptors().filter(
    (descriptor) => descriptor > 2 && (stdio[descriptor] ?? 'ignore') === 'ignore',
  );
  if (open.length === 0) return spawn(stdio);
  const nothing = openSync('/dev/null', 'r');
  try {
    const last = Math.max(stdio.length - 1, ...open);
    return spawn(Array.from({ length: last + 1 }, (_, at) => (open.includes(at) ? nothing : (stdio[at] ?? 'ignore'))));
  } finally {
    closeSync(nothing);
  }
}

function inheritedDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number).filter(isInherited);
  } catch {
    return []; // No /proc: not Linux, no sandbox.
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false; // Closed since the directory was read, as the one that read it.
  }
}
