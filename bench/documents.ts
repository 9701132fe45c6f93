/**
 * A one-page docx to PDF through the API, LibreOffice warm, against a cold `soffice --convert-to` each time. Mark: at least
 * 5 times as quick. Then eight at once: all must be right.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { paragraph, writeDocx } from '../server/test/office-fixtures.ts';
import { startServer } from '../server/test/server.ts';
import { makeForm, processOnce } from './client.ts';
import { closedLoop, median } from './measure.ts';

const rounds = 8;

const directory = await mkdtemp(join(tmpdir(), 'millrun-bench-'));
const source = join(directory, 'page.docx');
await writeDocx(source, { body: paragraph('One page of a document about mills and the rivers that drive them.') });
const content = await readFile(source);

async function cold(): Promise<void> {
  const profile = `-env:UserInstallation=file://${directory}/profile`;
  await promisify(execFile)('soffice', [profile, '--headless', '--convert-to', 'pdf', '--outdir', directory, source]);
}

await using server = await startServer({ env: { MILLRUN_LOG_LEVEL: 'warn' } });
const token = await server.token();
const form = makeForm([{ filename: 'page.docx', content }]);
const warm = () => processOnce(server.base, token, 'word-to-pdf-converter', form);

await cold();
await warm();
const ratios: number[] = [];
const warmMs: number[] = [];
for (let round = 0; round < rounds; round++) {
  const { p50Ms: coldMs } = await closedLoop(1, 1, cold);
  const { p50Ms } = await closedLoop(1, 3, warm);
  ratios.push(coldMs / p50Ms);
  warmMs.push(p50Ms);
}
console.log(
  `docx: warm ${median(ratios).toFixed(1)} times as quick as cold soffice; warm p50 ${median(warmMs).toFixed(0)} ms`,
);

const eight = await Promise.all(Array.from({ length: 8 }, warm));
const right = eight.filter(([pdf]) => pdf?.subarray(0, 5).toString() === '%PDF-');
console.log(`eight docx at once: ${right.length} of 8 right`);
await rm(directory, { recursive: true, force: true });
