import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import {
  PDFDict,
  PDFArray,
  PDFHexString,
  PDFInvalidObject,
  PDFName,
  PDFNumber,
  PDFRef,
  PDFStream,
  type PDFContext,
  type PDFObject,
} from '@cantoo/pdf-lib';

/** Objects a compressed object stream holds; readers unpack a whole stream to get one object. */
const objectsPerStream = 100;
/** Bytes that are gathered before they go to the disk. */
const flushBytes = 1024 * 1024;

type Sink = (bytes: Uint8Array) => Promise<void>;
type Place = { offset: number } | { stream: number; index: number };

/**
 * Writes what is reachable from the catalog as a PDF with compressed object and cross-reference streams (PDF 1.5 and
 * newer), one object after the other, so that the file never stands in memory a second time. The same objects give the
 * same bytes.
 *
 * @returns its size in bytes
 */
export async function writePdf(context: PDFContext, path: string): Promise<number> {
  const handle = await open(path, 'w');
  try {
    return await serialize(context, async (bytes) => {
      for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done)).bytesWritten;
    });
  } finally {
    await handle.close();
  }
}

/** The size `writePdf` would write, in bytes. */
export function measurePdf(context: PDFContext): Promise<number> {
  return serialize(context, () => Promise.resolve());
}

async function serialize(context: PDFContext, sink: Sink): Promise<number> {
  const writer = createWriter(sink);
  const places = new Map<PDFRef, Place>();
  const packed: [PDFRef, PDFObject][] = [];
  await writer.write(Buffer.from(`%PDF-${versionOf(context)}\n%\xe2\xe3\xcf\xd3\n`, 'latin1'));
  const objects = reachableObjects(context);
  for (const [ref, object] of objects) {
    if (canBePacked(ref, object)) {
      packed.push([ref, object]);
      continue;
    }
    places.set(ref, { offset: writer.offset() });
    await writeObject(writer.write, ref.objectNumber, ref.generationNumber, object);
  }
  // Above the numbers of objects that are referred to and lost: an object stream must not take their place.
  let nextNumber = context.largestObjectNumber + 1;
  for (let start = 0; start < packed.length; start += objectsPerStream) {
    const group = packed.slice(start, start + objectsPerStream);
    const number = nextNumber++;
    group.forEach(([ref], index) => places.set(ref, { stream: number, index }));
    places.set(PDFRef.of(number), { offset: writer.offset() });
    await writeObjectStream(writer.write, number, group);
  }
  await writeCrossReference(writer, context, places, nextNumber);
  return writer.end();
}

function createWriter(sink: Sink) {
  const hash: Hash = createHash('md5');
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let total = 0;
  const flush = async () => {
    const bytes = waiting.length === 1 && waiting[0] !== undefined ? waiting[0] : Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    await sink(bytes);
  };
  return {
    offset: () => total,
    /** Names the content so far: the same objects have the same identifier. */
    digest: () => hash.copy().digest('hex'),
    async write(bytes: Uint8Array) {
      hash.update(bytes);
      waiting.push(bytes);
      waitingBytes += bytes.length;
      total += bytes.length;
      if (waitingBytes >= flushBytes) await flush();
    },
    async end() {
      await flush();
      return total;
    },
  };
}
type Writer = ReturnType<typeof createWriter>;

function versionOf(context: PDFContext): string {
  const version = context.header.getVersionString();
  return /^(1\.[5-7]|2\.0)$/.test(version) ? version : '1.7';
}

/** Objects that the catalog and the document information lead to, in ascending order of number. */
export function reachableObjects(context: PDFContext): [PDFRef, PDFObject][] {
  const found = new Map<PDFRef, PDFObject>();
  const waiting: PDFObject[] = [context.trailerInfo.Root, context.trailerInfo.Info].filter(
    (root) => root !== undefined,
  );
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (value instanceof PDFRef) {
      if (found.has(value)) continue;
      const object = context.lookup(value);
      if (object === undefined) continue;
      found.set(value, object);
      waiting.push(object);
      continue;
    }
    for (const child of childrenOf(value)) waiting.push(child);
  }
  return [...found].toSorted(([a], [b]) => a.objectNumber - b.objectNumber || a.generationNumber - b.generationNumber);
}

