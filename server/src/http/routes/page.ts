import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What `web/build.ts` has made. */
const built = fileURLToPath(new URL('../../../../web/dist/', import.meta.url));
/** Stands in the built page wherever a nonce belongs (`web/vite.config.ts`). */
const noncePlaceholder = 'CSP_NONCE';

/** Addresses of the page (`web/src/app.tsx`); the browser does the rest. */
const addresses = [
  '/',
  '/sign-in',
  '/sign-up',
  '/link',
  '/tools',
  '/tools/:slug',
  '/runs',
  '/runs/:id',
  '/tokens',
  '/webhooks',
  '/webhooks/:id',
  '/usage',
  '/quick-start',
  '/settings',
  '/admin',
];

/**
 * No script, style or frame but our own, no request to anybody else. Mantine writes style elements, which carry the nonce
 * of their reply; previews are blobs.
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const safeHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

export type SendPage = (reply: FastifyReply, status?: number) => FastifyReply;

/** The account page. */
export async function pageRoutes(app: FastifyInstance): Promise<SendPage> {
  const html = await readFile(`${built}index.html`, 'utf8');
  const send: SendPage = (reply, status = 200) => {
    const nonce = randomBytes(16).toString('base64');
    return reply
      .code(status)
      .headers({ ...safeHeaders, 'Content-Security-Policy': policy(nonce), 'Cache-Control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(html.replaceAll(noncePlaceholder, nonce));
  };
  const hidden = { schema: { hide: true } };
  for (const address of addresses) app.get(address, hidden, async (_request, reply) => send(reply));
  await app.register(fastifyStatic, {
    root: built,
    index: false,
    wildcard: false,
    globIgnore: ['index.html', 'index.html.*'],
    preCompressed: true,
    cacheControl: false,
    setHeaders(reply, path) {
      reply.header('X-Content-Type-Options', 'nosniff');
      // The name of an asset is a hash of its content.
      const forever = path.includes('/assets/');
      reply.header('Cache-Control', forever ? 'public, max-age=31536000, immutable' : 'public, max-age=3600');
    },
  });
  return send;
}

/** A person has mistyped an address, rather than a program. */
export function wantsPage({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}
