import { readFile } from 'node:fs/promises';
import type { DataType, Field, RecordBatchReader, Vector } from 'apache-arrow';
import type { Failure } from '../../lib/failure.ts';
import type { Row } from '../csv.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { type DataSource, invalid, limitSize } from './source.ts';

export const apacheArrow: Engine = {
  id: 'apache-arrow',
  name: 'Apache Arrow',
  license: 'Apache-2.0',
  version: () => packageVersion('apache-arrow'),
};

const maxMegabytes = 256;

export interface ArrowTable {
  /** The SQL type of each column; what is not a number, true, false or nested is text. */
  types: string[];
  /** The header and the rows as text. */
  rows: AsyncIterable<Row>;
}

/**
 * Opens an Arrow IPC or Feather file. Numbers keep all digits, dates and times are ISO 8601, lists and structures JSON,
 * binary data Base64.
 *
 * @throws Failure `invalid_input` for a damaged file or compressed buffers, `resource_limit` above 256 MB.
 */
export async function openArrow(source: DataSource): Promise<ArrowTable> {
  await limitSize(source, maxMegabytes);
  const { RecordBatchReader } = await import('apache-arrow');
  try {
    const reader = RecordBatchReader.from(await readFile(source.path)).open();
    const fields = reader.schema.fields;
    return { types: fields.map(({ type }) => sqlType(type as DataType)), rows: rowsOf(source, reader, fields) };
  } catch (error) {
    throw unreadable(source, error);
  }
}

function unreadable(source: DataSource, error: unknown): Failure {
  const compressed = error instanceof Error && /compress|codec/i.test(error.message);
  const problem = compressed ? 'is a compressed Arrow file' : 'is damaged: it';
  return invalid(
    source,
    `${problem}${compressed ? ', which' : ''} cannot be read${compressed ? '' : ' as Arrow'}.`,
    error,
  );
}

async function* rowsOf(source: DataSource, reader: RecordBatchReader, fields: readonly Field[]): AsyncGenerator<Row> {
  yield fields.map(({ name }) => name);
  try {
    for (const batch of reader) {
      source.signal.throwIfAborted();
      const columns = fields.map(({ type }, index) => ({
        type: type as DataType,
        vector: batch.getChildAt(index) as Vector | null,
      }));
      for (let row = 0; row < batch.numRows; row++)
        yield columns.map(({ type, vector }) => cellText(type, vector, row));
    }
  } catch (error) {
    source.signal.throwIfAborted();
    throw unreadable(source, error);
  }
}

/** By the ids of `Type` in Arrow's format. */
function sqlType(type: DataType): string {
  const { typeId, bitWidth, isSigned, precision, scale } = type as unknown as {
    typeId: number;
    bitWidth?: number;
    isSigned?: boolean;
    precision?: number;
    scale?: number;
  };
  if (typeId === 2) return isSigned === false && bitWidth === 64 ? 'UBIGINT' : 'BIGINT';
  if (typeId === 3) return 'DOUBLE';
  if (typeId === 6) return 'BOOLEAN';
  if (typeId === decimal && (precision ?? 39) <= 38 && (scale ?? -1) >= 0) return `DECIMAL(${precision}, ${scale})`;
  return [12, 13, 16, 17].includes(typeId) ? 'JSON' : 'VARCHAR';
}

/** Ids of `Type` in Arrow's format. */
const decimal = 7;
const date = 8;
const time = 9;
const timestamp = 10;
const unitsInSecond = [1n, 1000n, 1_000_000n, 1_000_000_000n];

function cellText(type: DataType, vector: Vector | null, row: number): string {
  if (vector === null || !vector.isValid(row)) return '';
  const { typeId, unit = 0, scale = 0 } = type as unknown as { typeId: number; unit?: number; scale?: number };
  if (Number(typeId) === timestamp || Number(typeId) === time) {
    const raw = BigInt(rawValue(vector, row) as number | bigint);
    const perSecond = unitsInSecond[unit] ?? 1n;
    const zone = (type as unknown as { timezone?: string | null }).timezone;
    return Number(typeId) === time ? clock(raw, perSecond) : moment(raw, perSecond, zone);
  }
  const value: unknown = vector.get(row);
  if (Number(typeId) === decimal) return decimalText(value as Uint32Array, scale);
  if (Number(typeId) === date)
    return new Date(Number(value)).toISOString().replace(/T00:00:00\.000Z$|(?:\.000)?Z$/, '');
  return valueText(value);
}

/** Arrow's own getter makes milliseconds of every time. */
function rawValue(vector: Vector, row: number): unknown {
  const [chunk] = vector.data;
  return (chunk?.values as ArrayLike<unknown> | undefined)?.[row] ?? vector.get(row);
}

function moment(raw: bigint, perSecond: bigint, zone: string | null | undefined): string {
  const seconds = floorDivide(raw, perSecond);
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const end = zone === null || zone === undefined || zone === '' ? '' : 'Z';
  return `${text}${fraction(raw - seconds * perSecond, perSecond)}${end}`;
}

function clock(raw: bigint, perSecond: bigint): string {
  const seconds = raw / perSecond;
  const two = (value: bigint) => String(value).padStart(2, '0');
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction(raw % perSecond, perSecond)}`;
}

function fraction(rest: bigint, perSecond: bigint): string {
  return rest === 0n ? '' : `.${String(rest).padStart(String(perSecond).length - 1, '0')}`.replace(/0+$/, '');
}

function floorDivide(value: bigint, by: bigint): bigint {
  return value / by - (value % by < 0n ? 1n : 0n);
}

/** Little-endian words in two's complement. */
function decimalText(words: Uint32Array, scale: number): string {
  const bits = BigInt(words.length * 32);
  const unsigned = [...words].reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const value = BigInt.asIntN(Number(bits), unsigned);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const sign = value < 0n ? '-' : '';
  return scale <= 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner)) ?? '';
}
