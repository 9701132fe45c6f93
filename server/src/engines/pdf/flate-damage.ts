import { constants, inflateRawSync, inflateSync } from 'node:zlib';

/** Content that unpacks to more than this is judged by its beginning only. */
const maxUnpackedBytes = 64 * 1024 * 1024;
/** Flate data in PDFs is wrapped as zlib does it: two bytes before, a check sum of four after. */
const headerBytes = 2;
/** What programs write that do not count the check sum. */
const madeUpSums = new Set([0, 1, 0xff_ff_ff_ff]);
/** Data that a program flushed without ending it. */
const flushMark = Buffer.from([0, 0, 0xff, 0xff]);

/**
 * True when data can no longer be unpacked to what was packed. A check sum that is missing or made up is no damage: no
 * reader of PDFs looks at it.
 */
export function isDamagedFlate(data: Uint8Array): boolean {
  if (data.length === 0) return false; // Programs declare a filter where they have nothing to write, too.
  try {
    inflateSync(data, { maxOutputLength: maxUnpackedBytes });
    return false;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') return false;
    if (message === 'incorrect data check') return !madeUpSums.has(checkSum(data) ?? 0);
    return !endsWithoutSum(data);
  }
}

/** What can still be unpacked of damaged data, from its beginning. */
export function readableFlate(data: Uint8Array): Uint8Array {
  const raw = data.subarray(headerBytes);
  let readable: Uint8Array | undefined = unpackBeginning(raw);
  if (readable !== undefined) return readable;
  let [good, bad] = [0, raw.length];
  while (bad - good > 1) {
    const length = (good + bad) >> 1;
    const unpacked = unpackBeginning(raw.subarray(0, length));
    if (unpacked === undefined) bad = length;
    else [good, readable] = [length, unpacked];
  }
  return readable ?? new Uint8Array();
}

function unpackBeginning(raw: Uint8Array): Buffer | undefined {
  try {
    return inflateRawSync(raw, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxUnpackedBytes });
  } catch {
    return undefined;
  }
}

/** The check sum that stands after the data. */
function checkSum(data: Uint8Array): number | undefined {
  const raw = data.subarray(headerBytes);
  const { engine } = inflateRawSync(raw, { info: true, maxOutputLength: maxUnpackedBytes }) as unknown as {
    engine: { bytesWritten: number };
  };
  const sum = Buffer.from(raw.subarray(engine.bytesWritten, engine.bytesWritten + 4));
  return sum.length === 4 ? sum.readUInt32BE(0) : undefined;
}

function endsWithoutSum(data: Uint8Array): boolean {
  if (Buffer.from(data.subarray(-flushMark.length)).equals(flushMark))
    return unpackBeginning(data.subarray(headerBytes)) !== undefined;
  try {
    inflateRawSync(data.subarray(headerBytes), { maxOutputLength: maxUnpackedBytes });
    return true;
  } catch {
    return false;
  }
}
