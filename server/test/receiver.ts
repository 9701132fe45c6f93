import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import type { WebhookPayload } from '@millrun/sdk';
import { eventually } from './scenario.ts';

export interface ReceivedEvent {
  headers: IncomingHttpHeaders;
  body: string;
  payload: WebhookPayload;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

/** Somebody's server that webhooks are sent to, on loopback. */
export interface Receiver extends AsyncDisposable {
  url: string;
  events: ReceivedEvent[];
  /** Waits until so many events have come. */
  received(count: number): Promise<ReceivedEvent[]>;
}

interface Answer {
  status: number;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

/** Answers each event in turn with one of `answers`, the last one for all that follow; a number is a status alone. */
export async function startReceiver(...answers: (number | Answer)[]): Promise<Receiver> {
  const events: ReceivedEvent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const answer = answers[Math.min(events.length, answers.length - 1)] ?? 204;
      const { status, headers = {}, body: text } = typeof answer === 'number' ? { status: answer } : answer;
      events.push({
        headers: request.headers,
        body,
        payload: JSON.parse(body) as WebhookPayload,
        at: performance.now(),
      });
      response.writeHead(status, status === 302 ? { Location: '/elsewhere' } : headers).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    events,
    received: (count) => eventually(`${count} events`, () => events.length >= count && events),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A receiver that takes connections and never says anything. */
export async function startSilent(): Promise<{ url: string; connections(): number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
