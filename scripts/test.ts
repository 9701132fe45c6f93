/**
 * `npm test`: everything CI runs. Installs the engines the tests need where it may; where it may not (no root), the tests
 * of missing engines are skipped by name and counted, never silently.
 */
import { spawnSync } from 'node:child_process';

function step(name: string, program: string, args: string[]): boolean {
  console.log(`\n== ${name}`);
  const startedAt = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  console.log(
    `== ${name}: ${status === 0 ? 'ok' : 'FAILED'} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  );
  return status === 0;
}

const node = process.execPath;
const checksOnly = process.argv.includes('--checks');

const engines = checksOnly || step('engines', node, ['scripts/engines.ts', '--for-tests']);
if (!engines)
  console.log('Some engines are missing and cannot be installed here; their tests are skipped by name below.');

const checks = [
  step('format', 'oxfmt', ['--check', 'server', 'sdk', 'web', 'scripts', 'bench']),
  step('lint', 'oxlint', ['--type-aware', '--quiet']),
  step('types', 'tsc', ['--noEmit', '-p', '.']),
  step('types of the page', 'tsc', ['--noEmit', '-p', 'web']),
  step('rooms', node, ['scripts/rooms.ts']),
  step('generated documents', node, ['scripts/docs.ts', '--check']),
  step('unused code', 'knip', []),
];
// Once, rather than by each of the servers that tests start.
if (!checksOnly) checks.push(step('account page', node, ['web/build.ts']));
const tests = checksOnly || step('tests', 'vitest', ['run', ...process.argv.slice(2)]);
process.exit(tests && checks.every(Boolean) ? 0 : 1);
