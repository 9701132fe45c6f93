import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The version of an installed npm package, undefined when it is missing; the package itself is not loaded. */
export async function packageVersion(name: string): Promise<string | undefined> {
  try {
    const entry = fileURLToPath(import.meta.resolve(name));
    const folder = `/node_modules/${name}/`;
    const root = entry.slice(0, entry.lastIndexOf(folder) + folder.length);
    const manifest = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as { version?: string };
    return manifest.version;
  } catch {
    return undefined;
  }
}
