import type { FastifyReply } from 'fastify';
import type { StreamMessage } from '@millrun/sdk';

/** A comment keeps proxies from closing a quiet connection, in milliseconds. */
const heartbeatMs = 15_000;

interface Followed {
  /** The message for the run's state now, or undefined when the run is gone. */
  read(): Promise<StreamMessage | undefined>;
  /** Calls back when the run may have changed; returns the way out. */
  subscribe(onChange: () => void): () => void;
}

/**
 * Follows a run until it is terminal: its state now, then every change, each as an unnamed message. The state is read
 * after subscribing, so no change falls between; a message says the whole state, so a client that reconnects with
 * `Last-Event-ID` misses nothing either. Progress is already thinned where it is made.
 */
export async function streamRun(reply: FastifyReply, run: Followed): Promise<void> {
  const changes = createSignal();
  const unsubscribe = run.subscribe(changes.raise);
  const { raw } = reply;
  const closed = new Promise<'closed'>((resolve) => raw.once('close', () => resolve('closed')));
  try {
    let message = await run.read();
    reply.hijack();
    raw.writeHead(200, {
      ...headersOf(reply),
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    raw.write('retry: 3000\n\n');
    const heartbeat = setInterval(() => raw.write(': still here\n\n'), heartbeatMs);
    raw.once('close', () => clearInterval(heartbeat));
    let sent = '';
    let ends = false;
    while (message !== undefined && !ends) {
      const text = JSON.stringify(withoutTokens(message));
      if (text !== sent) raw.write(`id: ${eventId(message)}\ndata: ${JSON.stringify(message)}\n\n`);
      sent = text;
      ends = message.status === 'done' || message.status === 'failed';
      if (ends || (await Promise.race([changes.next(), closed])) === 'closed') break;
      message = keepProgress(message, await run.read());
    }
    clearInterval(heartbeat);
    raw.end();
  } finally {
    unsubscribe();
  }
}

/** Download addresses are signed anew at every read; that is no change. */
function withoutTokens(message: StreamMessage): unknown {
  return { ...message, outputs: message.outputs?.length };
}

/** A second attempt starts its own count; what was told does not go down. */
function keepProgress(before: StreamMessage, after: StreamMessage | undefined): StreamMessage | undefined {
  if (after?.progress === undefined || before.progress === undefined) return after;
  return { ...after, progress: Math.max(before.progress, after.progress) };
}

function eventId({ status, progress }: StreamMessage): string {
  return progress === undefined ? status : `${status}-${progress}`;
}

/** Headers other hooks set, such as the rate limit's. */
function headersOf(reply: FastifyReply): Record<string, string> {
  const entries = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

interface Signal {
  raise(): void;
  /** Resolves at the next raise, or at once when there was one since the last. */
  next(): Promise<void>;
}

export function createSignal(): Signal {
  let raised = false;
  let waiting: (() => void) | undefined;
  return {
    raise() {
      raised = true;
      waiting?.();
    },
    async next() {
      if (!raised) await new Promise<void>((resolve) => (waiting = resolve));
      raised = false;
      waiting = undefined;
    },
  };
}
