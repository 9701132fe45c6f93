import { arch } from 'node:process';
import { requirePrograms } from './host-programs.ts';
import { withLimits } from './limits.ts';
import { announce, dataDescriptor, launchTree } from './process-tree.ts';
import type { Launcher } from './launcher.ts';
import { seccompFilter } from './seccomp.ts';
import { kernelFiles, systemMounts } from './system-mounts.ts';

/** Looked up at each launch: an engine that was just installed brings directories of its own. */
function systemArguments(): string[] {
  const { directories, links } = systemMounts();
  return [
    ...directories.flatMap(({ from, to }) => ['--ro-bind-try', from, to]),
    ...links.flatMap(({ target, path }) => ['--symlink', target, path]),
  ];
}

/**
 * Namespaces, mounts and a system call filter by bubblewrap 0.8 or newer (`--disable-userns`).
 * @throws Error when a program is missing or the processor has no filter.
 */
export function bubblewrapLauncher(): Launcher {
  const { bwrap, sh } = requirePrograms('bwrap', 'sh', 'prlimit');
  const filter = seccompFilter(arch);
  const coverArguments = kernelFiles().flatMap((path) => ['--ro-bind-try', path, path]);
  return (spec) => {
    const size = String(spec.limits.temporaryBytes);
    const options = [
      ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
      ...['--unshare-cgroup-try', '--hostname', 'sandbox', '--uid', '65534', '--gid', '65534'],
      // Started by root, bubblewrap would leave all capabilities inside.
      ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
      ...systemArguments(),
      ...['--proc', '/proc', ...coverArguments, '--dev', '/dev'],
      ...['/dev/shm', '/tmp'].flatMap((path) => ['--perms', '1777', '--size', size, '--tmpfs', path]),
      ...spec.readOnly.flatMap(({ from, to }) => ['--ro-bind', from, to]),
      ...spec.writable.flatMap(({ from, to }) => ['--bind', from, to]),
      // Both are memory without a size limit otherwise.
      ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', spec.cwd],
      ...['--seccomp', String(dataDescriptor)],
    ];
    const program = withLimits(spec.limits, true, [spec.program, ...spec.args]);
    // Not bound to its parent from outside: killed in the moment after its fork it would leave a child that waits for
    // ever. It asks for the signal itself just before it lets that child go on, and `announce` covers the time before.
    return launchTree({
      command: [bwrap, ...options, '--', sh, '-c', `${announce}; exec "$@"`, 'sh', ...program],
      env: spec.env,
      cwd: '/',
      announces: true,
      data: filter,
    });
  };
}
