import type { SandboxLimits } from './limits.ts';
import type { SandboxedProcess } from './process-tree.ts';
import type { Mount } from './system-mounts.ts';

export type ConfinedLevel = 'bubblewrap' | 'unshare';

export interface SandboxSpec {
  /** Path inside. */
  program: string;
  args: readonly string[];
  /** Files and directories that are visible besides /usr and a few of /etc; `from` exists. Made in order, read-only first. */
  readOnly: readonly Mount[];
  writable: readonly Mount[];
  /** Added to PATH, HOME, TMPDIR and LANG; nothing of the service's own environment is passed on. */
  env: Record<string, string>;
  /** Path inside. */
  cwd: string;
  limits: SandboxLimits;
}

/** Starts a checked specification. */
export type Launcher = (spec: SandboxSpec) => SandboxedProcess;
