import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFArray, PDFDict, PDFName, PDFParser, PDFRef, type PDFContext, type PDFObject } from '@cantoo/pdf-lib';
import { Failure } from '../../lib/failure.ts';
import { decryptPdf } from '../qpdf.ts';
import { arrayEntry, dictEntry, entry, numberEntry, rawEntry, resolve } from './objects.ts';
import { childrenOf } from './write.ts';

/** A PDF in memory, ready to be taken apart. Its objects may be changed: nothing else sees them. */
export interface PdfFile {
  /** The given name, for messages. */
  readonly filename: string;
  readonly context: PDFContext;
  readonly catalog: PDFDict;
  /** The pages in order. What a page inherits from the tree above it has been copied into it. */
  readonly pages: readonly PDFRef[];
  /** True when it was encrypted: what is written from it is not. */
  readonly wasEncrypted: boolean;
}

export interface OpenOptions {
  path: string;
  filename: string;
  password?: string | undefined;
  /** A private directory for a decrypted copy. */
  scratch: string;
  /** Opens a file too whose pages have lost their content. */
  allowsLostContent?: boolean;
}

/**
 * Reads a PDF. The reader looks for objects, not for the cross-reference table, so a file with a damaged table or a lost
 * end is read as far as it goes.
 *
 * @throws Failure `password_required`, `invalid_input` when no page can be found, `resource_limit` for too many pages.
 */
export async function openPdf(options: OpenOptions, maxPages: number): Promise<PdfFile> {
  const context = await parse(options.path, options.filename);
  if (context.trailerInfo.Encrypt === undefined) return describe(context, options, maxPages, false);
  const directory = await mkdtemp(join(options.scratch, 'decrypted-'));
  const output = join(directory, 'decrypted.pdf');
  await decrypt(options, output, directory);
  const decrypted = describe(await parse(output, options.filename), options, maxPages, true);
  await rm(directory, { recursive: true });
  return decrypted;
}

/** The WebAssembly build of qpdf cannot open a file whose table is damaged; the program, where it is installed, can. */
async function decrypt({ path, filename, password }: OpenOptions, output: string, directory: string): Promise<void> {
  try {
    await decryptPdf({ input: path, output, filename }, password);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid_input') throw error;
    const { qpdfProgram, removeEncryption } = await import('../qpdf-program.ts');
    if ((await qpdfProgram.version()) === undefined) throw error;
    const { signal } = new AbortController();
    await removeEncryption({ path, filename, password, scratch: directory, signal }, output).catch((cause: unknown) => {
      throw cause instanceof Failure && cause.code === 'password_required' ? cause : error;
    });
  }
}

/** The objects of a file, as far as they can be found. */
export async function parse(path: string, filename: string): Promise<PDFContext> {
  const bytes = await readFile(path);
  try {
    // The fifth flag caps numbers that no reader can hold, instead of failing.
    const context = await PDFParser.forBytesWithOptions(bytes, Infinity, false, false, true).parseDocument();
    keepNumbersOfLostObjects(context);
    return context;
  } catch (cause) {
    throw damaged(filename, cause);
  }
}

/** Readers know no higher numbers of objects. */
const maxObjectNumber = 4_000_000;

/** A new object must not get the number of one that is referred to and not there: it would take its place. */
function keepNumbersOfLostObjects(context: PDFContext): void {
  let highest = context.largestObjectNumber;
  const waiting: PDFObject[] = context.enumerateIndirectObjects().map(([, object]) => object);
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (!(value instanceof PDFRef)) for (const child of childrenOf(value)) waiting.push(child);
    else if (value.objectNumber <= maxObjectNumber) highest = Math.max(highest, value.objectNumber);
  }
  context.largestObjectNumber = highest;
}

export function damaged(filename: string, cause?: unknown): Failure {
  return new Failure('invalid_input', `${filename} is damaged: no pages could be read from it.`, {
    file: filename,
    cause,
    ...(cause === undefined ? {} : { log: String(cause) }),
  });
}

function describe(
  context: PDFContext,
  { filename, allowsLostContent = false }: OpenOptions,
  maxPages: number,
  wasEncrypted: boolean,
): PdfFile {
  const catalog = resolve(context, context.trailerInfo.Root);
  if (!(catalog instanceof PDFDict)) throw damaged(filename);
  const pages = readPages(context, catalog, filename, maxPages);
  const lost = allowsLostContent ? -1 : pages.findIndex((page) => hasLostContent(resolve(context, page)));
  if (lost >= 0) throw lostContent(filename, lost + 1);
  return { filename, context, catalog, pages, wasEncrypted };
}

