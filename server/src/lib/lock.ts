import { mkdir, rm } from 'node:fs/promises';
import { createServer, connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { errorCode } from './errors.ts';
import type { Release } from './releasers.ts';

/**
 * Holds a place for the life of this process by listening on a unix socket at `path`: the kernel lets go however the
 * process ends, and somebody who answers there is alive. Undefined when somebody else holds it.
 */
export async function holdLock(path: string): Promise<Release | undefined> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  for (let attempt = 0; attempt < 2; attempt++) {
    const server = await listenOn(path);
    if (server !== undefined) return () => new Promise<void>((resolve) => server.close(() => resolve()));
    if (await answers(path)) return undefined;
    await rm(path, { force: true }); // Left by a process that was killed.
  }
  return undefined;
}

function listenOn(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.end());
    server.once('error', (error) => (errorCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
