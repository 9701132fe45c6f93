import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, connect, type Server } from 'node:net';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import { errorCode } from './errors.ts';
import type { Release } from './releasers.ts';

/** sockaddr_un has 108 bytes, the closing zero included; a few systems have less. */
const longestPath = 100;

/**
 * Holds a place for the life of this process by listening on a unix socket at `path`: the kernel lets go however the
 * process ends, and somebody who answers there is alive. Undefined when somebody else holds it.
 */
export async function holdLock(path: string): Promise<Release | undefined> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const guard = platform() === 'linux' ? await listenOn(guardOf(path)) : createServer();
  if (guard === undefined) return undefined;
  const socket = Buffer.byteLength(path) > longestPath ? createServer() : await replaceDead(path);
  if (socket === undefined) {
    await close(guard);
    return undefined;
  }
  return async () => {
    await close(socket);
    await close(guard);
  };
}

/**
 * Linux's abstract names leave nothing behind, so one of several that find the same dead socket may replace it. The
 * file is for those who cannot see the name: in a container of their own, or by another path to the same directory. Where the path is too long for a socket, the name
 * alone must do.
 */
function guardOf(path: string): string {
  return `\0millrun-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`;
}

async function replaceDead(path: string): Promise<Server | undefined> {
  const server = await listenOn(path);
  if (server !== undefined || (await answers(path))) return server;
  await rm(path, { force: true }); // Left by a process that was killed.
  return listenOn(path);
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
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
