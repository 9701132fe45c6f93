import { createWriteStream, rmSync } from 'node:fs';
import { access, chmod, copyFile, mkdtemp, open, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Failure } from '../lib/failure.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { decodeFile, detectEncoding } from '../lib/text-encoding.ts';
import { startProgram, type StartedProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import { findPipe, sendArguments } from './libreoffice-pipe.ts';
import { macroModule, writeProfile } from './libreoffice-profile.ts';

/*
 * LibreOffice takes a second to start and 30 ms for a page, so one instance stays and takes one document after another.
 *
 * It is driven without its Python bridge (python3-uno) and without the UNO protocol: a macro in our own profile does the
 * work, and is called through the pipe over which a second `soffice` hands its command line to the first. The reply comes
 * when the macro has ended. `-p` (print) stands before the macro's URL because a headless instance takes nothing else
 * from a second one than documents to print or convert; LibreOffice sees that the "document" is a macro and runs it.
 */

const soffice = '/usr/bin/soffice';

export const libreoffice: Engine = {
  id: 'libreoffice',
  name: 'LibreOffice Writer',
  license: 'MPL-2.0',
  interpretsPrograms: true,
  install:
    'apt-get install -y --no-install-recommends libreoffice-writer-nogui ' +
    'fonts-liberation2 fonts-dejavu-core fonts-crosextra-carlito fonts-crosextra-caladea',
  warm: () => warmLibreOffice(),
  async version() {
    try {
      const program = dirname(await realpath(soffice));
      await access(join(program, 'libswlo.so')); // Writer: other parts of LibreOffice can be installed without it.
      const settings = await readFile(join(program, 'bootstraprc'), 'utf8');
      return /^ProductKey=\D*([\d.]+)/m.exec(settings)?.[1];
    } catch {
      return undefined;
    }
  },
};

interface Office {
  program: StartedProgram;
  /** The profile, and where jobs and results are handed over. */
  directory: string;
  removeAtExit: () => void;
  pipe: string;
}

let office: Promise<Office> | undefined;

/** Starts LibreOffice ahead of the first document. @throws Failure `engine_failed` when it does not start. */
export async function warmLibreOffice(): Promise<void> {
  await runningOffice();
}

/** Ends the running instance; the next document starts another. */
export async function stopLibreOffice(): Promise<void> {
  const stopping = office;
  office = undefined;
  const running = await stopping?.catch(() => undefined);
  if (running !== undefined) await removeOffice(running);
}

async function runningOffice(signal?: AbortSignal): Promise<Office> {
  const current = await office?.catch(() => undefined);
  if (current !== undefined && (await answers(current, signal))) return current;
  signal?.throwIfAborted();
  await stopLibreOffice();
  office = startOffice();
  return office;
}

/** Asked before every document: an instance that died shows as running until its starter has noticed. */
async function answers(running: Office, signal?: AbortSignal): Promise<boolean> {
  if (!running.program.running()) return false;
  const closed = await callMacro(running, 'CloseDocument', {}, signal).catch(() => undefined);
  return closed?.status === 'done';
}

const startLimitMs = 60_000;

async function startOffice(): Promise<Office> {
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
    const started = { program, directory, removeAtExit, pipe: pipe ?? '' };
    const warm = pipe === undefined ? undefined : await callMacro(started, 'Warm', {}).catch(() => undefined);
    if (warm?.status === 'done') return started;
    await sleep(10);
  }
  await removeOffice({ program, directory, removeAtExit, pipe: '' });
  throw new Failure('engine_failed', 'LibreOffice did not start.', { log: program.stderrTail() });
}

/** LibreOffice removes its own pipe only when it ends by itself. */
async function removeOffice({ program, directory, removeAtExit, pipe }: Office): Promise<void> {
  await program.stop();
  process.off('exit', removeAtExit);
  await rm(directory, { recursive: true, force: true });
  if (pipe !== '') await rm(pipe, { force: true });
}

interface MacroResult {
  status: string;
  detail: string;
}

async function callMacro(
  { directory, pipe }: Office,
  macro: 'Warm' | 'OpenDocument' | 'StoreDocument' | 'CloseDocument',
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

const textFilter = 'Text (encoded)';

/**
 * LibreOffice's import filter for each format. Always named: left to itself it reads a damaged document as plain text.
 * Text is what `txt` means, also when its content looks like something else.
 */
const filters: Partial<Record<FileTypeId, string>> = {
  docx: 'MS Word 2007 XML',
  encrypted_office: 'MS Word 2007 XML',
  doc: 'MS Word 97',
  odt: 'writer8',
  rtf: 'Rich Text Format',
  txt: textFilter,
  csv: textFilter,
  tsv: textFilter,
  json: textFilter,
  ndjson: textFilter,
  xml: textFilter,
  html: textFilter,
  svg: textFilter,
};

export interface WordDocument {
  path: string;
  /** The given name, for messages. */
  filename: string;
  type: FileTypeId;
}

export interface PdfOptions {
  target: string;
  /** The pages to write, as 0-based indexes in order; all of them without it. May throw. */
  selectPages?: (pageCount: number) => number[];
  /** PDF/A-2b instead of plain PDF 1.6. */
  pdfa: boolean;
  changes: 'show' | 'accept';
  /** One line. */
  password?: string | undefined;
  /** An existing private directory. */
  scratch: string;
  signal: AbortSignal;
}

/**
 * Lays out a document and writes it as PDF. One document at a time in a process: a run has one, and runs take turns.
 * When LibreOffice dies, hangs until `signal` is aborted or fails in a way it should not, the instance is ended.
 *
 * @throws Failure `invalid_input`, `password_required`, `engine_failed`; what `signal` was aborted with.
 */
export async function convertToPdf(document: WordDocument, options: PdfOptions): Promise<void> {
  const { signal } = options;
  signal.throwIfAborted();
  const filter = filters[document.type];
  if (filter === undefined) throw unreadable(document);
  const source = await stageSource(document, filter, options.scratch);
  try {
    const running = await runningOffice(signal);
    await layOut(running, document, { source, filter }, options);
    await callMacro(running, 'CloseDocument', {}, signal);
    await checkPdf(options.target, document.filename);
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'engine_failed') await stopLibreOffice();
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    throw new Failure('engine_failed', `LibreOffice stopped working on ${document.filename}.`, {
      file: document.filename,
      cause: error,
    });
  } finally {
    await rm(source, { force: true });
  }
}

