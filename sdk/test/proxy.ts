import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A bad line: passes bytes on to a server, and cuts connections when it is told to. */
export interface Proxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** Connections that have been opened. */
  connections(): number;
  /** What clients have sent, headers and bodies alike. */
  sent(): string;
  /** Cuts every connection there is. */
  cutAll(): void;
  /** Cuts the next connection that gets a reply, once so many bytes of it have been passed on; 0 passes none. */
  cutNextReplyAfter(bytes: number): void;
  /** Refuses new connections until it is called with false. */
  refuse(refuse: boolean): void;
}

const readingMs = 200;

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let connections = 0;
  let sent = '';
  let bytesLeft: number | undefined;
  let refusing = false;

  function join(client: Socket): void {
    connections += 1;
    if (refusing) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined); // A reset is an end as well.
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => {
      sent += chunk.toString('latin1');
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (bytesLeft === undefined || chunk.length < bytesLeft) {
        if (bytesLeft !== undefined) bytesLeft -= chunk.length;
        client.write(chunk);
        return;
      }
      const last = chunk.subarray(0, bytesLeft);
      bytesLeft = undefined;
      server.pause();
      // A reset throws away what the client has not read yet: it gets the time to.
      client.write(last, () => setTimeout(() => client.resetAndDestroy(), readingMs));
    });
  }

  const listener = createServer(join);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    origin: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    connections: () => connections,
    sent: () => sent,
    cutAll,
    cutNextReplyAfter: (bytes) => (bytesLeft = bytes),
    refuse: (refuse) => (refusing = refuse),
    async [Symbol.asyncDispose]() {
      cutAll();
      listener.close();
      await once(listener, 'close');
    },
  };
}
