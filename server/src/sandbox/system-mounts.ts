import { constants, existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';

/** A host path and where it appears inside. */
export interface Mount {
  from: string;
  to: string;
}

/** What of the host every sandbox sees, read-only. */
export interface SystemMounts {
  directories: readonly Mount[];
  /** Symbolic links made inside: `/lib` → `usr/lib` on a system with a merged /usr. */
  links: readonly { target: string; path: string }[];
}

/** Directories at the root that programs and their loader need; links into /usr on current distributions. */
const programDirectories = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/**
 * Settings without which engines do not start or find no fonts. Nothing here names a person, a host or a secret:
 * /etc/passwd, /etc/hosts, /etc/ssl and the like stay out.
 */
const settings = [
  '/etc/fonts',
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/libreoffice',
  '/var/lib/ghostscript',
  '/var/cache/fontconfig',
];

/** Where Debian keeps what its Java reads before it starts. */
const javaSettings = /^java-\d+-openjdk$/;

/** The parts of this host that exist, as they are laid out here. */
export function systemMounts(): SystemMounts {
  const present = programDirectories.filter((path) => existsSync(path));
  const links = present.filter((path) => lstatSync(path).isSymbolicLink());
  const directories = present.filter((path) => !links.includes(path));
  const java = readdirSync('/etc').filter((name) => javaSettings.test(name));
  const found = [...settings, ...java.map((name) => `/etc/${name}`)].filter((path) => existsSync(path));
  return {
    directories: ['/usr', ...directories, ...found].map(samePath),
    links: links.map((path) => ({ target: readlinkSync(path), path })),
  };
}

function samePath(path: string): Mount {
  return { from: path, to: path };
}

/**
 * What of /proc is about the kernel and could be written. It obeys the host's user 0 by file mode alone, without any
 * capability: as root, a write to /proc/sys/kernel/core_pattern would run a program on the host. Bubblewrap 0.8 to 0.11
 * leaves /proc/sys open, for its directory, which it looks at, cannot be written. Empty for an ordinary user.
 */
export function kernelFiles(): string[] {
  if (process.getuid?.() !== 0) return [];
  return readdirSync('/proc')
    .filter((name) => !/^\d+$/.test(name))
    .map((name) => `/proc/${name}`)
    .filter(mayHoldSettings);
}

function mayHoldSettings(path: string): boolean {
  const { mode } = lstatSync(path);
  const type = mode & constants.S_IFMT;
  return type === constants.S_IFDIR || (type === constants.S_IFREG && (mode & constants.S_IWUSR) !== 0);
}