const inheritable = ['Resources', 'MediaBox', 'CropBox', 'Rotate'] as const;
type Inherited = ReadonlyMap<string, PDFObject>;

/** A node of the page tree, and how many pages stand directly below it. */
interface TreeNode {
  dict: PDFDict;
  pages: number;
  hasNodes: boolean;
}

/**
 * Walks the page tree without recursion: `Count` is not believed, and a node that comes again is a loop. A tree that says
 * or holds anything else than its pages, each once, is written anew: other readers would lose their way.
 */
function readPages(context: PDFContext, catalog: PDFDict, filename: string, maxPages: number): PDFRef[] {
  const pages: PDFRef[] = [];
  const seenNodes = new Map<PDFDict, TreeNode>();
  const seenPages = new Set<PDFDict>();
  let isSound = true;
  const waiting: { value: PDFObject; inherited: Inherited; above?: TreeNode }[] = [];
  const root = rawEntry(catalog, 'Pages');
  if (root !== undefined) waiting.push({ value: root, inherited: new Map() });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const node = resolve(context, next.value);
    if (!(node instanceof PDFDict)) {
      isSound = false;
      continue;
    }
    const kids = arrayEntry(node, 'Kids');
    if (kids === undefined) {
      if (pages.length === maxPages) throw tooManyPages(filename, maxPages);
      const isKnown = seenPages.has(node);
      if (isKnown) isSound = false;
      seenPages.add(node);
      pages.push(isKnown ? context.register(node.clone(context)) : pageReference(context, next.value, node));
      inherit(node, next.inherited);
      if (next.above !== undefined) next.above.pages += 1;
      continue;
    }
    if (seenNodes.has(node)) throw new Failure('invalid_input', `${filename} is damaged: its page tree has a loop.`);
    const known = { dict: node, pages: 0, hasNodes: false };
    seenNodes.set(node, known);
    if (next.above !== undefined) next.above.hasNodes = true;
    const inherited = collectInherited(context, node, next.inherited);
    if (kids.size() > maxPages) throw tooManyPages(filename, maxPages);
    for (const kid of kids.asArray().toReversed()) waiting.push({ value: kid, inherited, above: known });
  }
  if (pages.length === 0) throw damaged(filename);
  const tree = dictEntry(catalog, 'Pages');
  const saysRight = (node: TreeNode) => node.hasNodes || numberEntry(node.dict, 'Count') === node.pages;
  if (tree === undefined || numberEntry(tree, 'Count') !== pages.length) isSound = false;
  if (!isSound || ![...seenNodes.values()].every(saysRight)) writeTree(context, catalog, pages);
  return pages;
}

/** All pages below one node; what they inherit has been copied into them. */
function writeTree(context: PDFContext, catalog: PDFDict, pages: readonly PDFRef[]): void {
  const root = context.register(context.obj({ Type: 'Pages', Kids: [...pages], Count: pages.length }));
  for (const page of pages) {
    const dict = resolve(context, page);
    if (dict instanceof PDFDict) dict.set(PDFName.of('Parent'), root);
  }
  catalog.set(PDFName.of('Pages'), root);
}

/** True when the page names content that is not in the file, as in a download that broke off. */
export function hasLostContent(page: PDFObject | undefined): boolean {
  if (!(page instanceof PDFDict)) return false;
  const contents = rawEntry(page, 'Contents');
  const array = entry(page, 'Contents');
  const parts = array instanceof PDFArray ? array.asArray() : [contents];
  return parts.some((part) => part instanceof PDFRef && page.context.lookup(part) === undefined);
}

function lostContent(filename: string, page: number): Failure {
  return new Failure('invalid_input', `${filename} is damaged: the content of page ${page} is missing.`, {
    file: filename,
  });
}

function tooManyPages(filename: string, maxPages: number): Failure {
  return new Failure('resource_limit', `${filename} has more than ${maxPages} pages.`, { file: filename });
}

function pageReference(context: PDFContext, value: PDFObject, page: PDFDict): PDFRef {
  return value instanceof PDFRef ? value : context.register(page);
}

function collectInherited(context: PDFContext, node: PDFDict, above: Inherited): Inherited {
  const inherited = new Map(above);
  for (const key of inheritable) {
    const value = rawEntry(node, key);
    if (value === undefined) continue;
    // A dictionary of its own would be copied once a page; a reference is shared.
    inherited.set(key, value instanceof PDFDict ? context.register(value) : value);
  }
  return inherited;
}

function inherit(page: PDFDict, inherited: Inherited): void {
  for (const [key, value] of inherited) {
    if (entry(page, key) === undefined) page.set(PDFName.of(key), value);
  }
}