/**
 * A copy that LibreOffice may write to. In a read-only file it accepts no tracked changes, and both ways around a copy
 * (a template, a stream) make it trust the links inside. Plain text becomes UTF-8, the one encoding it is told.
 */
async function stageSource({ path, filename }: WordDocument, filter: string, scratch: string): Promise<string> {
  const source = join(scratch, 'document');
  if (filter !== textFilter) {
    await copyFile(path, source);
    await chmod(source, 0o600);
    return source;
  }
  try {
    await pipeline(decodeFile(path, await detectEncoding(path)), createWriteStream(source, { mode: 0o600 }));
    return source;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new Failure('invalid_input', `${filename} is not text in any encoding that is known here.`, {
      file: filename,
      cause,
    });
  }
}

async function layOut(
  running: Office,
  document: WordDocument,
  { source, filter }: { source: string; filter: string },
  options: PdfOptions,
): Promise<void> {
  const { signal, target, pdfa, changes, selectPages, password } = options;
  const opened = await callMacro(
    running,
    'OpenDocument',
    {
      source: pathToFileURL(source).href,
      filter,
      filter_options: filter === textFilter ? 'UTF8,LF,Liberation Mono,,' : '',
      changes,
      password: password ?? '',
    },
    signal,
  );
  try {
    if (opened.status !== 'done') throw openFailure(opened, document, password);
    const pages = selectPages === undefined ? '' : toPageRange(selectPages(Number(opened.detail)));
    const stored = await callMacro(
      running,
      'StoreDocument',
      { target: pathToFileURL(target).href, pages, pdf_version: pdfa ? '2' : '0' },
      signal,
    );
    if (stored.status !== 'done') throw unexpected(stored, document);
  } catch (error) {
    if (!signal.aborted) await callMacro(running, 'CloseDocument', {}, signal);
    throw error;
  }
}

/** How the filter for Word 97-2003 reports a password it has not got: it asks no question (`ERRCODE_SVX_WRONGPASS`). */
const wrongPassword = /\b1000F\b/;

function openFailure({ status, detail }: MacroResult, document: WordDocument, password: string | undefined): Failure {
  const { filename: file, type } = document;
  const options = { file, log: `${status} ${detail}` };
  const locked = type === 'encrypted_office' || detail.includes('PasswordRequest') || wrongPassword.test(detail);
  if (status === 'not_loaded' && locked) {
    const why = password === undefined ? 'is protected with a password' : 'does not open with this password';
    return new Failure('password_required', `${file} ${why}.`, options);
  }
  if (status === 'not_loaded') return unreadable(document, options.log);
  if (status === 'not_text') return new Failure('invalid_input', `${file} is not a text document.`, options);
  if (status === 'changes_remain') {
    return new Failure('engine_failed', `The tracked changes of ${file} could not be accepted.`, options);
  }
  return unexpected({ status, detail }, document);
}

function unreadable({ filename: file }: WordDocument, log?: string): Failure {
  return new Failure('invalid_input', `${file} is damaged or not a document that can be read.`, { file, log });
}

function unexpected({ status, detail }: MacroResult, { filename: file }: WordDocument): Failure {
  return new Failure('engine_failed', `LibreOffice could not convert ${file}.`, { file, log: `${status} ${detail}` });
}

/** `[0, 1, 2, 6]` → `1-3,7`, as LibreOffice reads it: order and duplicates kept. */
function toPageRange(pages: readonly number[]): string {
  const runs: { from: number; to: number }[] = [];
  for (const page of pages) {
    const last = runs.at(-1);
    if (last !== undefined && page === last.to + 1) last.to = page;
    else runs.push({ from: page, to: page });
  }
  return runs.map(({ from, to }) => (from === to ? `${from + 1}` : `${from + 1}-${to + 1}`)).join(',');
}

/** LibreOffice says "done" on a full disk too. */
async function checkPdf(path: string, filename: string): Promise<void> {
  const tailBytes = 1024;
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  const file = size === 0 ? undefined : await open(path, 'r');
  try {
    const head = await file?.read(Buffer.alloc(5), 0, 5, 0);
    const tail = await file?.read(Buffer.alloc(tailBytes), 0, tailBytes, Math.max(0, size - tailBytes));
    if (head?.buffer.toString('latin1') === '%PDF-' && tail?.buffer.includes('%%EOF') === true) return;
  } finally {
    await file?.close();
  }
  throw new Failure('engine_failed', `LibreOffice wrote no complete PDF of ${filename}.`, { file: filename });
}
