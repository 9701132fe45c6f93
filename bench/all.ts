/** Every benchmark, one after the other: `npm run bench`. Each prints ratios measured within its own run. */
import { spawnSync } from 'node:child_process';

for (const name of ['images', 'documents', 'queue', 'upload', 'memory']) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, [`bench/${name}.ts`], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
