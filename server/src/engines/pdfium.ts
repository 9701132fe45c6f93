import { mkdtemp, open, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { damagedPage, findDamagedPages, maxPages, openPdf, savePdf } from './pdf-lib.ts';
import { scanForDamage } from './pdf/damage-scan.ts';
import { flattenAnnotations, hasDrawnAnnotations, type AnnotationModule } from './pdfium-annotations.ts';
import { letTableGrow, provideCjkFonts, type FontModule } from './pdfium-cjk-fonts.ts';
import {
  hideText,
  keepDrawings,
  readContent,
  readLinks,
  type Box,
  type ContentModule,
  type ContentOptions,
  type PageContent,
} from './pdfium-content.ts';

const require = createRequire(import.meta.url);

/** Shows PDFs as a reader would: pictures and text of pages. */
export const pdfium: Engine = {
  id: 'pdfium',
  name: 'PDFium',
  license: 'Apache-2.0',
  async version() {
    const manifest = await readFile(require.resolve('@hyzyla/pdfium').replace(/dist\/.*$/, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  },
};

/** PDFium's C functions and memory, as Emscripten shows them. Pointers are numbers; 0 is none. */
interface PdfiumModule extends ContentModule, AnnotationModule, FontModule {
  readonly HEAPU8: Uint8Array;
  readonly HEAPF32: Float32Array;
  readonly HEAPF64: Float64Array;
  wasmExports: ContentModule['wasmExports'] & FontModule['wasmExports'];
  _PDFium_Init(): void;
  _FPDF_LoadMemDocument(data: number, size: number, password: number): number;
  _FPDF_GetLastError(): number;
  _FPDF_GetPageCount(document: number): number;
  _FPDF_GetPageSizeByIndexF(document: number, page: number, size: number): number;
  _FPDF_LoadPage(document: number, page: number): number;
  _FPDF_ClosePage(page: number): void;
  _FPDFBitmap_CreateEx(width: number, height: number, format: number, data: number, stride: number): number;
  _FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, color: number): void;
  _FPDFBitmap_Destroy(bitmap: number): void;
  _FPDF_RenderPageBitmap(
    bitmap: number,
    page: number,
    x: number,
    y: number,
    width: number,
    height: number,
    rotate: number,
    flags: number,
  ): void;
  _FPDFDOC_InitFormFillEnvironment(document: number, callbacks: number): number;
  _FPDF_FFLDraw(
    form: number,
    bitmap: number,
    page: number,
    x: number,
    y: number,
    width: number,
    height: number,
    rotate: number,
    flags: number,
  ): void;
  _FPDFPage_GetRotation(page: number): number;
  _FPDFText_LoadPage(page: number): number;
  _FPDFText_ClosePage(text: number): void;
  _FPDFText_CountChars(text: number): number;
  /** Writes UTF-16 with a NUL at the end; returns the length with it, in code units. */
  _FPDFText_GetText(text: number, start: number, count: number, result: number): number;
  _FPDFText_GetUnicode(text: number, index: number): number;
  _FPDFText_IsGenerated(text: number, index: number): number;
  _FPDFText_IsHyphen(text: number, index: number): number;
  _FPDFText_GetCharAngle(text: number, index: number): number;
  _FPDFText_GetLooseCharBox(text: number, index: number, box: number): number;
}

export interface PageSize {
  /** Points (1/72 inch), as the page is shown: rotation applied. */
  width: number;
  height: number;
}

export interface RenderedPage {
  width: number;
  height: number;
  channels: 3 | 4;
  /** Rows of RGB or RGBA, 8 bits each, not premultiplied. */
  pixels: Buffer;
}

/** One character on a page. */
export interface PageCharacter {
  text: string;
  /** Points to the right and downwards, on the page as it is shown; only differences mean something. */
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** A space or line end that is not in the file: PDFium concluded it from the distance. */
  isGenerated: boolean;
  /** A hyphen at the end of a line, within a word. */
  isHyphen: boolean;
  /** Radians anticlockwise, on the page as it is shown; 0 for upright text. */
  angle: number;
}

export interface PdfReader {
  readonly pageCount: number;
  pageSize(page: number): PageSize;
  /**
   * @throws Failure `resource_limit` for a page larger than 14 400 points or 100 megapixels; `invalid_input`
   */
  render(page: number, options: RenderOptions): RenderedPage;
  /**
   * The text of a page in reading order, as PDFium gives it: lines end with CR LF, U+FFFE is a hyphen at a line's end. What
   * stands in fields and notes comes last.
   */
  text(page: number): string;
  /** The characters of a page in the order PDFium reads them. */
  characters(page: number): PageCharacter[];
  /** What is on a page, for converters: characters with their looks, lines, pictures, links. */
  content(page: number, options?: ContentOptions): PageContent;
}

export interface RenderOptions {
  dpi: number;
  transparent: boolean;
  /** Paints everything but the text of the page. */
  withoutText?: boolean;
  /** Paints nothing but the vector drawings in these places. */
  drawingsIn?: readonly Box[];
}

export interface ReadPdfOptions {
  path: string;
  /** The given name, for messages. */
  filename: string;
  password?: string | undefined;
  /** A private directory for a repaired copy of a damaged file. */
  scratch: string;
}

/** The largest page readers accept, in points. */
const maxPagePoints = 14_400;
const maxPixels = 100_000_000;
/** What FPDF_GetLastError says. */
const passwordError = 4;
const securityError = 5;

const bitmapFormats = { opaque: { code: 2, channels: 3 }, transparent: { code: 4, channels: 4 } } as const;
const annotations = 0x01;
const reverseByteOrder = 0x10;

/**
 * Opens a PDF for as long as `use` runs. Every file gets an instance of its own, because memory that WebAssembly has taken
 * is never given back, and a crash must not reach the next file. PDFium shows what it can read of a damaged page as if it
 * were all, so such a page is refused when it is read.
 *
 * @throws Failure `password_required`, `invalid_input`; what `use` throws.
 */
export async function readPdf<T>(options: ReadPdfOptions, use: (reader: PdfReader) => Promise<T>): Promise<T> {
  const module = await instantiate();
  try {
    const { document, data } = await loadDocument(module, options);
    const scan = scanForDamage(module.HEAPU8.subarray(data.pointer, data.pointer + data.size));
    const damaged = scan === 'suspicious' ? await findDamagedPages(options) : new Set<number>();
    const emptyPages = new Set<number>();
    const reader = createReader(module, document, { filename: options.filename, damaged, emptyPages });
    try {
      return await use(reader);
    } finally {
      // What is encrypted cannot be judged before it is decrypted, which takes long: only where a page gave nothing.
      if (scan === 'unknown' && emptyPages.size > 0) await refuseDamaged(emptyPages, options);
    }
  } catch (cause) {
    // What WebAssembly throws when the code in it crashes.
    if (!(cause instanceof Error) || cause.name !== 'RuntimeError') throw cause;
    throw new Failure('engine_failed', `${options.filename} could not be read.`, {
      file: options.filename,
      cause,
      log: String(cause),
    });
  }
}

async function refuseDamaged(pages: ReadonlySet<number>, options: ReadPdfOptions): Promise<void> {
  const damaged = await findDamagedPages(options);
  for (const page of pages) if (damaged.has(page)) throw damagedPage(options.filename, page);
}

/** Not in the types of Node. */
const { Instance } = WebAssembly as unknown as {
  Instance: new (module: WebAssembly.Module, imports: object) => { exports: object };
};
let compiled: Promise<WebAssembly.Module> | undefined;

async function instantiate(): Promise<PdfiumModule> {
  const { PDFiumModule } = await import('@hyzyla/pdfium');
  compiled ??= readFile(require.resolve('@hyzyla/pdfium/pdfium.wasm')).then((bytes) => {
    letTableGrow(bytes);
    return WebAssembly.compile(bytes);
  });
  const wasm = await compiled;
  const module = (await PDFiumModule({
    instantiateWasm(imports: object, done: (instance: object) => void) {
      const instance = new Instance(wasm, imports);
      done(instance);
      return instance.exports;
    },
  })) as unknown as PdfiumModule;
  module._PDFium_Init();
  provideCjkFonts(module);
  return module;
}

/** An open document, and the bytes of its file in PDFium's memory. */
interface LoadedDocument {
  document: number;
  data: { pointer: number; size: number };
}

async function loadDocument(module: PdfiumModule, options: ReadPdfOptions): Promise<LoadedDocument> {
  const { filename, password } = options;
  const loaded = await tryLoad(module, options.path, options);
  if (loaded !== undefined && hasItsPages(module, loaded.document)) return loaded;
  const error = module._FPDF_GetLastError();
  if (error === passwordError) {
    const message = password === undefined ? `${filename} needs a password.` : `The password for ${filename} is wrong.`;
    throw new Failure('password_required', message, { file: filename });
  }
  if (error === securityError) {
    throw new Failure('invalid_input', `${filename} is encrypted in a way that cannot be opened.`, { file: filename });
  }
  const repaired = await tryLoad(module, await repair(options), options);
  if (repaired !== undefined) return repaired;
  throw new Failure('invalid_input', `${filename} is damaged: no pages could be read from it.`, {
    file: filename,
    log: `PDFium error ${error}`,
  });
}

async function tryLoad(
  module: PdfiumModule,
  path: string,
  { filename, password }: ReadPdfOptions,
): Promise<LoadedDocument | undefined> {
  const data = await loadFile(module, path, filename);
  const document = withText(module, password ?? '', (text) =>
    module._FPDF_LoadMemDocument(data.pointer, data.size, text),
  );
  if (document !== 0) return { document, data };
  module.wasmExports.free(data.pointer);
  return undefined;
}

/** PDFium believes how many pages a file says it has; the last one tells. */
function hasItsPages(module: PdfiumModule, document: number): boolean {
  const count = module._FPDF_GetPageCount(document);
  if (count <= 0 || count > maxPages) return true; // Refused later, with words of their own.
  return withMemory(module, 8, (size) => module._FPDF_GetPageSizeByIndexF(document, count - 1, size) !== 0);
}

/** The other library finds objects without the table that PDFium could not read. */
async function repair({ path, filename, password, scratch }: ReadPdfOptions): Promise<string> {
  const { context } = await openPdf({ path, filename, password, scratch });
  const output = join(await mkdtemp(join(scratch, 'repaired-')), 'repaired.pdf');
  await savePdf(context, output);
  return output;
}

/** Reads the file straight into PDFium's memory, so that it is held once. */
async function loadFile(module: PdfiumModule, path: string, filename: string) {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    if (size === 0) throw new Failure('invalid_input', `${filename} is empty.`, { file: filename });
    const pointer = module.wasmExports.malloc(size);
    if (pointer === 0)
      throw new Failure('resource_limit', `${filename} is too large to be opened.`, { file: filename });
    for (let done = 0; done < size;) {
      const chunk = module.HEAPU8.subarray(pointer + done, pointer + Math.min(size, done + 4 * 1024 * 1024));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return { pointer, size };
  } finally {
    await handle.close();
  }
}

function withText<T>(module: PdfiumModule, text: string, use: (pointer: number) => T): T {
  const bytes = Buffer.from(`${text}\0`, 'utf8');
  return withMemory(module, bytes.length, (pointer) => {
    module.HEAPU8.set(bytes, pointer);
    return use(pointer);
  });
}

function withMemory<T>(module: PdfiumModule, size: number, use: (pointer: number) => T): T {
  const pointer = module.wasmExports.malloc(size);
  if (pointer === 0) throw new Failure('resource_limit', 'The page needs more memory than there is.');
  try {
    return use(pointer);
  } finally {
    module.wasmExports.free(pointer);
  }
}

/** What is known of a document beside what PDFium knows. Pages are 0-based. */
interface ReaderFacts {
  filename: string;
  damaged: ReadonlySet<number>;
  /** Filled with the pages on which nothing was found. */
  emptyPages: Set<number>;
}

function createReader(
  module: PdfiumModule,
  document: number,
  { filename, damaged, emptyPages }: ReaderFacts,
): PdfReader {
  const pageCount = module._FPDF_GetPageCount(document);
  const broken = (page: number) =>
    new Failure('invalid_input', `Page ${page + 1} of ${filename} is damaged.`, { file: filename });
  if (pageCount <= 0) throw new Failure('invalid_input', `${filename} has no pages.`, { file: filename });
  if (pageCount > maxPages) {
    throw new Failure('resource_limit', `${filename} has more than ${maxPages} pages.`, { file: filename });
  }

  const pageSize = (page: number): PageSize =>
    withMemory(module, 8, (pointer) => {
      if (module._FPDF_GetPageSizeByIndexF(document, page, pointer) === 0) throw broken(page);
      const [width = 0, height = 0] = module.HEAPF32.subarray(pointer / 4, pointer / 4 + 2);
      return { width, height };
    });
  let form: number | undefined;
  const withPage = <T>(page: number, use: (pointer: number) => T): T => {
    if (damaged.has(page)) throw damagedPage(filename, page);
    const pointer = module._FPDF_LoadPage(document, page);
    if (pointer === 0) throw broken(page);
    try {
      if (module._FPDFPage_CountObjects(pointer) === 0) emptyPages.add(page);
      return use(pointer);
    } finally {
      module._FPDF_ClosePage(pointer);
    }
  };
  const links = new Map<number, PageContent['links']>();
  const flattened = new Set<number>();
  /** Opens a page with its fields, notes and stamps as part of it: their text would be missing. */
  const withWholePage = <T>(page: number, use: (pointer: number) => T): T => {
    if (!flattened.has(page)) {
      flattened.add(page);
      withPage(page, (pointer) => {
        if (!hasDrawnAnnotations(module, pointer)) return;
        links.set(page, readLinks(module, { document, page: pointer }));
        form ??= openForm(module, document);
        flattenAnnotations(module, pointer, form);
      });
    }
    return withPage(page, use);
  };
  return {
    pageCount,
    pageSize,
    render(page, { dpi, transparent, withoutText = false, drawingsIn }) {
      const pixels = pixelSize(pageSize(page), dpi, `Page ${page + 1} of ${filename}`);
      form ??= openForm(module, document);
      const handles = { form };
      const open = withoutText ? withWholePage : withPage;
      return open(page, (pointer) => {
        if (withoutText) hideText(module, pointer);
        if (drawingsIn === undefined)
          return renderPage(module, { page: pointer, ...handles }, { ...pixels, transparent });
        keepDrawings(module, pointer, drawingsIn);
        return renderPage(module, { page: pointer, form: 0 }, { ...pixels, transparent, flags: 0 });
      });
    },
    text: (page) => withWholePage(page, (pointer) => readText(module, pointer)),
    characters: (page) => withWholePage(page, (pointer) => readCharacters(module, pointer)),
    content: (page, options = {}) =>
      withWholePage(page, (pointer) => {
        const content = readContent(module, { document, page: pointer }, pageSize(page), options);
        return { ...content, links: links.get(page) ?? content.links };
      }),
  };
}

/** Form fields are drawn by a part of its own; it wants a table of callbacks, none of which is needed. */
function openForm(module: PdfiumModule, document: number): number {
  const tableBytes = 256;
  const callbacks = module.wasmExports.malloc(tableBytes);
  if (callbacks === 0) return 0;
  module.HEAPU8.fill(0, callbacks, callbacks + tableBytes);
  module.HEAPU8[callbacks] = 2; // The version of the table.
  return module._FPDFDOC_InitFormFillEnvironment(document, callbacks);
}

function pixelSize(size: PageSize, dpi: number, name: string): { width: number; height: number } {
  if (size.width > maxPagePoints || size.height > maxPagePoints) {
    throw new Failure('resource_limit', `${name} is larger than ${maxPagePoints} points, the largest a page may be.`);
  }
  const [width, height] = [size.width, size.height].map((points) => Math.max(1, Math.round((points * dpi) / 72))) as [
    number,
    number,
  ];
  if (width * height <= maxPixels) return { width, height };
  throw new Failure(
    'resource_limit',
    `${name} at ${dpi} dpi would be ${width} x ${height} pixels; at most ${maxPixels / 1_000_000} megapixels are made.`,
  );
}

function renderPage(
  module: PdfiumModule,
  { page, form }: { page: number; form: number },
  {
    width,
    height,
    transparent,
    flags = annotations,
  }: { width: number; height: number; transparent: boolean; flags?: number },
): RenderedPage {
  const { code, channels } = transparent ? bitmapFormats.transparent : bitmapFormats.opaque;
  // Rows begin at multiples of four bytes, or PDFium refuses the bitmap.
  const stride = Math.ceil((width * channels) / 4) * 4;
  return withMemory(module, stride * height, (data) => {
    const bitmap = module._FPDFBitmap_CreateEx(width, height, code, data, stride);
    if (bitmap === 0) throw new Failure('resource_limit', 'The page needs more memory than there is.');
    try {
      module._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, transparent ? 0 : 0xff_ff_ff_ff);
      if (form !== 0) module._FORM_OnAfterLoadPage(page, form);
      module._FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags | reverseByteOrder);
      if (form !== 0) {
        module._FPDF_FFLDraw(form, bitmap, page, 0, 0, width, height, 0, reverseByteOrder);
        module._FORM_OnBeforeClosePage(page, form);
      }
      return { width, height, channels, pixels: copyRows(module.HEAPU8, data, stride, width * channels, height) };
    } finally {
      module._FPDFBitmap_Destroy(bitmap);
    }
  });
}

