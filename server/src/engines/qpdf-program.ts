import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import { openPdf, savePdf } from './pdf-lib.ts';

/**
 * Debian's qpdf: unlike the WebAssembly build it repairs damaged files, and its memory is given back when it ends.
 */
export const qpdfProgram: Engine = {
  id: 'qpdf-program',
  name: 'qpdf',
  license: 'Apache-2.0',
  install: 'apt-get install -y --no-install-recommends qpdf',
  async version() {
    try {
      const { stdout } = await runProgram('qpdf', ['--version'], { timeoutMs: 5000 });
      return /version (\S+)/.exec(stdout)?.[1];
    } catch {
      return undefined;
    }
  },
};

/** A PDF to read with qpdf. */
export interface QpdfInput {
  path: string;
  /** The given name, for messages. */
  filename: string;
  password?: string | undefined;
  /** A private directory. */
  scratch: string;
  signal: AbortSignal;
}

type Job = { [key: string]: string | Job | readonly string[] };

/**
 * Runs qpdf with a job of its JSON form, which is a file: a password never stands on a command line, and a text that looks
 * like an option is none.
 *
 * @returns standard output and what qpdf had to say; exit 3 ("worked, with warnings") counts as success.
 * @throws Failure `password_required`; `invalid_input` when qpdf cannot read the file.
 */
