import { inflateSync } from 'node:zlib';
import { PDFArray, PDFDict, PDFRawStream, PDFStream, decodePDFRawStream, type PDFObject } from '@cantoo/pdf-lib';
import { isDamagedFlate, readableFlate } from './flate-damage.ts';
import { entry, nameText, numberEntry, resolve } from './objects.ts';

/** Most bytes that one compressed stream may unpack to. */
const maxDecodedBytes = 256 * 1024 * 1024;

/** The filters of a stream in order, by their full names. */
export function filtersOf(dict: PDFDict): string[] {
  const filter = entry(dict, 'Filter') ?? entry(dict, 'F');
  const names = filter instanceof PDFArray ? filter.asArray() : filter === undefined ? [] : [filter];
  return names.map((name) => nameText(resolve(dict.context, name)) ?? 'unknown');
}

/** The parameters of a stream's first filter. */
export function decodeParameters(dict: PDFDict): PDFDict | undefined {
  const parameters = entry(dict, 'DecodeParms');
  const first = parameters instanceof PDFArray ? resolve(dict.context, parameters.get(0)) : parameters;
  return first instanceof PDFDict ? first : undefined;
}

/**
 * What a stream holds, with its compression undone; undefined when that cannot be done here (an image's own coding, damage,
 * or more than 256 MiB).
 */
export function decodeStream(stream: PDFStream): Uint8Array | undefined {
  const filters = filtersOf(stream.dict);
  try {
    if (filters.length === 0) return stream.getContents();
    if (!filters.every((name) => generalFilters.has(name)) || !(stream instanceof PDFRawStream)) return undefined;
    const parameters = decodeParameters(stream.dict);
    if (filters.length > 1 && entry(stream.dict, 'DecodeParms') !== undefined) return undefined;
    return undoPredictor(decompress(stream, filters), parameters);
  } catch {
    return undefined;
  }
}

const generalFilters = new Set(['FlateDecode', 'LZWDecode', 'ASCII85Decode', 'ASCIIHexDecode', 'RunLengthDecode']);

function decompress(stream: PDFRawStream, filters: readonly string[]): Uint8Array {
  // The library would unpack without a limit, so Flate, which packs a thousandfold, is done here.
  if (filters[0] !== 'FlateDecode') return decodePDFRawStream(stream).decode();
  let data: Uint8Array = stream.getContents();
  for (const filter of filters) {
    if (filter !== 'FlateDecode') throw new Error(`cannot undo ${filter} after FlateDecode`);
    data = inflate(data);
  }
  return data;
}

/** Takes data too whose check sum is missing, as readers do. */
function inflate(data: Uint8Array): Uint8Array {
  try {
    return inflateSync(data, { maxOutputLength: maxDecodedBytes });
  } catch (error) {
    if (isDamagedFlate(data) || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw error;
    return readableFlate(data);
  }
}

/** Undoes the PNG (10 to 15) and TIFF (2, of 8 bits) predictors; throws for a kind that is not known. */
function undoPredictor(data: Uint8Array, parameters: PDFDict | undefined): Uint8Array {
  const predictor = (parameters && numberEntry(parameters, 'Predictor')) ?? 1;
  if (parameters === undefined || predictor === 1) return data;
  const colors = numberEntry(parameters, 'Colors') ?? 1;
  const bits = numberEntry(parameters, 'BitsPerComponent') ?? 8;
  const columns = numberEntry(parameters, 'Columns') ?? 1;
  const pixelBytes = Math.max(1, (colors * bits) >> 3);
  const rowBytes = Math.ceil((colors * bits * columns) / 8);
  if (!(rowBytes > 0 && rowBytes < maxDecodedBytes)) throw new Error('impossible row length');
  if (predictor >= 10) return undoPngRows(data, rowBytes, pixelBytes);
  if (predictor !== 2 || bits !== 8) throw new Error(`unknown predictor ${predictor}`);
  const rows = Uint8Array.from(data);
  for (let index = 0; index < rows.length; index++) {
    if (index % rowBytes >= pixelBytes) rows[index] = (rows[index] ?? 0) + (rows[index - pixelBytes] ?? 0);
  }
  return rows;
}

function undoPngRows(data: Uint8Array, rowBytes: number, pixelBytes: number): Uint8Array {
  const rowCount = Math.ceil(data.length / (rowBytes + 1));
  const rows = new Uint8Array(rowCount * rowBytes);
  for (let row = 0; row < rowCount; row++) {
    const kind = data[row * (rowBytes + 1)] ?? 0;
    const [source, target] = [row * (rowBytes + 1) + 1, row * rowBytes];
    for (let column = 0; column < rowBytes; column++) {
      const left = column >= pixelBytes ? (rows[target + column - pixelBytes] ?? 0) : 0;
      const up = row > 0 ? (rows[target + column - rowBytes] ?? 0) : 0;
      const corner = row > 0 && column >= pixelBytes ? (rows[target + column - rowBytes - pixelBytes] ?? 0) : 0;
      rows[target + column] = (data[source + column] ?? 0) + predicted(kind, left, up, corner);
    }
  }
  return rows;
}

/** The prediction of the PNG filter types 0 to 4. */
function predicted(kind: number, left: number, up: number, corner: number): number {
  if (kind === 1) return left;
  if (kind === 2) return up;
  if (kind === 3) return (left + up) >> 1;
  if (kind !== 4) return 0;
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** The content of a page: its streams joined, as a reader joins them. Undefined when one cannot be read. */
export function pageContent(page: PDFDict): Uint8Array | undefined {
  const contents = entry(page, 'Contents');
  const streams: (PDFObject | undefined)[] =
    contents instanceof PDFArray ? contents.asArray().map((ref) => resolve(page.context, ref)) : [contents];
  const parts: Uint8Array[] = [];
  for (const stream of streams) {
    if (!(stream instanceof PDFStream)) continue;
    const decoded = decodeStream(stream);
    if (decoded === undefined) return undefined;
    parts.push(decoded, Buffer.from('\n'));
  }
  return Buffer.concat(parts);
}
