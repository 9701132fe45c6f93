import { setTimeout as sleep } from 'node:timers/promises';
import { clientError, errorOfReply, MillrunError } from './errors.ts';
import { anySignal, startWatchdog } from './watchdog.ts';

export interface TransportOptions {
  /** Where the service is: `https://files.example.com`, with or without `/api/v2`. */
  baseUrl: string;
  token: string;
  fetch: typeof globalThis.fetch;
  /** Tries after the first one. */
  maxRetries: number;
}

/** A body that is made again for every try. */
export interface OutgoingBody {
  headers: Record<string, string>;
  /** Whether `open` works more than once. */
  repeatable: boolean;
  open(): AsyncIterable<Uint8Array>;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/v2`, or absolute and then sent without the token. */
  path: string;
  query?: Record<string, string | number | undefined>;
  headers?: Record<string, string>;
  json?: unknown;
  body?: OutgoingBody;
  /** Asking twice does the same as asking once, so a lost reply is no reason to give up. */
  repeatable: boolean;
  /** Tries after the first one; those of the client unless told. */
  retries?: number;
  /** Milliseconds until the reply must have begun, after the body was sent. */
  replyWithinMs?: number;
  signal?: AbortSignal | undefined;
}

export interface Transport {
  /** `https://files.example.com` */
  readonly origin: string;
  /** Sends until there is a reply to read; any but 2xx is thrown. The caller reads or cancels its body. */
  open(request: ApiRequest): Promise<Response>;
  /** The JSON of a reply; undefined for 204. */
  json<T>(request: ApiRequest): Promise<T>;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

const apiPrefix = '/api/v2';
const replyWithinMs = 30_000;
/** A limit of a minute is waited for; a day's, or a missing engine, is not. */
const longestRetryAfterS = 60;
const firstPauseMs = 250;
const longestPauseMs = 8000;

/**
 * The way to the service: the one place that knows the token. Tries again after 429 and 503 as `Retry-After` says, up to
 * a minute, and after a lost connection when the request may be repeated.
 *
 * @throws TypeError for an address or a token that cannot be one.
 */
export function createTransport({ baseUrl, token, fetch, maxRetries }: TransportOptions): Transport {
  const base = readBaseUrl(baseUrl);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('token must be an API token: mr_ and letters and digits');

  async function attempt<T>(request: ApiRequest, read: (response: Response) => Promise<T> | T): Promise<T> {
    const late = clientError('timed_out', `${base.origin} did not answer in time.`);
    const watchdog = startWatchdog(request.replyWithinMs ?? replyWithinMs, late);
    const upload = openBody(request, watchdog.touch);
    try {
      const response = await fetch(addressOf(base, request), {
        method: request.method,
        headers: headersOf(request, token),
        redirect: redirectOf(request),
        signal: anySignal(watchdog.signal, request.signal),
        ...upload.init,
      });
      if (!response.ok) throw await errorOfReply(response);
      return await read(response);
    } catch (error) {
      request.signal?.throwIfAborted();
      throw upload.problem() ?? toConnectionError(base.origin, error);
    } finally {
      watchdog.stop();
      upload.close();
    }
  }

  async function send<T>(request: ApiRequest, read: (response: Response) => Promise<T> | T): Promise<T> {
    let replyLost = false;
    for (let failures = 0; ; failures++) {
      request.signal?.throwIfAborted();
      try {
        return await attempt(request, read);
      } catch (error) {
        if (!(error instanceof MillrunError) || request.signal?.aborted === true) throw error;
        replyLost ||= mayHaveArrived(error);
        const pauseMs =
          failures < (request.retries ?? maxRetries) ? pauseBefore(error, request, failures, replyLost) : undefined;
        if (pauseMs === undefined) throw replyLost && !error.replyLost ? withLostReply(error) : error;
        await pause(pauseMs, request.signal);
      }
    }
  }

  return {
    origin: base.origin,
    open: (request) => send(request, (response) => response),
    json: <T>(request: ApiRequest) => send(request, (response) => readJson<T>(response)),
  };
}

/** A pause that the signal ends, with its own reason. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

function readBaseUrl(text: string): { origin: string; prefix: string } {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError(`baseUrl must be an address such as https://files.example.com, not "${text}"`);
  const path = url.pathname.replace(/\/+$/, '');
  return { origin: url.origin, prefix: path.endsWith(apiPrefix) ? path : path + apiPrefix };
}

function isAbsolute(path: string): boolean {
  return /^https?:\/\//.test(path);
}

/**
 * A redirect of the API is an error that names where it leads. With a body it can only be an error: in every other mode
 * Node's fetch keeps a copy of all that was sent, for the case that it has to be sent again, and a file of 2 GB takes 2 GB.
 */
function redirectOf({ path, body }: ApiRequest): NonNullable<RequestInit['redirect']> {
  if (body !== undefined) return 'error';
  return isAbsolute(path) ? 'follow' : 'manual';
}

function addressOf(base: { origin: string; prefix: string }, { path, query = {} }: ApiRequest): string {
  if (isAbsolute(path)) return path;
  const url = new URL(base.origin + base.prefix + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** A part of a path that somebody else chose. */
export function segment(text: string): string {
  if (typeof text !== 'string' || /^\.{0,2}$/.test(text)) throw new TypeError(`"${text}" is not an id`);
  return encodeURIComponent(text);
}

function headersOf(request: ApiRequest, token: string): Record<string, string> {
  return {
    ...(isAbsolute(request.path) ? {} : { Authorization: `Bearer ${token}`, Accept: 'application/json' }),
    ...(request.json === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...request.body?.headers,
    ...request.headers,
  };
}

interface OpenBody {
  init: RequestInit;
  /** Why the body could not be made, which is what fetch fails of then. */
  problem(): unknown;
  close(): void;
}

function openBody(request: ApiRequest, onChunk: () => void): OpenBody {
  const none = { problem: () => undefined, close: () => undefined };
  if (request.json !== undefined) return { init: { body: JSON.stringify(request.json) }, ...none };
  if (request.body === undefined) return { init: {}, ...none };
  const chunks = request.body.open()[Symbol.asyncIterator]();
  let problem: unknown;
  const close = () => void chunks.return?.()?.catch(() => undefined);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      onChunk();
      try {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        problem = error;
        controller.error(error);
      }
    },
    cancel: close,
  });
  return { init: { body, duplex: 'half' } as RequestInit, problem: () => problem, close };
}

/** The bytes of a reply as they come. */
export async function* bodyOf({ origin }: Transport, response: Response): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw toConnectionError(origin, error);
  }
}

