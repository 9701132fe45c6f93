import { existsSync, readFileSync } from 'node:fs';
import type { ConfinedLevel } from './launcher.ts';

interface Obstacle {
  isPresent(): boolean;
  /** What stands in the way and the exact line that removes it. */
  advice: string;
}

/** What is known to keep a process from making namespaces, the most specific first. */
const obstacles: readonly Obstacle[] = [
  {
    isPresent: () => setting('/proc/sys/kernel/unprivileged_userns_clone') === '0' && !isRoot(),
    advice: 'User namespaces are switched off; allow them: sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    isPresent: () => setting('/proc/sys/user/max_user_namespaces') === '0',
    advice: 'User namespaces are limited to none; allow them: sysctl -w user.max_user_namespaces=15000',
  },
  {
    isPresent: () => ['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path)),
    advice:
      'A container usually forbids namespaces; start it with: --security-opt seccomp=unconfined ' +
      '--security-opt apparmor=unconfined --security-opt systempaths=unconfined',
  },
  {
    isPresent: () => setting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1',
    advice:
      'AppArmor forbids user namespaces; allow them for bubblewrap: apt-get install apparmor-profiles && ' +
      'ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && ' +
      'apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict',
  },
];

const packages: Record<ConfinedLevel, string> = { bubblewrap: 'bubblewrap', unshare: 'util-linux' };

/** A sentence or two for the operator: why a level cannot be set up, and what to do about it where that is known. */
export function explainSetUpFailure(level: ConfinedLevel, reason: string): string {
  if (reason.endsWith('is not installed.')) return `${reason} Install it: apt-get install ${packages[level]}`;
  if (/unknown option|unrecognized option/i.test(reason))
    return `${reason} It is too old: ${level === 'bubblewrap' ? 'bubblewrap 0.8' : 'util-linux 2.36'} or newer is needed.`;
  const obstacle = obstacles.find(({ isPresent }) => isPresent());
  return obstacle === undefined ? reason : `${reason} ${obstacle.advice}`;
}

function setting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
