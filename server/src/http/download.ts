import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoredOutput } from '../db/schema.ts';
import { contentDisposition } from '../files/names.ts';
import type { ByteRange, FileStore } from '../files/store.ts';
import { AppError } from '../lib/errors.ts';

/** An output may be a hostile page: nothing in it may run in this origin, whatever a browser makes of it. */
export const safeDownloadHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'private, no-store',
};

/** Sends an output whole, or the range that was asked for (RFC 9110 section 14), to GET and HEAD. */
export async function sendOutput(
  request: FastifyRequest,
  reply: FastifyReply,
  output: StoredOutput,
  store: FileStore,
): Promise<FastifyReply> {
  const etag = `"${output.sha256}"`;
  void reply.headers({
    ...safeDownloadHeaders,
    'Content-Disposition': contentDisposition(output.filename),
    'Content-Type': output.media_type,
    'Accept-Ranges': 'bytes',
    ETag: etag,
  });
  const range = readRange(askedRange(request, etag), output.size_bytes);
  if (range === 'unsatisfiable') throw rangeError(output.size_bytes);
  const length = range === undefined ? output.size_bytes : range.end - range.start + 1;
  void reply.header('Content-Length', length);
  if (range !== undefined)
    void reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${output.size_bytes}`);
  if (request.method === 'HEAD') return reply.send();
  return reply.send(await store.read(output.key, range));
}

/** Ranges are for GET alone, and for a client that has begun with this very file. */
function askedRange({ method, headers }: FastifyRequest, etag: string): string | undefined {
  const ifRange = headers['if-range'];
  return method === 'GET' && (ifRange === undefined || ifRange === etag) ? headers.range : undefined;
}

function rangeError(size: number): AppError {
  return new AppError(416, 'range_not_satisfiable', `The file has ${size} bytes.`, {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}

/** One range of bytes; undefined where the whole file is the right answer (no range, several, or one we cannot read). */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const suffix = Math.min(Number(last), size);
    return suffix === 0 ? 'unsatisfiable' : { start: size - suffix, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
