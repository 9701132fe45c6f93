/**
 * The walls of the house: which room of `server/src` may import which, and what only one place may touch. Prints every
 * crossing and exits 1. The rooms are described in CONTRIBUTING.md.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const source = 'server/src';

/** A room and the rooms it may use, besides itself. `main`, `compose`, `config` and `commands` wire everything. */
const mayUse: Record<string, readonly string[]> = {
  lib: [],
  db: ['lib'],
  files: ['lib'],
  engines: ['sandbox', 'lib'],
  sandbox: ['lib'],
  tools: ['engines', 'sandbox', 'lib'],
  accounts: ['db', 'lib'],
  webhooks: ['accounts', 'db', 'lib'],
  runs: ['accounts', 'webhooks', 'files', 'db', 'lib'],
  worker: ['runs', 'tools', 'engines', 'sandbox', 'files', 'db', 'lib'],
  http: ['runs', 'accounts', 'webhooks', 'files', 'tools', 'lib'],
};
const wiring = new Set(['main', 'compose', 'config', 'commands']);

/** Types cost nothing and carry no behaviour: the shape of a stored row may be named where the row is shown. */
const typesOnly: Record<string, readonly string[]> = { http: ['db'] };

/** What only some files may touch, and why. */
const reserved: readonly { what: RegExp; where: RegExp; why: string }[] = [
  { what: /\bprocess\.env\b/, where: /^config\.ts$/, why: 'the environment is read in config.ts alone' },
  {
    what: /from 'node:child_process'/,
    // The embedded database is our own program, started before there is a sandbox.
    where: /^(sandbox\/.*|db\/embedded\.ts)$/,
    why: 'child processes are started in sandbox/ alone',
  },
  { what: /\bDate\.now\(|\bnew Date\(\)/, where: /^lib\/clock\.ts$/, why: 'the time comes from lib/clock.ts' },
];

interface Crossing {
  file: string;
  line: number;
  problem: string;
}

function roomOf(path: string): string {
  const [first = ''] = path.split('/');
  return first.replace(/\.ts$/, '');
}

function checkImport(file: string, text: string, isType: boolean, target: string): string | undefined {
  const from = roomOf(file);
  const to = roomOf(normalize(join(dirname(file), target)));
  if (from === to || wiring.has(from)) return undefined;
  if (isType && (typesOnly[from] ?? []).includes(to)) return undefined;
  if ((mayUse[from] ?? []).includes(to)) return undefined;
  return `${from} must not import ${to}: ${text.trim()}`;
}

function checkFile(file: string): Crossing[] {
  const lines = readFileSync(join(source, file), 'utf8').split('\n');
  const crossings: Crossing[] = [];
  let statement = '';
  for (const [index, text] of lines.entries()) {
    const found = (problem: string | undefined) => {
      if (problem !== undefined) crossings.push({ file, line: index + 1, problem });
    };
    if (/^(import|export)\b/.test(text)) statement = text;
    const imported = /(?:from|import\()\s*'(\.[^']+)'/.exec(text);
    if (imported?.[1] !== undefined)
      found(checkImport(file, text, /^(import|export) type\b/.test(statement), imported[1]));
    if (/^\s*(\*|\/\/|\/\*)/.test(text)) continue;
    for (const { what, where, why } of reserved) if (what.test(text) && !where.test(file)) found(why);
  }
  return crossings;
}

const files = globSync('**/*.ts', { cwd: source }).filter((file) => !/\.(test|contract)\.ts$/.test(file));
const crossings = files.flatMap(checkFile);
for (const { file, line, problem } of crossings) console.error(`${source}/${file}:${line}  ${problem}`);
const unknown = [...new Set(files.map(roomOf))].filter((room) => mayUse[room] === undefined && !wiring.has(room));
for (const room of unknown) console.error(`${source}/${room} is a room nobody has described in scripts/rooms.ts`);
console.log(`${files.length} files, ${crossings.length} crossings`);
process.exit(crossings.length + unknown.length === 0 ? 0 : 1);
