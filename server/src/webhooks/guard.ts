import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { systemClock } from '../lib/clock.ts';
import { errorCode, toError } from '../lib/errors.ts';
import { createAddressChecker, orAborted, pinnedLookup } from '../lib/outbound-address.ts';

type GuardOptions = Parameters<typeof createAddressChecker>[0];

export interface PostOptions {
  body: string;
  headers: Record<string, string>;
  /** For everything: finding the address, connecting, sending and the reply. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface PostOutcome {
  /** Absent when no reply came. */
  status?: number;
  response?: PostResponse;
  /** The headers as they went out, lower-case; absent when the receiver was not called. */
  sentHeaders?: Record<string, string>;
  /** Why there is no status, as a sentence. */
  error?: string;
  durationMs: number;
}

export interface PostResponse {
  /** At most 4 kB of them. */
  headers: Record<string, string>;
  /** The first 4 kB, as text. */
  body: string;
  /** The body was longer. */
  truncated: boolean;
}

export interface AddressGuard {
  /** One sentence why a URL may not be called, or undefined. Resolves its name. */
  judge(url: string): Promise<string | undefined>;
  /**
   * POSTs once, to an address that was checked just before: a name that points elsewhere by the time of the connection
   * changes nothing. Follows no redirect. Whatever the network does is an outcome, never an exception.
   */
  post(url: string, options: PostOptions): Promise<PostOutcome>;
}

const maxReplyBytes = 4096;

/** What may be called, and the only way to call it. Throws when an entry of `allow` is neither a network nor a name. */
export function createAddressGuard(options: GuardOptions): AddressGuard {
  const check = createAddressChecker(options);
  return {
    async judge(url) {
      const checked = await check(url);
      return 'refusal' in checked ? checked.refusal : undefined;
    },

    async post(url, options) {
      const startedAt = systemClock.monotonicMs();
      const ended = AbortSignal.any([
        AbortSignal.timeout(options.timeoutMs),
        ...(options.signal ? [options.signal] : []),
      ]);
      let sentHeaders: Record<string, string> | undefined;
      const outcome = await attempt(ended, async () => {
        const checked = await orAborted(check(url), ended);
        if ('refusal' in checked) return { error: checked.refusal };
        const request = open(checked.url, checked.addresses, options, ended);
        sentHeaders = textHeaders(request.getHeaders());
        return exchange(request, options.body);
      });
      return {
        ...outcome,
        ...(sentHeaders === undefined ? {} : { sentHeaders }),
        durationMs: Math.round(systemClock.monotonicMs() - startedAt),
      };
    },
  };
}

type Reply = Pick<PostOutcome, 'status' | 'response' | 'error'>;

async function attempt(signal: AbortSignal, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    return { error: sentence(signal.aborted ? signal.reason : error) };
  }
}

function open(url: URL, addresses: readonly string[], options: PostOptions, signal: AbortSignal): ClientRequest {
  return (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    // A socket of its own: a kept-alive one of the same name would skip the check of the address.
    agent: false,
    lookup: pinnedLookup(addresses),
    signal,
    headers: {
      ...options.headers,
      'Accept-Encoding': 'identity',
      'Content-Length': Buffer.byteLength(options.body),
    },
  });
}

function exchange(request: ClientRequest, body: string): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  request.on('error', reject);
  request.on('response', (response) => resolve(readReply(request, response)));
  request.on('close', () => reject(new Error('The receiver closed the connection without a reply.')));
  request.end(body);
  return promise;
}

/** The status counts from the moment it is here: a reply that breaks off or drips later only has a shorter body. */
async function readReply(request: ClientRequest, response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxReplyBytes - length));
      length += chunk.length;
      if (length > maxReplyBytes) break;
    }
  } catch {
    // What has come is kept.
  }
  request.destroy();
  const truncated = length > maxReplyBytes;
  // A character that the cut goes through is left out.
  const body = new TextDecoder().decode(Buffer.concat(chunks), { stream: truncated });
  return {
    status: response.statusCode ?? 0,
    response: { headers: textHeaders(response.headersDistinct), body: storable(body), truncated },
  };
}

/** Each header as one text, until they are more than is kept. */
function textHeaders(headers: NodeJS.Dict<number | string | string[]>): Record<string, string> {
  const kept: Record<string, string> = {};
  let length = 0;
  for (const [name, value = ''] of Object.entries(headers)) {
    const text = storable(Array.isArray(value) ? value.join(', ') : String(value));
    length += name.length + text.length;
    if (length > maxReplyBytes) break;
    kept[name] = text;
  }
  return kept;
}

/** PostgreSQL takes every character but one. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

const sentences: Partial<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection without a reply.',
  EPIPE: 'The receiver closed the connection without a reply.',
  EHOSTUNREACH: 'The receiver cannot be reached.',
  ENETUNREACH: 'The receiver cannot be reached.',
  ETIMEDOUT: 'The receiver cannot be reached.',
};

/** A network error for the owner of the webhook, who knows nothing of system calls. */
function sentence(cause: unknown): string {
  const error = toError(cause);
  if (error.name === 'TimeoutError') return 'The receiver did not answer in time.';
  if (error.name === 'AbortError') return 'The delivery was interrupted.';
  const code = errorCode(error);
  if (code === undefined) return error.message;
  if (/EPROTO|CERT|TLS|SSL|ISSUER|SIGNATURE/.test(code)) return `A secure connection cannot be made (${code}).`;
  if (code.startsWith('HPE_')) return `The reply is not valid HTTP (${code}).`;
  return sentences[code] ?? `The connection failed (${code}).`;
}
