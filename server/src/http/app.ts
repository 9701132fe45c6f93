import type { Server } from 'node:http';
import swagger from '@fastify/swagger';
import { Ajv, type AnySchema } from 'ajv';
import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifySchemaCompiler,
} from 'fastify';
import { AppError, notFound } from '../lib/errors.ts';
import { createGate } from './auth.ts';
import { identify } from './browser.ts';
import { guardBodies } from './bodies.ts';
import type { Edge } from './edge.ts';
import { answerBrokenRequest, installErrorHandling, newRequestId, sendError, toAppError } from './errors.ts';
import { accountRoutes } from './routes/account.ts';
import { adminRoutes } from './routes/admin.ts';
import { healthRoutes } from './routes/health.ts';
import { outputRoutes } from './routes/outputs.ts';
import { pageRoutes, wantsPage, type SendPage } from './routes/page.ts';
import { referenceRoutes } from './routes/reference.ts';
import { runRoutes } from './routes/runs.ts';
import { oidcRoutes, personRoutes, sessionRoutes } from './routes/session.ts';
import { toolRoutes } from './routes/tools.ts';
import { usageRoutes } from './routes/usage.ts';
import { webhookRoutes } from './routes/webhooks.ts';

/** The specification's version prefix. */
export const apiPrefix = '/api/v2';

/** Largest JSON body. */
const bodyLimit = 64 * 1024;
/** Longest part of a path: a file name of 200 bytes, each of which takes three characters in an address. */
const maxParamLength = 600;
/** The first line and the headers must arrive within this, in milliseconds. */
const headersTimeout = 20_000;
/** A request, its upload included, may last this long, in milliseconds; must not be shorter than `headersTimeout`. */
const requestTimeout = 60 * 60 * 1000;

/** The whole edge: what is answered where, readable as the specification's table of endpoints. */
export async function createApp(edge: Edge): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: edge.log as FastifyBaseLogger,
    // One line a request is written below; Fastify's two would be half of the log.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    trustProxy: edge.trustProxy,
    bodyLimit,
    requestTimeout,
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) =>
      void sendError(reply.header('X-Request-Id', request.id), request, toAppError(error)),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, edge.log),
    forceCloseConnections: 'idle',
  });
  (app.server as Server).headersTimeout = headersTimeout;
  // Replies are typed where they are made; a second description must not be able to drop a field.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));

  app.setValidatorCompiler(createJudge());
  installErrorHandling(app);
  installRequestLog(app);
  app.removeContentTypeParser('text/plain'); // JSON, and forms where files are sent: nothing else is taken.
  guardBodies(app);
  await documentApi(app);
  const methodsAt = rememberMethods(app);

  await app.register(
    async (api) => {
      await api.register(async (authenticated) => {
        authenticated.addHook('onRequest', createGate(edge));
        toolRoutes(authenticated, edge);
        runRoutes(authenticated, edge);
        usageRoutes(authenticated, edge);
        webhookRoutes(authenticated, edge);
      });
      await api.register(async (signed) => outputRoutes(signed, edge));
      api.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
    },
    { prefix: apiPrefix },
  );
  await app.register(async (account) => accountScope(account, edge), { prefix: '/account' });
  healthRoutes(app, edge);
  await referenceRoutes(app);
  const sendPage = await pageRoutes(app);
  answerUnknown(app, methodsAt, sendPage);
  return app;
}

/** The account page's own routes: for a browser that is signed in, never for a token. */
function accountScope(scope: FastifyInstance, edge: Edge): void {
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
  scope.addHook('onRequest', async (_request, reply) => void reply.header('Cache-Control', 'no-store'));
  oidcRoutes(scope, edge);
  void scope.register(async (everybody) => sessionRoutes(everybody, edge));
  void scope.register(async (signedIn) => {
    signedIn.addHook('onRequest', async (request, reply) => {
      request.visitor = await identify(edge.people, request, reply);
    });
    personRoutes(signedIn, edge);
    accountRoutes(signedIn, edge);
    void signedIn.register(async (admin) => adminRoutes(admin, edge), { prefix: '/admin' });
  });
}

/** A query is text, so the numbers in it are read; a JSON body has types of its own and is taken at its word. */
function createJudge(): FastifySchemaCompiler<AnySchema> {
  const text = new Ajv({ allErrors: true, coerceTypes: true });
  const typed = new Ajv({ allErrors: true });
  return ({ schema, httpPart }) => (httpPart === 'body' ? typed : text).compile(schema);
}

function installRequestLog(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    request.log.info(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    );
    done();
  });
}

async function documentApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Millrun API',
        version: '2.0.0',
        description:
          'Upload files to a tool, get a run back at once, follow it by polling or Server-Sent Events, download the outputs.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token: mr_…' } } },
      security: [{ token: [] }],
    },
  });
}

/** Remembers every route that is added from now on; tells the methods an address takes. */
function rememberMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { method: string; pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    if (url.includes('*')) return;
    const pattern = new RegExp(
      `^${url.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/:[a-z]+/g, '[^/]+')}/?$`,
    );
    for (const each of [method].flat()) routes.push({ method: each, pattern });
  });
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}

/** 405 with `Allow` for an address that knows other methods; else 404, as a page for somebody who mistyped it. */
function answerUnknown(app: FastifyInstance, methodsAt: (path: string) => string[], sendPage: SendPage): void {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = methodsAt(path);
    if (allowed.length > 0 && !allowed.includes(request.method))
      return sendError(
        reply,
        request,
        new AppError(405, 'method_not_allowed', `This address takes ${allowed.join(', ')}.`, {
          headers: { Allow: allowed.join(', ') },
        }),
      );
    const isForPrograms = path.startsWith('/api/') || path.startsWith('/account/');
    if (wantsPage(request) && !isForPrograms) return sendPage(reply, 404);
    return sendError(reply, request, notFound('There is nothing at this address.'));
  });
}
