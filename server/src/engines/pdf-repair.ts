import { copyFile, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { isBlankPage } from './visible-area.ts';
import { redrawPdf } from './ghostscript.ts';
import { salvagePdf } from './pdf-edit.ts';
import { keepReadable, openPdf, savePdf, writeSelection } from './pdf-lib.ts';
import { readPdf } from './pdfium.ts';
import { countPages, removeEncryption, type QpdfInput } from './qpdf-program.ts';

/** A way to rescue a file: writes what it can read to `output`. */
interface Means {
  name: string;
  rescue(input: QpdfInput, output: string): Promise<unknown>;
}

/** Writes the cross-reference table anew; objects stay as they are. */
const rewritten: Means = { name: 'qpdf', rescue: removeEncryption };

/** Looks for objects without any table, so that a file without its end is read as far as it goes. */
const collected: Means = {
  name: 'pdf-lib',
  rescue: async (input, output) => savePdf((await openPdf(input)).context, output),
};

/** Looks for pages one by one: without the tree above them, or the content of other pages. */
const salvaged: Means = {
  name: 'pdf-lib, page by page',
  async rescue({ path, filename }, output) {
    const file = await salvagePdf(path, filename);
    await writeSelection([{ file, pages: [...file.pages.keys()] }], output);
  },
};

/** Draws what can still be drawn: forms, bookmarks and tags may be lost. */
const redrawn: Means = {
  name: 'Ghostscript',
  rescue: ({ path, ...input }, output) => redrawPdf({ ...input, input: path, output }),
};

const gentle = [rewritten, collected, salvaged];

/** What no other means would change. */
const final = new Set(['password_required', 'resource_limit', 'timed_out', 'cancelled']);

/** What a rescue brought back. */
export interface Rescue {
  means: string;
  pages: number;
  /** How many parts of page content could be read only up to where they are damaged. */
  cut: number;
}

/**
 * Writes a readable copy of a damaged PDF. The first means that works is taken; with `aggressive` every means is tried and
 * the one that brings back most pages taken. A result counts when qpdf and PDFium both open it with the same pages.
 *
 * @throws Failure `password_required`; `invalid_input` when nothing can be rescued.
 */
export async function repairPdf(input: QpdfInput, output: string, aggressive: boolean): Promise<Rescue> {
  const directory = await mkdtemp(join(input.scratch, 'repair-'));
  const problems: string[] = [];
  let tried = 0;
  let best: (Omit<Rescue, 'cut'> & { path: string }) | undefined;
  for (const means of aggressive ? [...gentle, redrawn] : gentle) {
    const path = join(directory, `${tried++}.pdf`);
    try {
      await means.rescue(input, path);
      const pages = await pagesOf({ ...input, path, password: undefined });
      if (means === redrawn) await refuseBlank(input, path);
      if (pages > (best?.pages ?? 0)) best = { means: means.name, pages, path };
    } catch (error) {
      input.signal.throwIfAborted();
      if (!(error instanceof Failure) || final.has(error.code)) throw error;
      problems.push(`${means.name}: ${error.message} ${error.log ?? ''}`);
    }
    if (best !== undefined && !aggressive) break;
  }
  if (best === undefined) {
    const message = `Nothing could be rescued from ${input.filename}: no page can be read.`;
    throw new Failure('invalid_input', message, { file: input.filename, log: problems.join('\n') });
  }
  const cut = await keepReadableParts({ ...input, path: best.path, password: undefined }, output);
  return { means: best.means, pages: best.pages, cut };
}

/** A reader stops in the middle of damaged content, and says nothing: what can be read of it is written anew. */
async function keepReadableParts(rescued: QpdfInput, output: string): Promise<number> {
  const file = await openPdf(rescued).catch(() => undefined);
  const cut = file === undefined ? 0 : await keepReadable(file);
  if (file === undefined || cut === 0) await copyFile(rescued.path, output);
  else await savePdf(file.context, output);
  return cut;
}

/** @throws Failure when the two programs do not find the same pages, or one of them is not there. */
async function pagesOf(rescued: QpdfInput): Promise<number> {
  const pages = await countPages(rescued);
  const shown = await readPdf(rescued, (reader) => {
    for (let page = 0; page < reader.pageCount; page++) reader.pageSize(page);
    return Promise.resolve(reader.pageCount);
  });
  if (pages === shown) return pages;
  throw new Failure('engine_failed', `qpdf finds ${pages} pages, PDFium ${shown}.`);
}

async function refuseBlank({ filename, scratch }: QpdfInput, path: string): Promise<void> {
  await readPdf({ path, filename, scratch }, (reader) => {
    for (let page = 0; page < reader.pageCount; page++) if (!isBlankPage(reader, page)) return Promise.resolve();
    throw new Failure('engine_failed', 'Every page is blank.');
  });
}