function copyRows(heap: Uint8Array, data: number, stride: number, rowBytes: number, rows: number): Buffer {
  if (stride === rowBytes) return Buffer.from(heap.subarray(data, data + stride * rows));
  const pixels = Buffer.allocUnsafe(rowBytes * rows);
  for (let row = 0; row < rows; row++) {
    pixels.set(heap.subarray(data + row * stride, data + row * stride + rowBytes), row * rowBytes);
  }
  return pixels;
}

/** More characters than this on one page are an attack on the layout, not text. */
const maxCharacters = 500_000;

function readText(module: PdfiumModule, page: number): string {
  const text = module._FPDFText_LoadPage(page);
  if (text === 0) return '';
  try {
    const count = Math.min(maxCharacters, module._FPDFText_CountChars(text));
    return withMemory(module, (count + 1) * 2, (result) => {
      const length = module._FPDFText_GetText(text, 0, count, result) - 1;
      return Buffer.from(module.HEAPU8.subarray(result, result + Math.max(0, length) * 2)).toString('utf16le');
    });
  } finally {
    module._FPDFText_ClosePage(text);
  }
}

function readCharacters(module: PdfiumModule, page: number): PageCharacter[] {
  const text = module._FPDFText_LoadPage(page);
  if (text === 0) return [];
  try {
    const count = Math.min(maxCharacters, module._FPDFText_CountChars(text));
    const turns = module._FPDFPage_GetRotation(page);
    return withMemory(module, 16, (box) => {
      const characters: PageCharacter[] = [];
      for (let index = 0; index < count; index++) characters.push(readCharacter(module, { text, index, box, turns }));
      return characters;
    });
  } finally {
    module._FPDFText_ClosePage(text);
  }
}

