import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '../lib/failure.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { decodeFile, detectEncoding } from '../lib/text-encoding.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';
import { decodeHtmlFile } from './html-encoding.ts';

const program = '/usr/bin/pandoc';

export const pandoc: Engine = {
  id: 'pandoc',
  name: 'Pandoc',
  license: 'GPL-2.0-or-later',
  interpretsPrograms: true,
  install: 'apt-get install -y --no-install-recommends pandoc',
  async version() {
    const result = await runProgram(program, ['--version'], { timeoutMs: 10_000 }).catch(() => undefined);
    return result === undefined ? undefined : /^pandoc ([\d.]+)/.exec(result.stdout)?.[1];
  },
};

const readers = {
  docx: 'docx',
  odt: 'odt',
  epub: 'epub',
  html: 'html',
  md: 'markdown+autolink_bare_uris+lists_without_preceding_blankline+task_lists',
  rst: 'rst',
  tex: 'latex',
} as const satisfies Partial<Record<FileTypeId, string>>;
export type PandocInput = keyof typeof readers;

const textInputs: readonly PandocInput[] = ['html', 'md', 'rst', 'tex'];

const writers = {
  docx: ['docx'],
  odt: ['odt'],
  epub: ['epub3'],
  html: ['html5', '--self-contained', '--mathml'],
  md: ['gfm+footnotes+tex_math_dollars', '--wrap=none'],
  txt: ['plain', '--wrap=none'],
} as const satisfies Partial<Record<FileTypeId, readonly string[]>>;
export type PandocOutput = keyof typeof writers;

/** The field by which `pandoc-safe.lua` is told a title for formats that must have one. */
const fallbackTitles: Partial<Record<PandocOutput, string>> = { epub: 'fallback-title', html: 'fallback-page-title' };

export function isPandocInput(type: FileTypeId): type is PandocInput {
  return type in readers;
}

export function isPandocOutput(type: FileTypeId): type is PandocOutput {
  return type in writers;
}

export interface PandocDocument {
  path: string;
  /** The given name, for messages. */
  filename: string;
  type: PandocInput;
}

export interface PandocOptions {
  target: string;
  format: PandocOutput;
  /** The title of a document that has none, in EPUB and of the page in HTML. */
  title: string;
  /** A table of contents in front. */
  toc: boolean;
  /** A DOCX or ODT whose styles and page the output gets. */
  referencePath?: string | undefined;
  /** An existing private directory. */
  scratch: string;
  signal: AbortSignal;
}

/**
 * Converts the structure of a document: headings, lists, tables, notes, pictures; not how it looks.
 *
 * In two steps. The reader runs in Pandoc's own sandbox, where no file is included (`\input`, `.. include::`), and
 * `pandoc-safe.lua` leaves a tree without raw parts and without addresses of files. The writer of that tree runs outside,
 * because Debian's Pandoc finds its own templates of DOCX and EPUB only there.
 *
 * @throws Failure `invalid_input`, `resource_limit`, `engine_failed`; what `signal` was aborted with.
 */
export async function convertMarkup(document: PandocDocument, options: PandocOptions): Promise<void> {
  const { scratch, signal, target, format, toc, title, referencePath } = options;
  const source = join(scratch, 'markup');
  const tree = join(scratch, 'tree.json');
  const [writer, ...details] = writers[format];
  try {
    const input = textInputs.includes(document.type) ? await decodeText(document, source) : document.path;
    const filter = `--lua-filter=${fileURLToPath(new URL('pandoc-safe.lua', import.meta.url))}`;
    const reading = ['--sandbox', `--from=${readers[document.type]}`, '--to=json', filter];
    const name = fallbackTitles[format];
    const titles = name === undefined ? [] : [`--metadata=${name}:${title}`];
    await run([...reading, ...titles, `--output=${tree}`, input], document, signal);
    const styles = referencePath === undefined ? [] : [`--reference-doc=${referencePath}`];
    const contents = toc ? ['--toc'] : [];
    const writing = ['--from=json', `--to=${writer}`, '--standalone', ...details, ...styles, ...contents];
    await run([...writing, `--output=${target}`, tree], document, signal);
    await checkOutput(target, document.filename);
  } finally {
    await rm(source, { force: true });
    await rm(tree, { force: true });
  }
}

/** Pandoc reads UTF-8 only. */
async function decodeText({ path, filename, type }: PandocDocument, target: string): Promise<string> {
  const openTarget = () => createWriteStream(target, { mode: 0o600 });
  if (type === 'html') {
    await pipeline(decodeHtmlFile(path), openTarget());
    return target;
  }
  const encoding = await detectEncoding(path);
  try {
    await pipeline(decodeFile(path, encoding), openTarget());
    return target;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const message = `${filename} is not text in ${encoding}.`;
    throw new Failure('invalid_input', message, { file: filename, cause });
  }
}

const memoryLimit = '1500m';
/** Pandoc's own exit codes for memory that ran out, of its own limit or the system's. */
const outOfMemory = /heap exhausted|Heap exhausted|out of memory|stack overflow/;

/** The document is in several files (`\input`, `.. include::`): without the others the result would lack parts. */
const missingFile = /not found in resource path|Could not load include file/;

async function run(args: readonly string[], { filename: file }: PandocDocument, signal: AbortSignal): Promise<void> {
  try {
    const { stderrTail } = await runProgram(program, ['+RTS', `-M${memoryLimit}`, '-RTS', ...args], { signal });
    if (missingFile.test(stderrTail)) throw new Failure('engine_failed', 'A part is missing.', { log: stderrTail });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure) || error.code !== 'engine_failed') throw error;
    const { log } = error;
    if (outOfMemory.test(log ?? '')) {
      throw new Failure('resource_limit', `${file} needs more memory than a run has.`, { file, log });
    }
    if (missingFile.test(log ?? '')) {
      throw new Failure('invalid_input', `${file} includes another file, and it must stand alone.`, { file, log });
    }
    throw new Failure('invalid_input', `${file} is damaged or not a document that can be read.`, { file, log });
  }
}

async function checkOutput(path: string, file: string): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size <= 1) throw new Failure('invalid_input', `${file} holds nothing that this format can show.`, { file });
}