async function runJob(
  { path, filename, password, scratch, signal }: QpdfInput,
  job: Job,
): Promise<{ stdout: string; warnings: string }> {
  const directory = await mkdtemp(join(scratch, 'qpdf-'));
  const jobFile = join(directory, 'job.json');
  const whole = { inputFile: path, ...(password === undefined ? {} : { password }), ...job };
  await writeFile(jobFile, JSON.stringify(whole), { mode: 0o600 });
  try {
    const options = { okCodes: [0, 2, 3], signal, maxOutputBytes: 16 * 1024 * 1024 };
    const { code, stdout, stderrTail } = await runProgram('qpdf', [`--job-json-file=${jobFile}`], options);
    if (code === 2) throw refusal(filename, password, stderrTail);
    return { stdout, warnings: stderrTail };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function refusal(file: string, password: string | undefined, log: string): Failure {
  if (/invalid password/.test(log)) {
    const message = password === undefined ? `${file} needs a password.` : `The password for ${file} is wrong.`;
    return new Failure('password_required', message, { file, log });
  }
  if (/unsupported encryption|unable to decrypt|encryption dictionary/.test(log)) {
    const message = `${file} is encrypted in a way that cannot be opened.`;
    return new Failure('invalid_input', message, { file, log });
  }
  if (/no pages found/.test(log)) return new Failure('invalid_input', `${file} has no pages.`, { file, log });
  return new Failure('invalid_input', `${file} is damaged: no pages could be read from it.`, { file, log });
}

async function write(input: QpdfInput, output: string, job: Job): Promise<string> {
  const { warnings } = await runJob(input, { outputFile: output, ...job });
  const written = await stat(output).catch(() => undefined);
  if (written !== undefined && written.size > 0) return warnings;
  const message = `${input.filename} could not be written.`;
  throw new Failure('engine_failed', message, { file: input.filename, log: warnings });
}

/** @throws Failure `password_required`, `invalid_input` for a file that cannot be read or has no pages. */
export async function countPages(input: QpdfInput): Promise<number> {
  const { stdout } = await runJob(input, { showNpages: '' });
  const count = Number(stdout.trim());
  if (Number.isInteger(count) && count > 0) return count;
  throw noPages(input.filename);
}

function noPages(file: string): Failure {
  return new Failure('invalid_input', `${file} has no pages.`, { file });
}

/**
 * The input, or a copy of it that qpdf can read: the library that looks for objects without any table reads more damaged
 * files, and notices content that is lost, which qpdf leaves out without a word.
 *
 * @throws Failure `password_required`, `invalid_input` for a file that cannot be read, has no pages or lost a part of them.
 */
export async function readableInput(input: QpdfInput): Promise<QpdfInput> {
  const { stdout, warnings, refused } = await runJob(input, { showNpages: '' }).then(
    (result) => ({ ...result, refused: undefined }),
    notReadable,
  );
  const hasPages = Number(stdout.trim()) > 0;
  if (hasPages && warnings === '') return input;
  const file = await openPdf(input).catch((error: unknown) => {
    throw refused ?? (hasPages ? error : noPages(input.filename));
  });
  if (hasPages) return input;
  const path = join(await mkdtemp(join(input.scratch, 'collected-')), 'collected.pdf');
  await savePdf(file.context, path);
  return { ...input, path, password: undefined };
}

function notReadable(error: unknown): { stdout: string; warnings: string; refused: Failure } {
  if (error instanceof Failure && error.code === 'invalid_input') return { stdout: '', warnings: '', refused: error };
  throw error;
}

/** How a PDF is encrypted, as qpdf tells. */
export interface PdfEncryption {
  /** `AES-256`, `AES-128`, `RC4-128`, … */
  cipher: string;
  /** The password that was used gives every right. */
  isOwner: boolean;
  permissions: Record<
    'print' | 'print_high_quality' | 'copy' | 'modify' | 'annotate' | 'fill_forms' | 'assemble',
    boolean
  >;
}

interface EncryptReport {
  encrypt: {
    encrypted: boolean;
    ownerpasswordmatched: boolean;
    /** The misspelling is qpdf's own, of its first JSON format. */
    capabilities: Record<
      'extract' | 'modifyother' | 'moddifyannotations' | 'modifyforms' | 'modifyassembly' | 'printlow' | 'printhigh',
      boolean
    >;
    parameters: { bits: number; streammethod: string };
  };
}

/**
 * Undefined for a file that is not encrypted. Without a password the empty one is tried, which opens a file that only its
 * owner's rights protect.
 *
 * @throws Failure `password_required`, `invalid_input`
 */
export async function readEncryption(input: QpdfInput): Promise<PdfEncryption | undefined> {
  const { stdout } = await runJob(input, { json: '1', jsonKey: ['encrypt'] });
  const { encrypted, ownerpasswordmatched, capabilities, parameters } = (JSON.parse(stdout) as EncryptReport).encrypt;
  if (!encrypted) return undefined;
  const method = parameters.streammethod.startsWith('AES') ? 'AES' : 'RC4';
  return {
    cipher: `${method}-${parameters.bits}`,
    isOwner: ownerpasswordmatched,
    permissions: {
      print: capabilities.printlow,
      print_high_quality: capabilities.printhigh,
      copy: capabilities.extract,
      modify: capabilities.modifyother,
      annotate: capabilities.moddifyannotations,
      fill_forms: capabilities.modifyforms,
      assemble: capabilities.modifyassembly,
    },
  };
}

/** Writes a copy without encryption; everything else stays. */
export function removeEncryption(input: QpdfInput, output: string): Promise<string> {
  return write(input, output, { decrypt: '' });
}

export interface Protection {
  userPassword: string;
  ownerPassword: string;
  cipher: 'aes256' | 'aes128';
  print: 'none' | 'low' | 'full';
  copy: boolean;
  modify: boolean;
  /** Comments, and filling in forms. */
  annotate: boolean;
}

/** Writes a copy that opens with a password only. Readers for people who cannot see may always read the text. */
export function encrypt(input: QpdfInput, output: string, protection: Protection): Promise<string> {
  const { userPassword, ownerPassword, cipher, print, copy, modify, annotate } = protection;
  const word = (isAllowed: boolean) => (isAllowed ? 'y' : 'n');
  const rights: Job = {
    print,
    extract: word(copy),
    modifyOther: word(modify),
    assemble: word(modify),
    annotate: word(annotate),
    form: word(annotate),
  };
  const coding: Job = cipher === 'aes256' ? { '256bit': rights } : { '128bit': { ...rights, useAes: 'y' } };
  return write(input, output, { encrypt: { userPassword, ownerPassword, ...coding } });
}

/** Writes a copy arranged for fast web view; an encrypted file keeps its passwords and rights. */
export function arrangeForWeb(
  input: QpdfInput,
  output: string,
  { objectStreams }: { objectStreams: boolean },
): Promise<string> {
  return write(input, output, { linearize: '', objectStreams: objectStreams ? 'generate' : 'disable' });
}

/** @throws Failure when the file is not arranged for fast web view as the standard wants it. */
export async function checkWebArrangement(input: QpdfInput): Promise<void> {
  const { stdout } = await runJob(input, { checkLinearization: '' });
  if (/no linearization errors/.test(stdout)) return;
  const message = `${input.filename} could not be arranged for fast web view.`;
  throw new Failure('engine_failed', message, { file: input.filename, log: stdout });
}
