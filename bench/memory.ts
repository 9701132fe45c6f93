/**
 * Memory of the service (its own process and its tool hosts) between the 500th and the 5,000th run. Mark: within 10 %.
 * Then fifty uploads of a 12 MP photo at once: all done, and the peak.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { startServer } from '../server/test/server.ts';
import { makeForm, processOnce } from './client.ts';
import { makePhoto, makeScreenshot } from './inputs.ts';
import { closedLoop } from './measure.ts';

await using server = await startServer({ env: { MILLRUN_LOG_LEVEL: 'warn' } });
const token = await server.token();
const root = server.process.pid ?? 0;

/** Proportional set size of one process, in kB: shared pages counted once over all who share them. */
function pssOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      found.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended.
    }
  }
  return found;
}

function treeMb(): { server: number; tree: number } {
  const parentOf = parents();
  const isOurs = (pid: number): boolean =>
    pid === root || (parentOf.has(pid) && pid > 1 && isOurs(parentOf.get(pid) ?? 0));
  const ours = [...parentOf.keys()].filter(isOurs);
  return { server: pssOf(root) / 1024, tree: ours.reduce((sum, pid) => sum + pssOf(pid), 0) / 1024 };
}

const form = makeForm([{ filename: 'screenshot.png', content: await makeScreenshot() }], { quality: '80' });
const once = () => processOnce(server.base, token, 'image-compressor', form);
await closedLoop(8, 500, once);
const early = treeMb();
await closedLoop(8, 4500, once);
const late = treeMb();
console.log(
  `after 500 runs ${early.server.toFixed(0)} MB server, ${early.tree.toFixed(0)} MB with hosts and database; ` +
    `after 5,000 runs ${late.server.toFixed(0)} MB, ${late.tree.toFixed(0)} MB; ratio ${(late.server / early.server).toFixed(2)}, ${(late.tree / early.tree).toFixed(2)}`,
);

const photo = makeForm([{ filename: 'photo.jpg', content: await makePhoto() }]);
let peak = 0;
const watch = setInterval(() => (peak = Math.max(peak, pssOf(root) / 1024)), 50);
const { jobsPerSecond } = await closedLoop(50, 50, () => processOnce(server.base, token, 'image-compressor', photo));
clearInterval(watch);
console.log(`fifty 12 MP uploads at once: all done, ${jobsPerSecond.toFixed(1)}/s, server peak ${peak.toFixed(0)} MB`);
