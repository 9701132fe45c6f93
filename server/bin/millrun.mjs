#!/usr/bin/env node
// Starts Millrun on a Node that can run it. An older one (a machine may have Node 20) hands over to the Node 24 that npm
// installed with the project; without that one it says plainly what is needed. Plain JavaScript: old Nodes read this.
import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const needed = 24;
const roles = ['serve', 'api', 'worker'];
// Uploads leave garbage outside the heap, which a small young generation frees early and cheaply. With V8's own size it
// waits for full collections: twice the processor time on a photo, and 80 MB more memory. What it promotes too early is
// freed by a full collection each time the heap has grown by a fifth; V8 alone lets it grow by half (docs/benchmarks.md).
const flags = ['--max-semi-space-size=1', '--heap-growing-percent=20', '--disable-warning=ExperimentalWarning'];
const isTuned = process.execArgv.includes(flags[0]);

if (Number(process.versions.node.split('.')[0]) < needed) {
  handOver(findNewerNode());
} else if (roles.includes(process.argv[2]) && !isTuned && typeof process.execve === 'function') {
  // The same process, with the flags: nothing stands between it and whoever started it.
  const args = [process.execPath, ...process.execArgv, ...flags, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: '2' });
} else {
  if (['serve', 'api'].includes(process.argv[2])) await buildPage();
  await import('../src/main.ts');
}

/** The account page is built on the first start, and again when its sources have changed; elsewhere, so that no compiler stays in memory. */
async function buildPage() {
  const { pageIsBuilt } = await import('../../web/built.mjs');
  if (pageIsBuilt()) return;
  console.error('Building the account page, which takes a few seconds.');
  const build = fileURLToPath(new URL('../../web/build.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, [build], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  console.error('The account page could not be built. Run npm ci and npm run build in the checkout, as its owner.');
  process.exit(1);
}

function findNewerNode() {
  try {
    const require = createRequire(import.meta.url);
    return join(dirname(require.resolve(`node-linux-${process.arch}/package.json`)), 'bin/node');
  } catch {
    console.error(
      `Millrun needs Node ${needed} or newer; this is ${process.version}. Run npm ci in its checkout, or install Node ${needed}.`,
    );
    process.exit(1);
  }
}

function handOver(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1));
}
