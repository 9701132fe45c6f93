import { access, readFile, stat } from 'node:fs/promises';

const statusFile = '/var/lib/dpkg/status';

let status: { mtimeMs: number; versions: Map<string, string> } | undefined;

/**
 * The version of a Debian package whose program is there, without starting it: some take a second to say theirs. Undefined
 * when the program is missing, or did not come from a package.
 */
export async function debianVersion(name: string, program: string): Promise<string | undefined> {
  try {
    await access(program);
    const { mtimeMs } = await stat(statusFile);
    if (status?.mtimeMs !== mtimeMs) status = { mtimeMs, versions: installed(await readFile(statusFile, 'utf8')) };
    return status.versions.get(name);
  } catch {
    return undefined;
  }
}

/** Upstream versions by package: `7:5.1.9-0+deb12u1` is 5.1.9. */
function installed(text: string): Map<string, string> {
  const versions = new Map<string, string>();
  for (const paragraph of text.split('\n\n')) {
    if (!/^Status: .* installed$/m.test(paragraph)) continue;
    const name = /^Package: (.+)$/m.exec(paragraph)?.[1];
    const version = /^Version: (?:\d+:)?([^\s-]+)/m.exec(paragraph)?.[1];
    if (name !== undefined && version !== undefined) versions.set(name, version.replace(/\+.*$/, ''));
  }
  return versions;
}
