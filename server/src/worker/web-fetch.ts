import { createWriteStream } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { Transform, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { WebHeader } from '../engines/web-access.ts';
import { errorCode, toError } from '../lib/errors.ts';
import { type AddressChecker, createAddressChecker, orAborted, pinnedLookup } from '../lib/outbound-address.ts';
import type { FetchRequest, FetchAnswer } from './messages.ts';

/*
 * The web for tools that show web pages. Tool hosts have no network; what their browser asks for comes here, from a
 * process that may be under somebody else's control. So nothing of a request is believed: the address is checked and
 * then dialled as it was checked, redirects are not followed but handed back (the browser asks again, and that is checked
 * again), only harmless headers pass, and everything has a bound.
 */

/** Of one run. A heavy page of a newspaper asks for some 400 files of 10 MB altogether. */
export interface FetchLimits {
  requests: number;
  /** Of one answer and of all together, decoded. */
  answerBytes: number;
  totalBytes: number;
  /** Of one request, from the name to the last byte. */
  timeoutMs: number;
  atOnce: number;
}

export const fetchLimits: FetchLimits = {
  requests: 2000,
  answerBytes: 50_000_000,
  totalBytes: 250_000_000,
  timeoutMs: 30_000,
  atOnce: 16,
};

/** What one run fetches. */
export interface RunFetcher {
  fetch(request: FetchRequest): Promise<FetchAnswer>;
  /** The hosts that were called, and how often: for the operator's log. */
  readonly hosts: ReadonlyMap<string, number>;
}

export interface WebAccess {
  /** Bodies are written to `directory`, numbered. */
  forRun(directory: string, signal: AbortSignal): RunFetcher;
}

/** `allow`: CIDRs and host names that may be called although they are not public; on them every port. */
export function createWebAccess(options: { allow: readonly string[]; limits?: FetchLimits }): WebAccess {
  const check = createAddressChecker(options);
  const limits = options.limits ?? fetchLimits;
  return { forRun: (directory, signal) => createRunFetcher({ check, limits, directory, signal }) };
}

interface Parts {
  check: AddressChecker;
  limits: FetchLimits;
  directory: string;
  signal: AbortSignal;
}

function createRunFetcher(parts: Parts): RunFetcher {
  const { limits } = parts;
  const hosts = new Map<string, number>();
  const turns = createTurns(limits.atOnce);
  let asked = 0;
  const left = { bytes: limits.totalBytes };
  return {
    hosts,
    async fetch(request) {
      asked += 1;
      if (asked > limits.requests) return { error: `The page asks for more than ${limits.requests} files.` };
      const file = `web-${asked}`;
      const signal = AbortSignal.any([parts.signal, AbortSignal.timeout(limits.timeoutMs)]);
      try {
        return await turns(() => fetchOnce(parts, request, { file, signal, left, hosts }));
      } catch (error) {
        return { error: sentence(signal.aborted ? signal.reason : error) };
      }
    },
  };
}

/** Lets so many work at once; the others wait for their turn. */
function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

class Refusal extends Error {}

interface OneFetch {
  file: string;
  signal: AbortSignal;
  left: { bytes: number };
  hosts: Map<string, number>;
}

async function fetchOnce(
  { check, limits, directory }: Parts,
  request: FetchRequest,
  one: OneFetch,
): Promise<FetchAnswer> {
  if (!methods.has(request.method)) throw new Refusal(`The page uses the method ${request.method.slice(0, 20)}.`);
  if ((request.body ?? '').length > mostBodyCharacters) throw new Refusal('The page sends more than it may.');
  const checked = await orAborted(check(request.url), one.signal);
  if ('refusal' in checked) throw new Refusal(checked.refusal);
  const { url, addresses, listed } = checked;
  if (url.port !== '' && !listed) throw new Refusal(`The port ${url.port} of ${url.hostname} may not be called.`);
  one.hosts.set(url.host, (one.hosts.get(url.host) ?? 0) + 1);
  const response = await open(url, addresses, request, one.signal);
  const most = Math.min(limits.answerBytes, one.left.bytes);
  const counted = countBytes(most, (bytes) => (one.left.bytes -= bytes));
  const target = createWriteStream(join(directory, one.file), { mode: 0o600, flags: 'wx' });
  await pipeline([response, ...decoders(request.method, response), counted, target], { signal: one.signal });
  return { status: response.statusCode ?? 0, headers: headersOf(response), file: one.file };
}

/** Of base64: 1 MB. */
const mostBodyCharacters = 1_400_000;
const methods = new Set(['GET', 'HEAD', 'POST']);

/** What a browser says of itself and of what it wants. `cookie` is what this very run was given by the same site. */
const passedHeaders = new Set([
  ...['accept', 'accept-language', 'content-type', 'cookie', 'origin', 'referer', 'user-agent'],
  ...['access-control-request-headers', 'access-control-request-method', 'x-requested-with'],
]);

function open(
  url: URL,
  addresses: readonly string[],
  { method, headers, body }: FetchRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const passed = Object.entries(headers).filter(([name]) => passedHeaders.has(name.toLowerCase()));
  const content = body === undefined ? undefined : Buffer.from(body, 'base64');
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method,
    // A socket of its own: a kept-alive one of the same name would skip the check of the address.
    agent: false,
    lookup: pinnedLookup(addresses),
    signal,
    headers: {
      ...Object.fromEntries(passed),
      'Accept-Encoding': 'gzip, br',
      ...(content === undefined ? {} : { 'Content-Length': content.length }),
    },
  });
  request.on('error', reject);
  request.on('response', resolve);
  request.on('close', () => reject(new Refusal('The connection was closed without an answer.')));
  request.end(content);
  return promise;
}

