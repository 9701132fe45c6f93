import { existsSync, readFileSync } from 'node:fs';

/** What of PDFium it takes to give it fonts. */
export interface FontModule {
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  wasmExports: { malloc(size: number): number; __indirect_function_table: FunctionTable };
  _FPDF_SetSystemFontInfo(info: number): void;
}

interface FunctionTable {
  readonly length: number;
  grow(by: number): number;
  set(index: number, value: unknown): void;
}

/** Not in the types of Node. */
const { Module, Instance } = WebAssembly as unknown as {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
};

/** Noto's collections hold the languages in this order. Windows' numbers of character sets are what PDFium asks by. */
const faceOfCharset = new Map([
  [128, 0], // Japanese
  [129, 1], // Korean
  [134, 2], // Simplified Chinese
  [136, 3], // Traditional Chinese
]);
const directory = '/usr/share/fonts/opentype/noto';
const serifFamily = 0x10;
const boldWeight = 600;
const collectionTag = 0x74_74_63_66;

/**
 * Gives PDFium, which sees no files, the fonts for Chinese, Japanese and Korean letters of PDFs that have none inside:
 * without them it leaves these letters out. A font is read when it is needed.
 */
export function provideCjkFonts(module: FontModule): void {
  const pathOf = (style: string) => `${directory}/Noto${style}.ttc`;
  if (!existsSync(pathOf('SansCJK-Regular'))) return;
  const fonts: { data: Buffer; face: number }[] = [];
  const files = new Map<string, Buffer>();
  const read = (path: string) => {
    const data = files.get(path) ?? readFileSync(path);
    files.set(path, data);
    return data;
  };
  const mapFont = (_info: number, weight: number, _italic: number, charset: number, pitch: number) => {
    const face = faceOfCharset.get(charset);
    if (face === undefined) return 0;
    const cut = weight >= boldWeight ? 'Bold' : 'Regular';
    const wanted = pathOf(`${(pitch & serifFamily) === 0 ? 'Sans' : 'Serif'}CJK-${cut}`);
    return fonts.push({ data: read(existsSync(wanted) ? wanted : pathOf('SansCJK-Regular')), face });
  };
  const fontData = (_info: number, handle: number, table: number, buffer: number, size: number) => {
    const font = fonts[handle - 1];
    if (font === undefined) return 0;
    const part = partOf(font, table);
    // Of a collection PDFium reads the beginning first, to know it again.
    if (part !== undefined && buffer !== 0) module.HEAPU8.set(part.subarray(0, size >>> 0), buffer);
    return part?.length ?? 0;
  };
  const nothing = () => 0;
  const callbacks = inTable(module, [
    { parameters: 1, call: nothing }, // Release
    { parameters: 2, call: nothing }, // EnumFonts
    { parameters: 7, returns: true, call: mapFont },
    { parameters: 2, returns: true, call: nothing }, // GetFont
    { parameters: 5, returns: true, call: fontData },
    { parameters: 4, returns: true, call: nothing }, // GetFaceName
    { parameters: 2, returns: true, call: nothing }, // GetFontCharset
    { parameters: 2, call: nothing }, // DeleteFont
  ]);
  const info = module.wasmExports.malloc((callbacks.length + 1) * 4);
  if (info === 0) return;
  module.HEAP32.set([1, ...callbacks], info / 4);
  module._FPDF_SetSystemFontInfo(info);
}

/** Lets the table of functions of a module grow, in the bytes of the module: PDFium's is as large as it may become. */
export function letTableGrow(bytes: Uint8Array): void {
  const tableSection = 4;
  let at = 8;
  while (at < bytes.length) {
    const id = bytes[at++];
    let size = 0;
    for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0;
      size += (byte & 0x7f) << shift;
    }
    at += size;
    if (id !== tableSection) continue;
    // The section ends with the limit, whose last byte holds its highest bits.
    bytes[at - 1] = (bytes[at - 1] ?? 0) | 0x7f;
    return;
  }
}

/** As Windows gives it: the whole collection, the font from its place in the collection on, or one table of it. */
function partOf({ data, face }: { data: Buffer; face: number }, table: number): Buffer | undefined {
  if (table === collectionTag) return data;
  const start = data.readUInt32BE(12 + face * 4);
  if (table === 0) return data.subarray(start);
  const tables = data.readUInt16BE(start + 4);
  for (let entry = start + 12; entry < start + 12 + tables * 16; entry += 16) {
    if (data.readUInt32BE(entry) !== table >>> 0) continue;
    const from = data.readUInt32BE(entry + 8);
    return data.subarray(from, from + data.readUInt32BE(entry + 12));
  }
  return undefined;
}

interface Callback {
  parameters: number;
  returns?: boolean;
  call(...values: number[]): number;
}

/** Puts functions where WebAssembly can call them; returns their places. All values are 32-bit integers. */
function inTable(module: FontModule, callbacks: readonly Callback[]): number[] {
  // The table takes only functions of WebAssembly, so a module of nothing else imports them and exports them again.
  const section = (id: number, items: readonly number[][]) => {
    const content = [items.length, ...items.flat()];
    return [id, (content.length & 0x7f) | 0x80, content.length >> 7, ...content];
  };
  const [integer, functionType] = [0x7f, 0x60];
  const types = callbacks.map(({ parameters, returns = false }) => [
    functionType,
    parameters,
    ...Array.from({ length: parameters }, () => integer),
    ...(returns ? [1, integer] : [0]),
  ]);
  const name = (index: number) => 97 + index;
  const imports = callbacks.map((_, index) => [1, 101, 1, name(index), 0, index]);
  const exports = callbacks.map((_, index) => [1, name(index), 0, index]);
  const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const bytes = Uint8Array.from([...header, ...section(1, types), ...section(2, imports), ...section(7, exports)]);
  const given = Object.fromEntries(callbacks.map(({ call }, index) => [String.fromCodePoint(name(index)), call]));
  const made = new Instance(new Module(bytes), { e: given }).exports;
  const table = module.wasmExports.__indirect_function_table;
  const start = table.grow(callbacks.length);
  callbacks.forEach((_, index) => table.set(start + index, made[String.fromCodePoint(name(index))]));
  return callbacks.map((_, index) => start + index);
}
