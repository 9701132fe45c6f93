import { randomUUID } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { clientError, type MillrunError } from './errors.ts';
import type { OutgoingBody } from './transport.ts';

/** Bytes with a name. A stream can be sent once: a submission of one is not repeated when the connection breaks. */
export interface NamedContent {
  filename: string;
  content: Blob | Uint8Array | ReadableStream<Uint8Array>;
}

/** A file to send: a path, or bytes with a name. */
export type FileInput = string | NamedContent;

/** Settings of a tool by name, as its `settings` describe them; undefined ones are not sent, objects are sent as JSON. */
export type Settings = Readonly<Record<string, string | number | boolean | object | null | undefined>>;

export interface UploadProgress {
  sentBytes: number;
  /** Undefined when a stream is among the files. */
  totalBytes: number | undefined;
}

interface Part {
  head: Uint8Array;
  /** Bytes; undefined for a stream. */
  size: number | undefined;
  open(): AsyncIterable<Uint8Array>;
}

const encoder = new TextEncoder();
const lineEnd = encoder.encode('\r\n');
const readSize = 256 * 1024;

/**
 * A `multipart/form-data` body that reads its files as it is sent and holds none in memory. Its length is announced where
 * it is known, so that the service can refuse what is too large before it is sent.
 *
 * @throws MillrunError `file_unreadable`
 */
export async function createForm(
  files: readonly FileInput[],
  settings: Settings,
  onProgress?: (progress: UploadProgress) => void,
): Promise<OutgoingBody> {
  const boundary = `millrun-${randomUUID()}`;
  const parts = [
    ...Object.entries(settings)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => fieldPart(boundary, name, toText(value))),
    ...(await Promise.all(files.map((file) => filePart(boundary, file)))),
  ];
  const tail = encoder.encode(`--${boundary}--\r\n`);
  const totalBytes = sumOf(
    parts.map(({ head, size }) => size && head.length + size + lineEnd.length),
    tail.length,
  );
  const headers: Record<string, string> = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
  if (totalBytes !== undefined) headers['Content-Length'] = String(totalBytes);

  async function* write(): AsyncGenerator<Uint8Array> {
    let sentBytes = 0;
    const counted = (chunk: Uint8Array) => {
      sentBytes += chunk.length;
      onProgress?.({ sentBytes, totalBytes });
      return chunk;
    };
    for (const part of parts) {
      yield counted(part.head);
      for await (const chunk of part.open()) yield counted(chunk);
      yield counted(lineEnd);
    }
    yield counted(tail);
  }
  return { headers, repeatable: totalBytes !== undefined, open: write };
}

function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Undefined when one of the sizes is. */
function sumOf(sizes: readonly (number | undefined)[], start: number): number | undefined {
  let sum = start;
  for (const size of sizes) {
    if (size === undefined) return undefined;
    sum += size;
  }
  return sum;
}

function headOf(boundary: string, disposition: string): Uint8Array {
  return encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`);
}

/** As the HTML standard escapes names in forms. */
function quote(name: string): string {
  const escaped = name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
  return `"${escaped}"`;
}

function fieldPart(boundary: string, name: string, value: string): Part {
  const bytes = encoder.encode(value);
  return {
    head: joined(headOf(boundary, `name=${quote(name)}`), lineEnd),
    size: bytes.length,
    open: () => once(bytes),
  };
}

async function filePart(boundary: string, file: FileInput): Promise<Part> {
  const filename = typeof file === 'string' ? basename(file) : file.filename;
  const type = encoder.encode('Content-Type: application/octet-stream\r\n\r\n');
  const head = joined(headOf(boundary, `name="files[]"; filename=${quote(filename)}`), type);
  if (typeof file === 'string') return { head, ...(await readPath(file)) };
  const { content } = file;
  if (content instanceof Uint8Array) return { head, size: content.length, open: () => once(content) };
  if (content instanceof Blob) return { head, size: content.size, open: () => exactly(content, filename) };
  if (content instanceof ReadableStream) return { head, size: undefined, open: () => content };
  throw new TypeError(`content of ${filename} must be a Blob, a Uint8Array or a ReadableStream`);
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

async function* exactly(content: Blob, filename: string): AsyncGenerator<Uint8Array> {
  try {
    yield* content.stream();
  } catch (error) {
    throw clientError('file_unreadable', `${filename} cannot be read, or has changed.`, { cause: error });
  }
}

/**
 * A file on disk as it is now. `fs.openAsBlob` would do, but it knows sizes in 32 bits only (Node 24): a file of 5 GB
 * comes out as one of 705 MB.
 */
async function readPath(path: string): Promise<Omit<Part, 'head'>> {
  const { size, mtimeMs } = await stat(path).then(
    (found) => {
      if (!found.isFile()) throw clientError('file_unreadable', `${path} is not a file.`);
      return found;
    },
    (error: unknown) => {
      throw unreadable(path, error);
    },
  );

  async function* read(): AsyncGenerator<Uint8Array> {
    const file = await open(path, 'r').catch((error: unknown) => {
      throw unreadable(path, error);
    });
    try {
      const now = await file.stat();
      if (now.size !== size || now.mtimeMs !== mtimeMs) throw changed(path);
      for (let position = 0; position < size;) {
        const buffer = new Uint8Array(Math.min(readSize, size - position));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
        if (bytesRead === 0) throw changed(path);
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }
  return { size, open: read };
}

function changed(path: string): MillrunError {
  return clientError('file_unreadable', `${path} changed while it was being sent.`);
}

const reasons: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
};

function unreadable(path: string, error: unknown): MillrunError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return clientError('file_unreadable', `${path} ${reasons[code] ?? `cannot be read: ${message}`}.`, { cause: error });
}