/** The values that stand directly in an object. */
export function childrenOf(object: PDFObject): PDFObject[] {
  if (object instanceof PDFArray) return object.asArray();
  if (object instanceof PDFDict) return object.values();
  return object instanceof PDFStream ? object.dict.values() : [];
}

function canBePacked(ref: PDFRef, object: PDFObject): boolean {
  return ref.generationNumber === 0 && !(object instanceof PDFStream) && !(object instanceof PDFInvalidObject);
}

function bytesOf(object: PDFObject): Uint8Array {
  const bytes = new Uint8Array(object.sizeInBytes());
  object.copyBytesInto(bytes, 0);
  return bytes;
}

/** Writes one object with its number. */
export async function writeObject(write: Sink, number: number, generation: number, object: PDFObject): Promise<void> {
  await write(Buffer.from(`${number} ${generation} obj\n`));
  if (object instanceof PDFStream) await writeStream(write, object.dict, object.getContents());
  else await write(bytesOf(object));
  await write(Buffer.from('\nendobj\n'));
}

async function writeStream(write: Sink, dict: PDFDict, contents: Uint8Array): Promise<void> {
  dict.set(PDFName.of('Length'), PDFNumber.of(contents.length));
  await write(bytesOf(dict));
  await write(Buffer.from('\nstream\n'));
  await write(contents);
  await write(Buffer.from('\nendstream'));
}

async function writeObjectStream(write: Sink, number: number, group: [PDFRef, PDFObject][]): Promise<void> {
  const bodies = group.map(([, object]) => bytesOf(object));
  let offset = 0;
  const head = group.map(([ref], index) => {
    const line = `${ref.objectNumber} ${offset}`;
    offset += (bodies[index]?.length ?? 0) + 1;
    return line;
  });
  const headBytes = Buffer.from(`${head.join(' ')}\n`);
  const contents = deflateSync(Buffer.concat([headBytes, ...bodies.flatMap((body) => [body, Buffer.from('\n')])]));
  await write(
    Buffer.from(
      `${number} 0 obj\n<</Type/ObjStm/N ${group.length}/First ${headBytes.length}/Filter/FlateDecode/Length ${contents.length}>>\nstream\n`,
    ),
  );
  await write(contents);
  await write(Buffer.from('\nendstream\nendobj\n'));
}

async function writeCrossReference(
  writer: Writer,
  context: PDFContext,
  places: Map<PDFRef, Place>,
  number: number,
): Promise<void> {
  const start = writer.offset();
  const rows = new Map<number, Buffer>([
    [0, row(0, 0, 65_535)],
    [number, row(1, start, 0)],
  ]);
  for (const [ref, place] of places) {
    rows.set(
      ref.objectNumber,
      'offset' in place ? row(1, place.offset, ref.generationNumber) : row(2, place.stream, place.index),
    );
  }
  const numbers = [...rows.keys()].toSorted((a, b) => a - b);
  const table = deflateSync(Buffer.concat(numbers.map((key) => rows.get(key) ?? Buffer.alloc(0))));
  const id = PDFHexString.of(writer.digest()).toString();
  const { Root, Info } = context.trailerInfo;
  const dict = `<</Type/XRef/Size ${number + 1}/Index[${sections(numbers)}]/W[1 6 2]/Root ${Root}${
    Info === undefined ? '' : `/Info ${Info}`
  }/ID[${id}${id}]/Filter/FlateDecode/Length ${table.length}>>`;
  await writer.write(Buffer.from(`${number} 0 obj\n${dict}\nstream\n`));
  await writer.write(table);
  await writer.write(Buffer.from(`\nendstream\nendobj\nstartxref\n${start}\n%%EOF\n`));
}

/** One entry of the cross-reference stream: kind, place (6 bytes), generation or index (2 bytes). */
function row(kind: number, place: number, detail: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(kind, 0);
  bytes.writeUIntBE(place, 1, 6);
  bytes.writeUInt16BE(detail, 7);
  return bytes;
}

/** Runs of consecutive numbers as `first count first count …`. */
function sections(numbers: readonly number[]): string {
  const runs: { first: number; count: number }[] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run !== undefined && run.first + run.count === number) run.count++;
    else runs.push({ first: number, count: 1 });
  }
  return runs.map(({ first, count }) => `${first} ${count}`).join(' ');
}
