import { createReadStream, createWriteStream } from 'node:fs';
import { access, chmod, copyFile, readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { Failure } from '../lib/failure.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { decodeFile, detectEncoding } from '../lib/text-encoding.ts';
import type { Engine } from './engine.ts';
import { checkOfficeOutput } from './libreoffice-check.ts';
import {
  documentService,
  exportFilter,
  importFilter,
  moduleFor,
  olderImportFilter,
  type OfficeFormat,
  type OfficeModule,
  textFilter,
} from './libreoffice-formats.ts';
import {
  callMacro,
  type MacroResult,
  type Office,
  runningOffice,
  soffice,
  stopLibreOffice,
  warmLibreOffice,
} from './libreoffice-process.ts';

export type { OfficeFormat, OfficeModule } from './libreoffice-formats.ts';
export { stopLibreOffice, warmLibreOffice } from './libreoffice-process.ts';

const fonts = 'fonts-liberation2 fonts-dejavu-core fonts-crosextra-carlito fonts-crosextra-caladea';

/** One installation; its parts are packages of their own, and all work in the same running instance. */
function officeEngine(module: OfficeModule, id: string, name: string): Engine {
  return {
    id,
    name,
    license: 'MPL-2.0',
    interpretsPrograms: true,
    // Without libreoffice-math the formulas of a document are left out.
    install: `apt-get install -y --no-install-recommends libreoffice-${module}-nogui libreoffice-math-nogui ${fonts}`,
    warm: () => warmLibreOffice(module),
    async version() {
      try {
        const program = dirname(await realpath(soffice));
        await access(join(program, `../share/registry/${module}.xcd`));
        const settings = await readFile(join(program, 'bootstraprc'), 'utf8');
        return /^ProductKey=\D*([\d.]+)/m.exec(settings)?.[1];
      } catch {
        return undefined;
      }
    },
  };
}

/** Text documents. */
export const libreoffice = officeEngine('writer', 'libreoffice', 'LibreOffice Writer');
/** Spreadsheets. */
export const libreofficeCalc = officeEngine('calc', 'libreoffice-calc', 'LibreOffice Calc');
/** Presentations. */
export const libreofficeImpress = officeEngine('impress', 'libreoffice-impress', 'LibreOffice Impress');

export interface OfficeDocument {
  path: string;
  /** The given name, for messages. */
  filename: string;
  /** `txt` is read as text, whatever is in it. */
  type: FileTypeId;
}

export interface OpenOptions {
  /** What opens it, where several could: a locked file (`writer` without it). */
  module?: OfficeModule;
  /** For filters that read settings from text, such as CSV. */
  importOptions?: string;
  /** One line. */
  password?: string | undefined;
  /** Of a text document: accept tracked changes, or show them in the print. As they are without it. */
  changes?: 'show' | 'accept';
  /** Of a text document: fill in tables of contents and other indexes, which Pandoc leaves empty. */
  updateIndexes?: boolean;
  /** Written as soon as it is open. A text document has its comments only until then. */
  store?: StoreOptions | undefined;
  /** An existing private directory. */
  scratch: string;
  signal: AbortSignal;
}

/** A sheet or a slide. */
export interface DocumentPart {
  name: string;
  /** False for one that its author has hidden. */
  shown: boolean;
}

/** `FilterData` of an export, as LibreOffice documents it for each format. */
export type ExportData = Record<string, boolean | number | string>;

export interface StoreOptions {
  format: OfficeFormat;
  target: string;
  /** For filters that read settings from text: CSV, text. */
  filterOptions?: string;
  data?: ExportData;
}

export interface SheetArrangement {
  /** 0-based, at least one; the others are not printed. */
  sheets: readonly number[];
  /** `auto` turns what is wider than its page. */
  orientation: 'auto' | 'portrait' | 'landscape';
  fitToWidth: boolean;
  gridlines: boolean;
  /** No header and footer, which a document without settings of its own would get. */
  bare?: boolean;
  /** Columns whose text stands at the right, 0-based. */
  rightAligned?: readonly number[];
}

/** A document that LibreOffice holds open. */
export interface OpenedDocument {
  /** Of a text document. */
  pageCount: number;
  /** Of a spreadsheet or a presentation. */
  parts: readonly DocumentPart[];
  /** Of a spreadsheet: how it will print. Returns the number of pages. */
  arrangeSheets(arrangement: SheetArrangement): Promise<number>;
  /** Writes it in a format and checks that the file is whole. */
  store(options: StoreOptions): Promise<void>;
}

/**
 * Opens a document, hands it to `use` and closes it. One at a time in a process: a run has one, and runs take turns. When
 * LibreOffice dies, hangs until `signal` is aborted or fails in a way it should not, the instance is ended. If it had
 * opened other documents before, which may have left something behind, `use` is called once more with a fresh one.
 *
 * @throws Failure `invalid_input`, `password_required`, `engine_failed`; what `signal` was aborted with;
 * a Failure of `use`.
 */
export async function withDocument<T>(
  document: OfficeDocument,
  options: OpenOptions,
  use: (opened: OpenedDocument) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  signal.throwIfAborted();
  const module = options.module ?? moduleFor(document.type);
  const filter = module === undefined ? undefined : importFilter(module, document.type);
  if (module === undefined || filter === undefined) throw unreadable(document);
  const source = await stageSource(document, filter, options.scratch);
  try {
    return await tryDocument({ document, options, module, filter, source }, use);
  } finally {
    await rm(source, { force: true });
  }
}

async function tryDocument<T>(opening: Opening, use: (opened: OpenedDocument) => Promise<T>): Promise<T> {
  const { document, module, options } = opening;
  const { signal } = options;
  const running = await runningOffice(module, signal);
  const isFresh = running.documents === 0;
  running.documents += 1;
  try {
    const result = await useDocument(running, opening, use);
    await callMacro(running, 'CloseDocument', {}, signal);
    return result;
  } catch (error) {
    const isOwnFault = !(error instanceof Failure) || error.code === 'engine_failed';
    if (isOwnFault) await stopLibreOffice();
    signal.throwIfAborted();
    if (isOwnFault && !isFresh) return tryDocument(opening, use);
    if (error instanceof Failure) throw error;
    throw new Failure('engine_failed', `LibreOffice stopped working on ${document.filename}.`, {
      file: document.filename,
      cause: error,
    });
  }
}

/** Formats that show pages, without comments and in parts if need be. */
const printed: readonly OfficeFormat[] = ['pdf', 'png'];

/** Reads a document and writes it in another format. @throws As `withDocument`. */
export async function convertOffice(
  document: OfficeDocument,
  options: OpenOptions & StoreOptions & { selectPages?: (pageCount: number) => number[] },
): Promise<void> {
  const { format, selectPages } = options;
  if (!printed.includes(format)) {
    await withDocument(document, { ...options, store: options }, () => Promise.resolve());
    return;
  }
  await withDocument(document, options, async (opened) => {
    const count = opened.pageCount === 0 ? opened.parts.length : opened.pageCount;
    const pages = selectPages === undefined ? {} : { PageRange: toPageRange(selectPages(count)) };
    await opened.store({ ...options, data: { ...options.data, ...pages } });
  });
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

/** Formats that are text when a text document is asked for, whatever they are otherwise. */
const asText: readonly FileTypeId[] = ['csv', 'tsv', 'json', 'ndjson', 'xml', 'html', 'svg'];

/** Lays out a text document and writes it as PDF. @throws As `withDocument`. */
export async function convertToPdf(document: OfficeDocument, { pdfa, ...options }: PdfOptions): Promise<void> {
  const type = asText.includes(document.type) ? 'txt' : document.type;
  const data = { SelectPdfVersion: pdfa ? 2 : 0 };
  await convertOffice({ ...document, type }, { ...options, module: 'writer', format: 'pdf', data });
}

/**
 * A copy that LibreOffice may write to. In a read-only file it accepts no tracked changes, and both ways around a copy
 * (a template, a stream) make it trust the links inside. Plain text becomes UTF-8, the one encoding it is told.
 */
async function stageSource({ path, filename }: OfficeDocument, filter: string, scratch: string): Promise<string> {
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

interface Opening {
  document: OfficeDocument;
  options: OpenOptions;
  module: OfficeModule;
  filter: string;
  source: string;
}

async function useDocument<T>(
  running: Office,
  opening: Opening,
  use: (opened: OpenedDocument) => Promise<T>,
): Promise<T> {
  const { document, options, module, source } = opening;
  const { signal, password } = options;
  const openWith = (filter: string) =>
    callMacro(
      running,
      'OpenDocument',
      {
        source: pathToFileURL(source).href,
        filter,
        filter_options: options.importOptions ?? (filter === textFilter ? 'UTF8,LF,Liberation Mono,,' : ''),
        locked: String(document.type === 'encrypted_office'),
        service: documentService(module),
        changes: options.changes ?? '',
        update_indexes: String(options.updateIndexes ?? false),
        password: password ?? '',
        ...(options.store === undefined ? {} : storeJob(module, options.store)),
      },
      signal,
    );
  let result = await openWith(opening.filter);
  const older = olderImportFilter(document.type);
  if (result.status === 'not_loaded' && older !== undefined && !asksPassword(result)) result = await openWith(older);
  try {
    if (result.status !== 'done') {
      if (document.type === 'ppt' && (await isLockedPpt(source))) throw lockedPpt(document);
      throw openFailure(result, opening);
    }
    if (options.store !== undefined) {
      await checkOfficeOutput(options.store.target, options.store.format, document.filename);
    }
    return await use(openedDocument(running, opening, result.detail));
  } catch (error) {
    if (!signal.aborted) await callMacro(running, 'CloseDocument', {}, signal);
    throw error;
  }
}

function openedDocument(running: Office, opening: Opening, description: string): OpenedDocument {
  const { document, options, module } = opening;
  const call = async (macro: 'ArrangeSheets' | 'StoreDocument', job: Record<string, string>) => {
    const result = await callMacro(running, macro, job, options.signal);
    if (result.status !== 'done') throw unexpected(result, document);
    return result.detail;
  };
  const isText = module === 'writer';
  return {
    pageCount: isText ? Number(description) : 0,
    parts: isText
      ? []
      : description.split('\n').map((line) => ({ shown: line.startsWith('1'), name: line.slice('1 '.length) })),
    async arrangeSheets(arrangement) {
      const pages = await call('ArrangeSheets', {
        sheets: arrangement.sheets.join(','),
        orientation: arrangement.orientation,
        fit_to_width: String(arrangement.fitToWidth),
        gridlines: String(arrangement.gridlines),
        bare: String(arrangement.bare ?? false),
        right_aligned: (arrangement.rightAligned ?? []).join(','),
      });
      return Number(pages);
    },
    async store(store) {
      await call('StoreDocument', storeJob(module, store));
      await checkOfficeOutput(store.target, store.format, document.filename);
    },
  };
}

function storeJob(module: OfficeModule, store: StoreOptions): Record<string, string> {
  const { format, target, filterOptions = '', data = {} } = store;
  const filter = exportFilter(module, format);
  if (filter === undefined) throw new Error(`LibreOffice ${module} writes no ${format}`);
  const entries = Object.entries(data).map(([name, value]) => [`data.${name}`, typed(value)] as const);
  return {
    store_target: pathToFileURL(target).href,
    store_filter: filter,
    store_filter_options: filterOptions,
    ...Object.fromEntries(entries),
  };
}

function typed(value: boolean | number | string): string {
  if (typeof value === 'boolean') return `b:${value}`;
  return typeof value === 'number' ? `n:${value}` : `s:${value}`;
}

/** How the filters for Office 97-2003 report a password they have not got: they ask no question (`ERRCODE_SVX_WRONGPASS`). */
const wrongPassword = /\b1000F\b/;

function asksPassword({ status, detail }: MacroResult): boolean {
  return detail.includes('PasswordRequest') || (status === 'not_loaded' && wrongPassword.test(detail));
}

function openFailure({ status, detail }: MacroResult, { document, options, module }: Opening): Failure {
  const { filename: file, type } = document;
  const details = { file, log: `${status} ${detail}` };
  if (asksPassword({ status, detail }) || (status === 'not_loaded' && type === 'encrypted_office')) {
    const why = options.password === undefined ? 'is protected with a password' : 'does not open with this password';
    return new Failure('password_required', `${file} ${why}.`, details);
  }
  if (status === 'not_loaded') return unreadable(document, details.log);
  if (status === 'other_kind') return new Failure('invalid_input', `${file} is not a ${kinds[module]}.`, details);
  if (status === 'changes_remain') {
    return new Failure('engine_failed', `The tracked changes of ${file} could not be accepted.`, details);
  }
  return unexpected({ status, detail }, document);
}

/** What the stream `Current User` says of an encrypted presentation, after the length of its header. */
const lockedPptMark = Buffer.from([0x14, 0, 0, 0, 0xdf, 0xc4, 0xd1, 0xf3]);

async function isLockedPpt(path: string): Promise<boolean> {
  let tail = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const window = Buffer.concat([tail, chunk]);
    if (window.includes(lockedPptMark)) return true;
    tail = window.subarray(-(lockedPptMark.length - 1));
  }
  return false;
}

function lockedPpt({ filename: file }: OfficeDocument): Failure {
  const message = `${file} is protected with a password. Of PowerPoint 97-2003 such files cannot be opened here: save it as PPTX, or without the password.`;
  return new Failure('password_required', message, { file });
}

const kinds: Record<OfficeModule, string> = {
  writer: 'text document',
  calc: 'spreadsheet',
  impress: 'presentation',
};

function unreadable({ filename: file }: OfficeDocument, log?: string): Failure {
  return new Failure('invalid_input', `${file} is damaged or not a document that can be read.`, { file, log });
}

function unexpected({ status, detail }: MacroResult, { filename: file }: OfficeDocument): Failure {
  return new Failure('engine_failed', `LibreOffice could not convert ${file}.`, { file, log: `${status} ${detail}` });
}

/** `[0, 1, 2, 6]` → `1-3,7`, as LibreOffice reads it: order and duplicates kept. */
export function toPageRange(pages: readonly number[]): string {
  const runs: { from: number; to: number }[] = [];
  for (const page of pages) {
    const last = runs.at(-1);
    if (last !== undefined && page === last.to + 1) last.to = page;
    else runs.push({ from: page, to: page });
  }
  return runs.map(({ from, to }) => (from === to ? `${from + 1}` : `${from + 1}-${to + 1}`)).join(',');
}
