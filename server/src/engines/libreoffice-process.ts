import { rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Failure } from '../lib/failure.ts';
import { startProgram, type StartedProgram } from '../sandbox/program.ts';
import { type OfficeModule, warmFilters } from './libreoffice-formats.ts';
import { findPipe, sendArguments } from './libreoffice-pipe.ts';
import { macroModule, writeProfile } from './libreoffice-profile.ts';

/*
 * LibreOffice takes a second to start and 30 ms for a page, so one instance stays and takes one document after another,
 * whatever its kind.
 *
 * It is driven without its Python bridge (python3-uno) and without the UNO protocol: a macro in our own profile does the
 * work, and is called through the pipe over which a second `soffice` hands its command line to the first. The reply comes
 * when the macro has ended. `-p` (print) stands before the macro's URL because a headless instance takes nothing else
 * from a second one than documents to print or convert; LibreOffice sees that the "document" is a macro and runs it.
 */

export const soffice = '/usr/bin/soffice';

export interface Office {
  program: StartedProgram;
  /** The profile, and where jobs and results are handed over. */
  directory: string;
  removeAtExit: () => void;
  pipe: string;
  /** How many it was given so far. */
  documents: number;
}

let office: Promise<Office> | undefined;

/** Starts LibreOffice ahead of the first document. @throws Failure `engine_failed` when it does not start. */
export async function warmLibreOffice(module: OfficeModule = 'writer'): Promise<void> {
  await runningOffice(module);
}

/** Ends the running instance; the next document starts another. */
export async function stopLibreOffice(): Promise<void> {
  const stopping = office;
  office = undefined;
  const running = await stopping?.catch(() => undefined);
  if (running !== undefined) await removeOffice(running);
}

/** The instance, started for documents of `module` when there is none that answers. */
export async function runningOffice(module: OfficeModule, signal?: AbortSignal): Promise<Office> {
  const current = await office?.catch(() => undefined);
  if (current !== undefined && (await answers(current, signal))) return current;
  signal?.throwIfAborted();
  await stopLibreOffice();
  office = startOffice(module);
  return office;
}

/** Asked before every document: an instance that died shows as running until its starter has noticed. */
async function answers(running: Office, signal?: AbortSignal): Promise<boolean> {
  if (!running.program.running()) return false;
  const closed = await callMacro(running, 'CloseDocument', {}, signal).catch(() => undefined);
  return closed?.status === 'done';
}

const startLimitMs = 60_000;

async function startOffice(module: OfficeModule): Promise<Office> {
  const directory = await mkdtemp(join(tmpdir(), 'millrun-office-'));
  const removeAtExit = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', removeAtExit);
  await writeProfile(directory);
  const profile = pathToFileURL(directory).href;
  const program = startProgram(
    soffice,
    ['--headless', '--norestore', '--nologo', '--nodefault', '--nolockcheck', `-env:UserInstallation=${profile}`],
    { env: { HOME: directory, TMPDIR: directory } },
  );
  const deadline = performance.now() + startLimitMs;
  while (program.running() && performance.now() < deadline) {
    // With a new profile LibreOffice starts, prepares it and starts again: a first connection may break.
    const pipe = await findPipe(directory);
    const started = { program, directory, removeAtExit, pipe: pipe ?? '', documents: 0 };
    const warming = pipe === undefined ? undefined : callMacro(started, 'Warm', warmFilters(module));
    const warm = await warming?.catch(() => undefined);
    if (warm?.status === 'done') return started;
    await sleep(10);
  }
  await removeOffice({ program, directory, removeAtExit, pipe: '', documents: 0 });
  throw new Failure('engine_failed', 'LibreOffice did not start.', { log: program.stderrTail() });
}

/** LibreOffice removes its own pipe only when it ends by itself. */
async function removeOffice({ program, directory, removeAtExit, pipe }: Office): Promise<void> {
  await program.stop();
  process.off('exit', removeAtExit);
  await rm(directory, { recursive: true, force: true });
  if (pipe !== '') await rm(pipe, { force: true });
}

export interface MacroResult {
  status: string;
  detail: string;
}

/** Runs one of the macros of `libreoffice.bas`. Values of a job are one line each. */
export async function callMacro(
  { directory, pipe }: Office,
  macro: 'Warm' | 'OpenDocument' | 'ArrangeSheets' | 'StoreDocument' | 'CloseDocument',
  job: Record<string, string>,
  signal?: AbortSignal,
): Promise<MacroResult> {
  const jobPath = join(directory, 'job');
  const resultPath = join(directory, 'result');
  const lines = Object.entries(job).map(([name, value]) => `${name}=${value}`);
  await rm(resultPath, { force: true });
  await writeFile(jobPath, lines.join('\n'), { mode: 0o600 });
  try {
    await sendArguments(pipe, ['-p', `macro:///${macroModule}.${macro}("${directory}")`], signal);
    const [status = '', ...detail] = (await readFile(resultPath, 'utf8')).split('\n');
    return { status, detail: detail.join('\n').trim() };
  } finally {
    await rm(jobPath, { force: true }); // It may hold a password.
  }
}
