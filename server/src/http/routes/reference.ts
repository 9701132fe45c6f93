import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';

/** Nothing from another host, no script inside the page; the library puts its style sheets into the page itself. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const pageHeaders = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const ourFiles = [
  { url: '/docs', file: 'page.html', type: 'text/html; charset=utf-8' },
  { url: '/docs/page.css', file: 'page.css', type: 'text/css; charset=utf-8' },
  { url: '/docs/start.js', file: 'start.js', type: 'text/javascript; charset=utf-8' },
] as const;

/** The readable reference at `/docs`: our page and Scalar's library, drawn from `openapi.json` without internet. */
export async function referenceRoutes(app: FastifyInstance): Promise<void> {
  for (const { url, file, type } of ourFiles) {
    const content = await readFile(new URL(`../reference/${file}`, import.meta.url));
    const etag = etagOf(content);
    app.get(url, { schema: { hide: true } }, (request, reply) => {
      void reply.headers(pageHeaders);
      return isKnown(request.headers['if-none-match'], etag, reply)
        ? reply.code(304).send()
        : reply.type(type).send(content);
    });
  }
  app.get('/docs/scalar.js', { schema: { hide: true } }, async (request, reply) => {
    const { compressed, etag } = await library();
    void reply.headers(pageHeaders).header('Vary', 'Accept-Encoding');
    if (isKnown(request.headers['if-none-match'], etag, reply)) return reply.code(304).send();
    void reply.type('text/javascript; charset=utf-8');
    if (!takesGzip(request.headers['accept-encoding'])) return reply.send(await promisify(gunzip)(compressed));
    return reply.header('Content-Encoding', 'gzip').send(compressed);
  });
}

interface Library {
  compressed: Buffer;
  etag: string;
}

let loading: Promise<Library> | undefined;

/** Scalar's library, for whoever opens the reference first; kept compressed, since it is 4 MB. */
function library(): Promise<Library> {
  loading ??= loadLibrary().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Its package keeps the library as a text within its code and only gives it out over its own route. */
async function loadLibrary(): Promise<Library> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  await using plugin = fastify();
  await plugin.register(scalar, { routePrefix: '/docs', configuration: { url: '/' } });
  const { statusCode, rawPayload } = await plugin.inject('/docs/js/scalar.js');
  if (statusCode !== 200) throw new Error(`@scalar/fastify-api-reference has no library: ${statusCode}`);
  return { compressed: await promisify(gzip)(rawPayload), etag: etagOf(rawPayload) };
}

function etagOf(content: Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** Sets what a cache needs: it keeps the file and asks whether it is still the same. True when it is. */
function isKnown(known: string | undefined, etag: string, reply: FastifyReply): boolean {
  void reply.headers({ ETag: etag, 'Cache-Control': 'no-cache' });
  return known?.includes(etag) ?? false;
}

function takesGzip(accepted: string | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted ?? '');
}
