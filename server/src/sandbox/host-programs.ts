import { accessSync, constants } from 'node:fs';

const directories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/**
 * The absolute path of a system program, or undefined when it is not installed. Never looked up on `PATH`: what builds
 * the sandbox must not be replaceable by a directory somebody put in front.
 */
export function findProgram(name: string): string | undefined {
  return directories.map((directory) => `${directory}/${name}`).find(isExecutable);
}

/** The absolute paths of all the named programs. @throws Error naming the first one that is missing. */
export function requirePrograms<Name extends string>(...names: readonly Name[]): Record<Name, string> {
  const found = names.map((name) => {
    const path = findProgram(name);
    if (path === undefined) throw new Error(`The program ${name} is not installed.`);
    return [name, path];
  });
  return Object.fromEntries(found) as Record<Name, string>;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
