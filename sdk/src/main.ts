#!/usr/bin/env node
/** The command line without the service, for machines that only use one elsewhere. */
import { defineCommand, runMain } from 'citty';
import { clientCommands } from './commands/index.ts';

const neededNode = 24;

if (Number(process.versions.node.split('.')[0]) < neededNode) {
  console.error(`Millrun needs Node ${neededNode} or newer; this is ${process.version}.`);
  process.exit(2);
}
await runMain(
  defineCommand({ meta: { name: 'millrun', description: 'Client of a Millrun server.' }, subCommands: clientCommands }),
);
