/**
 * Builds the account page into `web/dist`: Vite's build, each text file also compressed, and a fingerprint of the sources.
 * Several processes may do it at once (tests start servers side by side): each builds aside and puts its result in place.
 */
import { link, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { dist, fingerprint, fingerprintFile, pageIsBuilt } from './built.mjs';

const root = fileURLToPath(new URL('./', import.meta.url));
/** Smaller files gain nothing. */
const leastCompressed = 1000;
/** How long an asset stays after the build that made it, in milliseconds. */
const keptMs = 7 * 86_400_000;
const startedAt = Date.now();

async function compressAll(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(m?js|css|svg|json)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    if (content.length < leastCompressed) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }));
    await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
  }
}

/** A server that is running goes on with the assets it has told browsers of; their names are hashes, so none is mixed up. */
async function keepFormerAssets(directory: string): Promise<void> {
  const former = join(dist, 'assets');
  for (const name of await readdir(former).catch(() => [])) {
    const { mtimeMs } = await stat(join(former, name));
    if (startedAt - mtimeMs > keptMs) continue;
    await link(join(former, name), join(directory, 'assets', name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
    });
  }
}

/** Somebody else's build of the same sources is as good as ours. */
async function putInPlace(made: string): Promise<void> {
  const former = `${made}-former`;
  await rename(dist, former).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  try {
    await rename(made, dist);
  } catch (error) {
    if (!pageIsBuilt()) throw error;
    await rm(made, { recursive: true, force: true });
  }
  await rm(former, { recursive: true, force: true });
}

const sources = fingerprint();
const made = await mkdtemp(join(root, '.dist-'));
await build({ root, logLevel: 'warn', build: { outDir: made, emptyOutDir: false } });
await compressAll(made);
await writeFile(join(made, fingerprintFile), sources);
await keepFormerAssets(made);
await putInPlace(made);
