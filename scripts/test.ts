/**
 * `npm test`: everything CI runs. Installs the engines the tests need where it may; where it may not (no root), the tests
 * of missing engines are skipped by name and counted, never silently.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

function step(name: string, program: string, args: string[]): boolean {
  console.log(`\n== ${name}`);
  const startedAt = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  console.log(
    `== ${name}: ${status === 0 ? 'ok' : 'FAILED'} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  );
  return status === 0;
}

/** More failed files than this are a broken change, not an unsteady test. */
const mostUnsteadyFiles = 3;

/**
 * Runs the tests. Files with a failed test run once more, alone: most tests wait for real processes, and on a machine that
 * stands still for seconds one may miss its time. What passes then is named as unsteady, a fault of its own to be mended.
 */
function runTests(filters: string[]): boolean {
  const scratch = mkdtempSync(join(tmpdir(), 'millrun-tests-'));
  try {
    const report = join(scratch, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    if (step('tests', 'vitest', ['run', ...reporters, ...filters])) return true;
    const failed = failedFiles(report);
    if (failed.length === 0 || failed.length > mostUnsteadyFiles) return false;
    if (!step('failed tests, once more', 'vitest', ['run', '--no-file-parallelism', ...failed])) return false;
    for (const file of failed) console.log(`== UNSTEADY: ${file} failed once and passed alone`);
    return true;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The test files with a failure, below the project; none when the report is missing, as after a crash of the runner. */
function failedFiles(report: string): string[] {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { name: string; status: string }[];
    };
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
  } catch {
    return [];
  }
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
const tests = checksOnly || runTests(process.argv.slice(2));
process.exit(tests && checks.every(Boolean) ? 0 : 1);
