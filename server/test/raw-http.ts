import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';

/** One part of a multipart body; its headers are written as they are given, however wrong. */
export interface RawPart {
  disposition: string;
  content: string | Uint8Array;
}

export const boundary = 'a-boundary-of-the-tests';
export const multipartType = `multipart/form-data; boundary=${boundary}`;

/** A multipart body byte by byte, for names and mistakes that `FormData` would encode or prevent. */
export function multipart(parts: readonly RawPart[], options: { ended?: boolean } = {}): Buffer<ArrayBuffer> {
  const chunks = parts.flatMap(({ disposition, content }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from(options.ended === false ? '' : `--${boundary}--\r\n`)]);
}

/** A connection on which bytes are sent as they are. */
export interface RawConnection {
  socket: Socket;
  /** Everything received until now, and until the server closes it once `ended` is awaited. */
  received(): string;
  ended: Promise<void>;
}

export async function openRaw(origin: string, text: string | Uint8Array): Promise<RawConnection> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => undefined); // A reset is an end as well.
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(text);
  return { socket, received: () => received, ended };
}

/** The head of an HTTP/1.1 request. */
export function requestHead(line: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`;
}
