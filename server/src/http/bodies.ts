import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../lib/errors.ts';

/** A body must arrive at this many bytes a second, measured over each interval: a slow one ties up a connection. */
const slowestBytesPerSecond = 8000;
const intervalMs = 30_000;
/** How long a client that was answered early may go on sending before the connection is cut, in milliseconds. */
const lingerMs = 2000;

/** Rules for request bodies that hold on every route: they keep moving, are not compressed, and end with their reply. */
export function guardBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      done(new AppError(415, 'unsupported_media_type', 'A compressed request body is not taken; send it as it is.'));
      return;
    }
    if (hasBody(request)) watchPace(request);
    // Many clients announce a type with every request: where no body is wanted and none is sent, it says nothing.
    else if (request.routeOptions.schema?.body === undefined) delete request.raw.headers['content-type'];
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    if (hasBody(request) && !request.raw.complete) cutOff(request);
    done();
  });
}

function hasBody(request: FastifyRequest): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

function watchPace(request: FastifyRequest): void {
  const { raw } = request;
  const { socket } = raw;
  let before = socket.bytesRead;
  const timer = setInterval(() => {
    const received = socket.bytesRead - before;
    before = socket.bytesRead;
    if (raw.complete) clearInterval(timer);
    // A reader that is behind (a slow disk) pauses the socket: that is not the client's fault.
    else if (received < (slowestBytesPerSecond * intervalMs) / 1000 && !socket.isPaused()) socket.destroy();
  }, intervalMs);
  raw.once('close', () => clearInterval(timer));
}

/**
 * Answered before the body was read (401, 413, …): what is under way is read and dropped, so that the reply is not lost to
 * a reset, and a client that goes on sending is cut off. The reply must not say `Connection: close`: Node would then close
 * the connection together with it.
 */
function cutOff(request: FastifyRequest): void {
  const { raw } = request;
  raw.unpipe();
  raw.resume();
  const timer = setTimeout(() => raw.socket.destroy(), lingerMs);
  raw.once('close', () => clearTimeout(timer));
  raw.once('end', () => clearTimeout(timer));
}
