import { clientError, MillrunError } from './errors.ts';
import { createEventParser } from './events.ts';
import { connectionCut, createPatience } from './patience.ts';
import { bodyOf, mayPass, segment, type Transport } from './transport.ts';
import type { Run, RunStatus, StreamMessage } from './types.ts';
import { anySignal, startWatchdog } from './watchdog.ts';

/** The service sends a comment every 15 s: after this long without a byte the connection is dead, in milliseconds. */
const silenceMs = 45_000;
/** The longest the service holds a `?wait=`, in seconds. */
const longestWaitS = 60;
const waitMarginMs = 15_000;

export function isTerminal(status: RunStatus): boolean {
  return status === 'done' || status === 'failed';
}

/**
 * The messages of a run's stream until it has ended. A connection that is cut is made again, with `Last-Event-ID`; what
 * the service repeats then is left out, and progress does not go down.
 *
 * @throws MillrunError when the service refuses, or cannot be reached for two minutes.
 */
export async function* followRun(
  transport: Transport,
  id: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage, void> {
  const patience = createPatience(signal);
  let lastEventId = '';
  let last: StreamMessage | undefined;
  let retryMs: number | undefined;
  for (;;) {
    try {
      for await (const event of readStream(transport, id, lastEventId, signal)) {
        patience.renew();
        ({ lastEventId, retryMs } = event);
        const message = withoutFall(last, event.message);
        if (isTold(last, message)) continue;
        last = message;
        yield message;
        if (isTerminal(message.status)) return;
      }
      throw connectionCut(transport.origin);
    } catch (error) {
      await patience.bear(error, retryMs);
    }
  }
}

interface ReadMessage {
  message: StreamMessage;
  lastEventId: string;
  retryMs: number | undefined;
}

/** The messages of one connection, until it ends. */
async function* readStream(
  transport: Transport,
  id: string,
  lastEventId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadMessage, void> {
  const silent = clientError('timed_out', `${transport.origin} has gone silent.`);
  const watchdog = startWatchdog(silenceMs, silent);
  const left = new AbortController();
  try {
    const response = await transport.open({
      method: 'GET',
      path: `/runs/${segment(id)}/stream`,
      headers: { Accept: 'text/event-stream', ...(lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId }) },
      repeatable: true,
      retries: 0,
      signal: anySignal(watchdog.signal, left.signal, signal),
    });
    const parser = createEventParser();
    const decoder = new TextDecoder();
    for await (const chunk of bodyOf(transport, response)) {
      watchdog.touch();
      for (const event of parser.push(decoder.decode(chunk, { stream: true }))) {
        yield { message: readMessage(transport, event.data), lastEventId: event.id, retryMs: parser.retryMs };
      }
    }
  } finally {
    watchdog.stop();
    left.abort();
  }
}

function readMessage(transport: Transport, data: string): StreamMessage {
  try {
    const message = JSON.parse(data) as Partial<StreamMessage> | null;
    if (typeof message?.status === 'string') return message as StreamMessage;
  } catch {
    // Not JSON: refused below.
  }
  throw clientError('bad_reply', `${transport.origin} sent a message that cannot be read.`);
}

/** A second attempt at a run starts its own count. */
function withoutFall(before: StreamMessage | undefined, message: StreamMessage): StreamMessage {
  if (message.progress === undefined || before?.progress === undefined) return message;
  return { ...message, progress: Math.max(before.progress, message.progress) };
}

function isTold(before: StreamMessage | undefined, message: StreamMessage): boolean {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(message);
}

/**
 * Waits with long polls until a run has ended; a lost connection or a service that restarts is borne for two minutes.
 *
 * @throws MillrunError `timed_out` after `timeoutMs`, with the run as it is then.
 */
export async function waitForRun(
  transport: Transport,
  id: string,
  { timeoutMs = Infinity, signal }: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined },
): Promise<Run> {
  const deadline = performance.now() + timeoutMs;
  const patience = createPatience(signal);
  let run: Run | undefined;
  for (;;) {
    const leftMs = deadline - performance.now();
    // The last look comes after the time is over: what ended within it counts.
    const wait = Math.max(0, Math.min(longestWaitS, Math.ceil(leftMs / 1000)));
    try {
      run = await transport.json<Run>({
        method: 'GET',
        path: `/runs/${segment(id)}`,
        query: { wait },
        repeatable: true,
        retries: 0,
        replyWithinMs: wait * 1000 + waitMarginMs,
        signal,
      });
      patience.renew();
    } catch (error) {
      const isOver = performance.now() >= deadline;
      if (isOver && error instanceof MillrunError && mayPass(error)) throw waitTimedOut(id, timeoutMs, run);
      await patience.bear(error);
      continue;
    }
    if (isTerminal(run.status)) return run;
    if (performance.now() >= deadline) throw waitTimedOut(id, timeoutMs, run);
  }
}

function waitTimedOut(id: string, timeoutMs: number, run: Run | undefined): MillrunError {
  const state = run === undefined ? 'could not be read' : `is still ${run.status}`;
  const message = `The run ${id} ${state} after ${Math.round(timeoutMs / 1000)} s.`;
  return clientError('timed_out', message, run === undefined ? {} : { run });
}
