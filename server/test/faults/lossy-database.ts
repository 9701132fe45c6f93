import { mkdir } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { createLog } from '../../src/lib/log.ts';

/** A PostgreSQL behind a relay that can lose the reply to a commit: what was written is there, but nobody is told. */
export interface LossyDatabase extends AsyncDisposable {
  /** `DATABASE_URL` of the relay. */
  url: string;
  /** The next commit of a transaction that has sent `marker` is made, and its connection breaks before the reply. */
  loseReply(marker: string): Promise<void>;
  /** Breaks every connection and lets nobody in until `recover`. */
  fail(): void;
  recover(): void;
}

interface Loss {
  marker: string;
  happened: () => void;
}

export async function startLossyDatabase(directory: string): Promise<LossyDatabase> {
  const postgres = await startEmbeddedPostgres(directory, createLog('silent'));
  const sockets = join(directory, 'relay');
  await mkdir(sockets);
  let awaited: Loss | undefined;
  let failing = false;
  const open = new Set<Socket>();

  const relay = createServer((client) => {
    if (failing) return void client.destroy();
    const server = connect(join(postgres.connection.host, '.s.PGSQL.5432'));
    const state = { marked: false, losing: false };
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      if (/\bbegin\0/i.test(text)) state.marked = false;
      if (awaited !== undefined && text.includes(awaited.marker)) state.marked = true;
      if (state.marked && /\bcommit\0/i.test(text)) state.losing = true;
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (!state.losing) {
        client.write(chunk);
        return;
      }
      client.destroy();
      awaited?.happened();
      awaited = undefined;
    });
  });
  await listen(relay, join(sockets, '.s.PGSQL.5432'));

  return {
    url: `postgresql://${postgres.connection.user}@localhost/${postgres.connection.database}?host=${encodeURIComponent(sockets)}`,
    loseReply(marker) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { marker, happened: resolve };
      return promise;
    },
    fail() {
      failing = true;
      for (const socket of open) socket.destroy();
    },
    recover: () => void (failing = false),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => relay.close(resolve));
      await postgres.stop();
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve) => server.listen(path, () => resolve()));
}