/** @throws Refusal for an encoding nobody asked for. */
function decoders(method: string, response: IncomingMessage): Duplex[] {
  const hasBody = method !== 'HEAD' && ![204, 304].includes(response.statusCode ?? 0);
  const encodings = (response.headers['content-encoding'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  const named = encodings.filter((name) => name !== '' && name !== 'identity');
  if (!hasBody || named.length === 0 || response.headers['content-length'] === '0') return [];
  if (named.length > 2) throw new Refusal('The answer is encoded more than twice.');
  return named.toReversed().map(decoder);
}

function decoder(encoding: string): Duplex {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    default:
      throw new Refusal('The answer has an encoding that is not known here.');
  }
}

function countBytes(most: number, onBytes: (count: number) => void): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      onBytes(chunk.length);
      if (seen > most) done(new Refusal('The answer is larger than a web page may be.'));
      else done(null, chunk);
    },
  });
}

/** About the connection or the coding of the body, which end here. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-encoding',
  'content-length',
  'alt-svc',
]);
const mostHeaderBytes = 64_000;

function headersOf({ rawHeaders }: IncomingMessage): WebHeader[] {
  const headers: WebHeader[] = [];
  let length = 0;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    length += name.length + value.length;
    if (length > mostHeaderBytes) break;
    if (!ownHeaders.has(name.toLowerCase())) headers.push({ name, value });
  }
  return headers;
}

/** For the owner of the run, who knows nothing of system calls. */
function sentence(cause: unknown): string {
  const error = toError(cause);
  if (error instanceof Refusal) return error.message;
  if (error.name === 'TimeoutError') return 'The server did not answer in time.';
  if (error.name === 'AbortError') return 'The run has ended.';
  const code = errorCode(error) ?? '';
  if (/EPROTO|CERT|TLS|SSL|ISSUER|SIGNATURE/.test(code)) return `A secure connection cannot be made (${code}).`;
  if (code === 'ECONNREFUSED') return 'The server refused the connection.';
  return code === '' ? 'The server gave no usable answer.' : `The connection failed (${code}).`;
}
