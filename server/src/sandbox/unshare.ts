import { existsSync, readFileSync } from 'node:fs';
import { requirePrograms } from './host-programs.ts';
import { withLimits } from './limits.ts';
import { announce, boundToParent, launchTree } from './process-tree.ts';
import type { Launcher } from './launcher.ts';
import { kernelFiles, systemMounts } from './system-mounts.ts';

/** Process 1 inside runs the program and reaps what the program leaves behind. */
const init = `${announce}; "$@"; exit $?`;

const noPrivileges = ['--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'];

/** Looked up at each launch: an engine that was just installed brings directories of its own. */
function systemSteps(): string[] {
  const { directories, links } = systemMounts();
  return [
    ...directories.flatMap(({ from, to }) => ['bind', 'ro', from, to]),
    ...links.flatMap(({ target, path }) => ['link', target, path]),
  ];
}

/**
 * The boundary of bubblewrap, but for the system call filter, made with util-linux 2.36 or newer and a small script
 * (`unshare-root.sh`) that builds the root file system.
 * @throws Error when a program is missing.
 */
export function unshareLauncher(): Launcher {
  const tools = requirePrograms('unshare', 'setpriv', 'sh', 'prlimit', 'mount', 'umount', 'pivot_root', 'mkdir', 'cat');
  const script = readFileSync(new URL('./unshare-root.sh', import.meta.url), 'utf8');
  const cgroup = existsSync('/proc/self/ns/cgroup') ? ['--cgroup'] : [];
  const namespaces = ['--user', '--mount', '--pid', '--net', '--ipc', '--uts', ...cgroup];
  const coverSteps = kernelFiles().flatMap((path) => ['cover', path]);
  return (spec) => {
    const steps = [
      ...systemSteps(),
      ...['enter', String(spec.limits.temporaryBytes)],
      ...coverSteps,
      ...spec.readOnly.flatMap(({ from, to }) => ['bind', 'ro', from, to]),
      ...spec.writable.flatMap(({ from, to }) => ['bind', 'rw', from, to]),
      ...['close', spec.cwd],
    ];
    const program = withLimits(spec.limits, true, [spec.program, ...spec.args]);
    const nobody = [tools.unshare, '--user', '--map-user=65534', '--map-group=65534', '--keep-caps', '--'];
    const inside = [...nobody, tools.setpriv, ...noPrivileges, '--', tools.sh, '-c', init, 'sh', ...program];
    return launchTree({
      command: boundToParent([
        tools.unshare,
        ...[...namespaces, '--map-root-user', '--fork', '--kill-child=KILL', '--'],
        ...[tools.sh, '-c', script, 'sh', ...steps, 'run', ...inside],
      ]),
      env: spec.env,
      cwd: '/',
      announces: true,
    });
  };
}