async function readJson<T>(response: Response): Promise<T> {
  if (response.status === 204) return undefined as T;
  if (!/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel();
    throw notTheApi(response);
  }
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw notTheApi(response);
  }
}

function notTheApi({ url, status }: Response): MillrunError {
  const origin = URL.parse(url)?.origin ?? 'What answered';
  return clientError('bad_reply', `${origin} is not a Millrun server, or not its API.`, { status });
}

/** Errors of a connection that never was: nothing can have arrived. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Whatever fetch, or reading a reply, throws; errors of ours stay as they are. */
function toConnectionError(origin: string, error: unknown): MillrunError {
  if (error instanceof MillrunError) return error;
  const cause = rootOf(error);
  if (cause.message === 'unexpected redirect')
    return clientError('bad_reply', `${origin} redirects elsewhere; use the address it leads to.`, { cause: error });
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const reason = connectionProblems[code] ?? (cause.message === '' ? code : cause.message.replace(/\.$/, ''));
  return clientError('connection_failed', `${origin} cannot be reached: ${reason}.`, {
    cause: error,
    replyLost: !neverConnected.has(code),
  });
}

const connectionProblems: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up just now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EPIPE: 'the connection was cut',
};

/** The error at the end of the chain of causes, or the first of several addresses'. */
function rootOf(error: unknown): Error {
  let root = error instanceof Error ? error : new Error(String(error));
  for (;;) {
    const next: unknown = root instanceof AggregateError ? (root.errors as unknown[])[0] : root.cause;
    if (!(next instanceof Error)) return root;
    root = next;
  }
}

/** Whether what was asked may have been done although no reply says so. */
function mayHaveArrived({ status, code, replyLost }: MillrunError): boolean {
  if (status === 503) return code === 'database_unavailable' || code === 'bad_reply';
  return replyLost || code === 'timed_out' || status === 502 || status === 504;
}

function withLostReply(error: MillrunError): MillrunError {
  const { code, message, status, requestId, errors, retryAfterS, cause } = error;
  return new MillrunError(code, message, { status, requestId, errors, retryAfterS, cause, replyLost: true });
}

/** A failure that may pass by itself. */
export function mayPass({ status, code }: MillrunError): boolean {
  return code === 'connection_failed' || code === 'timed_out' || [408, 429, 502, 503, 504].includes(status);
}

/** Milliseconds until the next try; undefined when there is none. */
function pauseBefore(
  error: MillrunError,
  request: ApiRequest,
  failures: number,
  replyLost: boolean,
): number | undefined {
  if (request.body?.repeatable === false) return undefined;
  // The service may still be receiving the request whose reply was lost.
  const isOurOwnKey = replyLost && error.code === 'idempotency_key_in_use';
  if (!mayPass(error) && !isOurOwnKey) return undefined;
  if (!request.repeatable && error.status !== 429) return undefined;
  if (error.retryAfterS !== undefined) {
    return error.retryAfterS > longestRetryAfterS ? undefined : error.retryAfterS * 1000 + Math.random() * 250;
  }
  return backOff(failures);
}

/** A pause that doubles, with jitter, so that clients of a service that was restarted do not all come at once. */
export function backOff(failures: number, firstMs = firstPauseMs, longestMs = longestPauseMs): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(failures, 16)) * (0.75 + Math.random() / 2);
}
