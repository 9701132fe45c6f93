import type { ErrorBody, StreamMessage } from '@millrun/sdk';
import { createEventParser } from '@millrun/sdk/events';
import { ApiError, apiPrefix, pageHeader } from '../api.ts';

/** The service sends a comment every 15 s: after this long without a byte the connection is dead, in milliseconds. */
const silenceMs = 45_000;
/** The first pause before connecting again, in milliseconds; it doubles with every failure in a row. */
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export interface Following {
  /** Ends it; the promise is then rejected with the signal's reason. */
  signal: AbortSignal;
  /** Called for every message, the last one included. Each says the whole state. */
  onMessage(message: StreamMessage): void;
  /** False when the connection was lost and is being restored, true when it is there again. */
  onConnection?(connected: boolean): void;
}

/**
 * Follows a run to its end over Server-Sent Events, and connects again for as long as that takes. `EventSource` cannot
 * send the header that the service asks for.
 *
 * @returns The last message: `done` or `failed`.
 * @throws ApiError when the service refuses for good: the run is gone, or nobody is signed in any more.
 */
export async function followRun(runId: string, { signal, onMessage, onConnection }: Following): Promise<StreamMessage> {
  const progress = { lastEventId: '', retryMs: firstPauseMs, failures: 0 };
  for (;;) {
    try {
      const response = await connect(runId, progress.lastEventId, signal);
      onConnection?.(true);
      const last = await readToEnd(response, signal, progress, onMessage);
      if (last !== undefined) return last;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError && isFinal(error.status)) throw error;
      if (error instanceof Refused) progress.retryMs = Math.max(progress.retryMs, error.retryAfterMs);
    }
    onConnection?.(false);
    await pause(pauseBefore(progress), signal);
    progress.failures++;
  }
}

interface Progress {
  lastEventId: string;
  /** What the service last asked for, in milliseconds. */
  retryMs: number;
  /** Connections in a row that brought no message. */
  failures: number;
}

/** A refusal that may pass: too many requests, or a service that is starting. */
class Refused extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('refused');
    this.retryAfterMs = retryAfterMs;
  }
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

async function connect(runId: string, lastEventId: string, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { ...pageHeader, Accept: 'text/event-stream' };
  if (lastEventId !== '') headers['Last-Event-ID'] = lastEventId;
  const response = await fetch(`${apiPrefix}/runs/${encodeURIComponent(runId)}/stream`, {
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    signal,
  });
  if (response.ok) return response;
  if (!isFinal(response.status)) {
    void response.body?.cancel();
    throw new Refused(Number(response.headers.get('Retry-After') ?? 0) * 1000 || 0);
  }
  const body = (await response.json().catch(() => ({}))) as Partial<ErrorBody>;
  throw new ApiError(response.status, body);
}

/** Reads one connection: the run's last message, or undefined when the connection ended before it. */
async function readToEnd(
  response: Response,
  signal: AbortSignal,
  progress: Progress,
  onMessage: (message: StreamMessage) => void,
): Promise<StreamMessage | undefined> {
  const parser = createEventParser();
  for await (const text of chunks(response, signal)) {
    for (const event of parser.push(text)) {
      const message = readMessage(event.data);
      if (message === undefined) return undefined;
      progress.lastEventId = event.id;
      progress.failures = 0;
      onMessage(message);
      if (message.status === 'done' || message.status === 'failed') return message;
    }
    if (parser.retryMs !== undefined) progress.retryMs = parser.retryMs;
  }
  return undefined;
}

/** The text of a response as it comes; ends when the connection does, is broken, or has been silent for too long. */
async function* chunks(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const chunk = await withinSilence(reader.read());
      if (chunk === undefined || chunk.done) return;
      signal.throwIfAborted();
      yield chunk.value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** What a read gives, or undefined when it takes longer than a living connection can. */
async function withinSilence<T>(read: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), silenceMs);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function readMessage(data: string): StreamMessage | undefined {
  try {
    const message = JSON.parse(data) as Partial<StreamMessage> | null;
    return typeof message?.status === 'string' ? (message as StreamMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** With jitter, so that the readers of a service that was restarted do not all come at once. */
function pauseBefore({ retryMs, failures }: Progress): number {
  const base = Math.min(longestPauseMs, Math.max(retryMs, firstPauseMs * 2 ** Math.min(failures, 10)));
  return base * (0.8 + Math.random() * 0.4);
}

/** Waits, but no longer than until the browser says that the network is back. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const over = new AbortController();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    over.signal.addEventListener('abort', () => clearTimeout(timer));
    signal.addEventListener('abort', () => resolve(), { signal: over.signal });
    // Outside browsers, where the tests run, there is nobody to say it.
    globalThis.addEventListener?.('online', () => resolve(), { signal: over.signal });
  });
  over.abort();
  signal.throwIfAborted();
}
