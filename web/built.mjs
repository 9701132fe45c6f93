// Whether `web/dist` is the build of these sources. Plain JavaScript: the launcher asks at every start.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('./', import.meta.url));

export const dist = join(root, 'dist');
export const fingerprintFile = '.sources';

const sources = ['src/**', 'public/**', '*.html', '*.ts', 'package.json', '../sdk/src/events.ts'];

/** SHA-256 over the names and contents of everything the build reads. */
export function fingerprint() {
  const hash = createHash('sha256');
  const files = globSync(sources, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const file of files) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

export function pageIsBuilt() {
  try {
    return readFileSync(join(dist, fingerprintFile), 'utf8') === fingerprint();
  } catch {
    return false;
  }
}
