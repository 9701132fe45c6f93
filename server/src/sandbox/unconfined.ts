import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLimits } from './limits.ts';
import { boundToParent, launchTree } from './process-tree.ts';
import type { Launcher } from './launcher.ts';

/** No sandbox: a process group with limits and a temporary directory of its own. Mounts are not made. */
export function unconfinedLauncher(): Launcher {
  return (spec) => {
    const temporary = mkdtempSync(join(tmpdir(), 'millrun-host-'));
    const tree = launchTree({
      command: boundToParent(withLimits(spec.limits, false, [spec.program, ...spec.args])),
      env: { ...spec.env, HOME: temporary, TMPDIR: temporary },
      cwd: spec.cwd,
      announces: false,
    });
    void tree.exited.then(() => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }));
    return tree;
  };
}
