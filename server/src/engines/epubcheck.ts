import { access, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import { debianVersion } from './debian-package.ts';
import type { Engine } from './engine.ts';

const java = '/usr/bin/java';
const jar = '/usr/share/java/epubcheck.jar';

/** A check takes seconds: most of them would go into collecting garbage and compiling for a longer life. */
const javaOptions = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'];

let known: string | undefined;

export const epubcheck: Engine = {
  id: 'epubcheck',
  name: 'EPUBCheck',
  license: 'BSD-3-Clause',
  install: 'apt-get install -y --no-install-recommends epubcheck',
  async version() {
    try {
      await Promise.all([access(java), access(jar)]);
      const packaged = await debianVersion('epubcheck', jar);
      if (packaged !== undefined) return packaged;
      // Starting Java takes a second, and workers ask again and again.
      const ask = () =>
        runProgram(java, [...javaOptions, '-jar', jar, '--version'], { timeoutMs: 60_000, okCodes: [0, 1] });
      known ??= /EPUBCheck v?([\d.]+)/i.exec((await ask()).stdout)?.[1];
      return known;
    } catch {
      return undefined;
    }
  },
};

export interface EpubMessage {
  /** EPUBCheck's own name of the rule, such as `RSC-005`. */
  id: string;
  severity: 'fatal' | 'error' | 'warning' | 'info';
  message: string;
  /** The file inside the book; absent where the book as a whole is meant. */
  file?: string;
  line?: number;
  column?: number;
}

export interface EpubReport {
  valid: boolean;
  /** `3.2`; absent when the book does not say. */
  version?: string;
  title?: string;
  fatals: number;
  errors: number;
  warnings: number;
  messages: EpubMessage[];
  /** Further places that were left out of `messages`. */
  messages_left_out?: number;
}

interface Output {
  messages?: {
    ID?: string;
    severity?: string;
    message?: string;
    locations?: { path?: string; line?: number; column?: number }[];
    additionalLocations?: number;
  }[];
  checker?: { nFatal?: number; nError?: number; nWarning?: number };
  publication?: { title?: string | null; ePubVersion?: string | null };
}

const maxMessages = 5000;

/**
 * Checks a book against the rules of EPUB 2 or 3, whichever it says it is. A broken book is a report like any other.
 *
 * @throws Failure `engine_failed`; what `signal` was aborted with.
 */
export async function checkEpub(
  { path, filename }: { path: string; filename: string },
  { scratch, signal }: { scratch: string; signal: AbortSignal },
): Promise<EpubReport> {
  const book = join(scratch, 'book.epub');
  const written = join(scratch, 'report.json');
  await symlink(path, book);
  try {
    await runProgram(java, [...javaOptions, '-jar', jar, '--json', written, book], { signal, okCodes: [0, 1] });
    return toReport(JSON.parse(await readFile(written, 'utf8')) as Output, book);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    throw new Failure('engine_failed', `${filename} could not be checked.`, { file: filename, cause: error });
  } finally {
    await rm(book, { force: true });
    await rm(written, { force: true });
  }
}

const severities: Record<string, EpubMessage['severity']> = {
  FATAL: 'fatal',
  ERROR: 'error',
  WARNING: 'warning',
  INFO: 'info',
};

function toReport({ messages = [], checker = {}, publication = {} }: Output, book: string): EpubReport {
  const { nFatal: fatals = 0, nError: errors = 0, nWarning: warnings = 0 } = checker;
  const { title, ePubVersion: version } = publication;
  const all = messages.flatMap(({ ID: id = '', severity = '', message = '', locations = [] }) => {
    const kind = severities[severity];
    if (kind === undefined) return [];
    const places = locations.length === 0 ? [{}] : locations;
    return places.map((place) => ({
      id,
      severity: kind,
      message: message.replaceAll(book, 'the book'),
      ...whereIn(place, book),
    }));
  });
  const leftOut =
    Math.max(0, all.length - maxMessages) + messages.reduce((sum, { additionalLocations: more = 0 }) => sum + more, 0);
  return {
    valid: fatals === 0 && errors === 0,
    ...(typeof version === 'string' ? { version } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    fatals,
    errors,
    warnings,
    messages: all.slice(0, maxMessages),
    ...(leftOut > 0 ? { messages_left_out: leftOut } : {}),
  };
}

/** -1 is no line; the path of the book itself is a place on this machine. */
function whereIn(
  { path = '', line = -1, column = -1 }: { path?: string; line?: number; column?: number },
  book: string,
): Pick<EpubMessage, 'file' | 'line' | 'column'> {
  const inside = path.replace(/^\.?\//, '');
  const whole = inside === '' || book.endsWith(inside);
  return {
    ...(whole ? {} : { file: inside }),
    ...(line > 0 ? { line } : {}),
    ...(column > 0 ? { column } : {}),
  };
}
