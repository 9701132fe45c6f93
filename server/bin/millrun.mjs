#!/usr/bin/env node
// Starts Millrun on a Node that can run it. An older one (a machine may have Node 20) hands over to the Node 24 that npm
// installed with the project; without that one it says plainly what is needed. Plain JavaScript: old Nodes read this.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const needed = 24;

if (Number(process.versions.node.split('.')[0]) >= needed) {
  await import('../src/main.ts');
} else {
  handOver(findNewerNode());
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
