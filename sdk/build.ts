/**
 * Makes the package that is installed elsewhere, in a directory that is not there yet: `npm run build -w sdk <directory>`,
 * then `npm pack <directory>`. Node runs no TypeScript below node_modules, so it is JavaScript with declarations.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('Say where: npm run build -w sdk <directory>');
  process.exit(1);
}
// npm runs this in sdk/; the person is somewhere else.
const directory = resolve(process.env['INIT_CWD'] ?? '.', target);
mkdirSync(directory);

const compiler = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');
const project = join(import.meta.dirname, 'tsconfig.build.json');
const args = [compiler, '--project', project, '--outDir', join(directory, 'lib')];
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
if (status !== 0) process.exit(1);

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  type: string;
  dependencies: Record<string, string>;
  engines: Record<string, string>;
}
const { name, version, description, license, type, dependencies, engines } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'),
) as Manifest;
const manifest = {
  ...{ name, version, description, license, type },
  exports: { '.': './lib/index.js' },
  bin: { millrun: './lib/main.js' },
  dependencies,
  engines,
};
writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
for (const [from, to] of [
  ['../LICENSE', 'LICENSE'],
  ['../docs/sdk.md', 'README.md'],
] as const)
  copyFileSync(join(import.meta.dirname, from), join(directory, to));
