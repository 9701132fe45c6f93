import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, notFound } from '../../lib/errors.ts';
import type { Edge } from '../edge.ts';

export function healthRoutes(app: FastifyInstance, edge: Edge): void {
  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const { ready, checks, sandbox } = await edge.health();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not_ready', checks, sandbox });
  });
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    checkMetricsAccess(request, edge.metricsToken);
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await edge.metrics());
  });
}

/** Loopback, or whoever has the token; everybody else does not learn that there is such a page. */
function checkMetricsAccess(request: FastifyRequest, token: string | undefined): void {
  if (token === undefined) {
    if (isLoopbackAddress(request.socket.remoteAddress) && request.headers['x-forwarded-for'] === undefined) return;
    throw notFound('There is nothing at this address.');
  }
  const given = Buffer.from(request.headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new AppError(401, 'token_invalid', 'Metrics need the metrics token.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address ?? '');
}