function readCharacter(
  module: PdfiumModule,
  { text, index, box, turns }: { text: number; index: number; box: number; turns: number },
): PageCharacter {
  const unicode = module._FPDFText_GetUnicode(text, index);
  module.HEAPF32.fill(0, box / 4, box / 4 + 4);
  module._FPDFText_GetLooseCharBox(text, index, box);
  const [left = 0, top = 0, right = 0, bottom = 0] = module.HEAPF32.subarray(box / 4, box / 4 + 4);
  return {
    text: unicode === 0 || unicode > 0x10_ff_ff ? '' : String.fromCodePoint(unicode),
    ...asShown({ left, top, right, bottom }, turns),
    isGenerated: module._FPDFText_IsGenerated(text, index) === 1,
    isHyphen: module._FPDFText_IsHyphen(text, index) === 1,
    angle: module._FPDFText_GetCharAngle(text, index) - (turns * Math.PI) / 2,
  };
}

/** PDF counts upwards and before the page is turned (in quarters, clockwise); people read downwards and after it. */
function asShown({ left, top, right, bottom }: Record<'left' | 'top' | 'right' | 'bottom', number>, turns: number) {
  if (turns === 1) return { left: bottom, right: top, top: left, bottom: right };
  if (turns === 2) return { left: -right, right: -left, top: bottom, bottom: top };
  if (turns === 3) return { left: -top, right: -bottom, top: -right, bottom: -left };
  return { left, right, top: -top, bottom: -bottom };
}
