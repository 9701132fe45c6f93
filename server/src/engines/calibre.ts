import { copyFile, mkdir, open, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { extensionOf, type FileTypeId } from '../lib/media-types.ts';
import { runProgram } from '../sandbox/program.ts';
import { debianVersion } from './debian-package.ts';
import type { Engine } from './engine.ts';

const programs = { convert: '/usr/bin/ebook-convert', meta: '/usr/bin/ebook-meta' } as const;

export const calibre: Engine = {
  id: 'calibre',
  name: 'calibre',
  license: 'GPL-3.0-or-later',
  interpretsPrograms: true,
  install: 'apt-get install -y --no-install-recommends calibre',
  async version() {
    const packaged = await debianVersion('calibre', programs.convert);
    if (packaged !== undefined) return packaged;
    const result = await runProgram(programs.meta, ['--version'], { timeoutMs: 20_000 }).catch(() => undefined);
    return result === undefined ? undefined : /calibre ([\d.]+)/.exec(result.stdout)?.[1];
  },
};

export type BookFormat = 'epub' | 'mobi' | 'azw3' | 'pdf' | 'docx' | 'txt';

export interface Book {
  path: string;
  /** The given name, for messages. */
  filename: string;
  type: FileTypeId;
}

export interface BookConversion {
  format: BookFormat;
  target: string;
  /** An image. */
  cover?: Book | undefined;
  /** Levels of headings in a table of contents that is made where the book has none; 0 for no table of contents. */
  tocDepth: number;
  /** Of plain text, in points. */
  fontSize: number;
  scratch: string;
  signal: AbortSignal;
  onPercent(percent: number): void;
}

/**
 * Converts a book. Books that copy protection locks are refused.
 *
 * @throws Failure `invalid_input`, `password_required`, `engine_failed`; what `signal` was aborted with.
 */
export async function convertBook(book: Book, conversion: BookConversion): Promise<void> {
  const { format, target, cover, tocDepth, fontSize, scratch, signal, onPercent } = conversion;
  const directory = join(scratch, 'book');
  await mkdir(directory, { mode: 0o700 });
  try {
    // The program goes by extensions, and both files must not be in one directory with anything else.
    const source = join(directory, `in.${extensionOf(book.type)}`);
    const written = join(directory, `out.${format}`);
    await symlink(book.path, source);
    const look = [`--base-font-size=${fontSize}`, ...tocOptions(tocDepth)];
    if (format === 'epub') look.push('--epub-version=3');
    if (format === 'pdf') look.push(`--pdf-default-font-size=${Math.round((fontSize * 96) / 72)}`, '--paper-size=a4');
    if (cover !== undefined) {
      const picture = join(directory, `cover.${extensionOf(cover.type)}`);
      await symlink(cover.path, picture);
      look.push(`--cover=${picture}`);
    }
    await run('convert', [source, written, ...look], { book, directory, signal, onPercent });
    await checkBook(written, format, book.filename);
    await copyFile(written, target);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The program makes up to three levels. */
function tocOptions(depth: number): string[] {
  if (depth === 0) return ['--use-auto-toc', '--max-toc-links=0', '--no-chapters-in-toc'];
  return ['h1', 'h2', 'h3'].slice(0, depth).map((element, index) => `--level${index + 1}-toc=//h:${element}`);
}

export interface BookMetadata {
  title?: string | undefined;
  /** Several are separated by `&`. */
  authors?: string | undefined;
  series?: string | undefined;
  language?: string | undefined;
  /** Digits only. */
  isbn?: string | undefined;
}

/** How the program calls each field in its report. */
const reported = {
  title: 'Title',
  authors: 'Author(s)',
  series: 'Series',
  language: 'Languages',
  isbn: 'Identifiers',
} as const;

/**
 * Writes metadata into a copy of a book; what is not given stays.
 *
 * @throws Failure `invalid_input` for a broken book, or a field that its format cannot hold.
 */
export async function editBookMetadata(
  book: Book,
  metadata: BookMetadata,
  { target, scratch, signal }: { target: string; scratch: string; signal: AbortSignal },
): Promise<void> {
  const directory = join(scratch, 'book');
  await mkdir(directory, { mode: 0o700 });
  try {
    const copy = join(directory, `book.${extensionOf(book.type)}`);
    await copyFile(book.path, copy);
    const fields = Object.entries(metadata).filter(([, value]) => value !== undefined) as [
      keyof BookMetadata,
      string,
    ][];
    const options = fields.map(([name, value]) => `--${name}=${value}`);
    await run('meta', [copy, ...options], { book, directory, signal });
    // What it says while it writes is what it was asked for: only the file itself shows what it holds now.
    const report = await run('meta', [copy], { book, directory, signal });
    if (book.type === 'pdf' && report.includes('Incorrect password')) throw conversionFailure(book, report);
    for (const [name] of fields) {
      const line = report.split('\n').find((text) => text.trim().startsWith(reported[name]));
      const value = line?.replace(/^[^:]*: */, '') ?? '';
      if (holds(name, value, metadata)) continue;
      const format = extensionOf(book.type).toUpperCase();
      const message = `${book.filename} could not be given this ${name}: ${format} cannot hold it, or it is not a valid one.`;
      throw new Failure('invalid_input', message, { file: book.filename, log: report });
    }
    await copyFile(copy, target);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Languages are shown by another code and series with a number: that there is one must do. */
function holds(name: keyof BookMetadata, value: string, { title, isbn }: BookMetadata): boolean {
  if (name === 'title') return squeezed(value) === squeezed(title ?? '');
  if (name === 'isbn') return value.includes(`isbn:${isbn}`);
  return value !== '';
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

interface RunContext {
  book: Book;
  directory: string;
  signal: AbortSignal;
  onPercent?(percent: number): void;
}

const keptLines = 60;

/** Returns what the program said. It knows no plugins and no settings but its own, and shows nothing. */
async function run(
  program: keyof typeof programs,
  args: readonly string[],
  { book, directory, signal, onPercent }: RunContext,
): Promise<string> {
  const lines: string[] = [];
  const env = {
    HOME: directory,
    TMPDIR: directory,
    XDG_RUNTIME_DIR: directory,
    CALIBRE_CONFIG_DIRECTORY: join(directory, 'settings'),
    CALIBRE_CACHE_DIRECTORY: join(directory, 'cache'),
    CALIBRE_TEMP_DIR: directory,
    QT_QPA_PLATFORM: 'offscreen',
    // Its browser, which writes PDF, can make no namespaces within our sandbox.
    QTWEBENGINE_DISABLE_SANDBOX: '1',
  };
  const onLine = (line: string) => {
    const percent = /^(\d{1,3})% /.exec(line)?.[1];
    if (percent !== undefined) onPercent?.(Number(percent));
    lines.push(line);
    if (lines.length > keptLines) lines.shift();
  };
  try {
    await runProgram(programs[program], args, { env, cwd: directory, signal, onLine });
    return lines.join('\n');
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure) || error.code !== 'engine_failed') throw error;
    throw conversionFailure(book, `${lines.join('\n')}\n${error.log ?? ''}`);
  }
}

function conversionFailure({ filename: file, type }: Book, log: string): Failure {
  const details = { file, log: log.slice(-4000) };
  if (type === 'pdf' && /encrypt|password/i.test(log)) {
    return new Failure('password_required', `${file} is protected with a password; unlock it first.`, details);
  }
  if (/DRM/.test(log)) {
    return new Failure('invalid_input', `${file} is locked by copy protection (DRM) and cannot be read.`, details);
  }
  return new Failure('invalid_input', `${file} is damaged or not a book that can be read.`, details);
}

const marks: Record<BookFormat, { at: number; mark: string }> = {
  epub: { at: 0, mark: 'PK' },
  docx: { at: 0, mark: 'PK' },
  pdf: { at: 0, mark: '%PDF-' },
  mobi: { at: 60, mark: 'BOOKMOBI' },
  azw3: { at: 60, mark: 'BOOKMOBI' },
  txt: { at: 0, mark: '' },
};

async function checkBook(path: string, format: BookFormat, filename: string): Promise<void> {
  const file = await open(path, 'r').catch(() => undefined);
  try {
    const { buffer, bytesRead } = (await file?.read(Buffer.alloc(4096), 0, 4096, 0)) ?? { buffer: '', bytesRead: 0 };
    const head = buffer.toString('latin1').slice(0, bytesRead);
    const { at, mark } = marks[format];
    if (format === 'txt' && file !== undefined && head.trim() === '') {
      throw new Failure('invalid_input', `${filename} holds no text.`, { file: filename });
    }
    if (bytesRead > 0 && head.startsWith(mark, at)) return;
  } finally {
    await file?.close();
  }
  throw new Failure('engine_failed', `No complete ${format.toUpperCase()} was written of ${filename}.`, {
    file: filename,
  });
}
