import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ReadInputBarcodeFormat, ReadResult } from 'zxing-wasm/reader';
import { Failure } from '../lib/failure.ts';
import { toError } from '../lib/errors.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const bwip: Engine = {
  id: 'bwip-js',
  name: 'bwip-js',
  license: 'MIT',
  version: () => packageVersion('bwip-js'),
};

export const zxing: Engine = {
  id: 'zxing',
  name: 'ZXing-C++',
  license: 'Apache-2.0',
  version: () => packageVersion('zxing-wasm'),
};

/** Kinds of bar codes that are written, by the names of BWIPP. */
const encoders = {
  code128: 'code128',
  'gs1-128': 'gs1-128',
  code39: 'code39',
  code93: 'code93',
  codabar: 'rationalizedCodabar',
  itf14: 'itf14',
  ean13: 'ean13',
  ean8: 'ean8',
  upca: 'upca',
  upce: 'upce',
  isbn: 'isbn',
  datamatrix: 'datamatrix',
  pdf417: 'pdf417',
  aztec: 'azteccode',
  qrcode: 'qrcode',
} as const;
export type BarcodeType = keyof typeof encoders;
export const barcodeTypes = Object.keys(encoders) as [BarcodeType, ...BarcodeType[]];

export interface BarcodeStyle {
  type: BarcodeType;
  /** Pixels of the narrowest bar, half of them on each axis: 1 to 10. */
  scale: number;
  showText: boolean;
  format: 'png' | 'svg';
}

/** Quiet zone on each side, in narrowest bars: the most any of these kinds asks for. */
const quietZone = 10;

/**
 * A bar code as a picture, with its quiet zone and black on white.
 *
 * @throws Failure `invalid_input` for a text this kind of code cannot hold, with the encoder's reason.
 */
export async function writeBarcode(text: string, style: BarcodeStyle): Promise<Buffer | string> {
  const { default: bwipjs } = await import('bwip-js/node');
  const options = {
    bcid: encoders[style.type],
    text,
    scale: style.scale,
    includetext: style.showText,
    paddingwidth: quietZone,
    paddingheight: quietZone,
    backgroundcolor: 'FFFFFF',
  };
  try {
    return style.format === 'svg' ? `${bwipjs.toSVG(options)}\n` : await bwipjs.toBuffer(options);
  } catch (error) {
    const log = toError(error).message;
    // `bwipp.ean13badLength#5678: EAN-13 must be 12 or 13 digits`
    const reason = /^bwipp?\.?[^:]*:\s*(.+)$/s.exec(log)?.[1] ?? 'it has characters that have no place in it';
    throw new Failure('invalid_input', `"${shortened(text)}" cannot be a ${style.type} code: ${reason}.`, { log });
  }
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** Kinds of codes that can be asked for; a name stands for all its variants. */
const readers = {
  code128: 'Code128',
  code39: 'Code39',
  code93: 'Code93',
  codabar: 'Codabar',
  itf: 'ITF',
  ean13: 'EAN13',
  ean8: 'EAN8',
  upca: 'UPCA',
  upce: 'UPCE',
  databar: 'DataBar',
  datamatrix: 'DataMatrix',
  pdf417: 'PDF417',
  aztec: 'Aztec',
  qrcode: 'QRCode',
  maxicode: 'MaxiCode',
} as const satisfies Record<string, ReadInputBarcodeFormat>;
type ReadableType = keyof typeof readers;
export const readableTypes = ['all', ...(Object.keys(readers) as ReadableType[])] as const;

/** 8 bits a channel, RGB or RGBA, row by row. */
export interface Pixels {
  width: number;
  height: number;
  channels: 3 | 4;
  pixels: Buffer;
}

export interface FoundBarcode {
  type: string;
  text: string;
  /** Set when the content is not text: its bytes as Base64. */
  base64?: string;
  /** Corners in pixels, clockwise from the top left of the code. */
  corners: { x: number; y: number }[];
}

/** Every code in a picture, in reading order. */
export async function readBarcodes(
  picture: Pixels,
  { types, tryHarder }: { types: readonly (typeof readableTypes)[number][]; tryHarder: boolean },
): Promise<FoundBarcode[]> {
  const { readBarcodes: read } = await loadReader();
  const { width, height } = picture;
  const wanted = types.filter((type): type is ReadableType => type !== 'all');
  const results = await read(
    { width, height, data: rgba(picture), colorSpace: 'srgb' },
    {
      ...(types.includes('all') ? {} : { formats: wanted.map((type) => readers[type]) }),
      tryHarder,
      tryRotate: tryHarder,
      tryInvert: tryHarder,
      tryDownscale: tryHarder,
      maxNumberOfSymbols: 255,
    },
  );
  return results.filter(({ isValid }) => isValid).map(describe);
}

function rgba({ width, height, channels, pixels }: Pixels): Uint8ClampedArray<ArrayBuffer> {
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let from = 0, to = 0; to < data.length; from += channels, to += 4) {
    data[to] = pixels[from] ?? 0;
    data[to + 1] = pixels[from + 1] ?? 0;
    data[to + 2] = pixels[from + 2] ?? 0;
    if (channels === 4) data[to + 3] = pixels[from + 3] ?? 0;
  }
  return data;
}

function describe({ format, contentType, bytes, text, position }: ReadResult): FoundBarcode {
  const { topLeft, topRight, bottomRight, bottomLeft } = position;
  // An EAN-13 that begins with 0 is the UPC-A without it: the bars are the same, and twelve digits are printed below.
  const isUpcA = /^(EAN13|UPCA)$/.test(format) && /^0\d{12}$/.test(text);
  return {
    type: isUpcA ? 'UPCA' : format,
    text: format === 'UPCE' ? asPrintedUpcE(text) : isUpcA ? text.slice(1) : text,
    ...(contentType === 'Binary' ? { base64: Buffer.from(bytes).toString('base64') } : {}),
    corners: [topLeft, topRight, bottomRight, bottomLeft].map(({ x, y }) => ({ x, y })),
  };
}

/** Which zeros a UPC-E leaves out, by the digits of the EAN-13 that it stands for (GS1 General Specifications, 5.2.2.4.2). */
const leftOutZeros: [pattern: RegExp, printed: string][] = [
  [/^0([01])(\d\d)([0-2])0000(\d{3})(\d)$/, '$1$2$4$3$5'],
  [/^0([01])(\d{3})00000(\d\d)(\d)$/, '$1$2$33$4'],
  [/^0([01])(\d{4})00000(\d)(\d)$/, '$1$2$34$4'],
  [/^0([01])(\d{5})0000([5-9])(\d)$/, '$1$2$3$4'],
];

/** The eight digits below the bars: the reader widens them to the number of the article. */
function asPrintedUpcE(text: string): string {
  const match = leftOutZeros.find(([pattern]) => pattern.test(text));
  return match === undefined ? text : text.replace(...match);
}

let reader: Promise<typeof import('zxing-wasm/reader')> | undefined;

/** Left to itself the library fetches its WebAssembly from another host. */
function loadReader(): NonNullable<typeof reader> {
  reader ??= (async () => {
    const library = await import('zxing-wasm/reader');
    const path = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm');
    const { buffer, byteOffset, byteLength } = await readFile(path);
    const wasmBinary = buffer.slice(byteOffset, byteOffset + byteLength);
    await library.prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
    return library;
  })();
  return reader;
}
