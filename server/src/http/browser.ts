import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../accounts/audit.ts';
import type { People, Visitor } from '../accounts/people.ts';
import type { BrowserRequest } from '../accounts/sign-in.ts';
import { AppError } from '../lib/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; set for requests of the account page. */
    visitor: Visitor;
  }
}

/** The account page sends it with every request; no other site can, without a permission that nobody gives it. */
const pageHeader = 'x-millrun-page';

export function isFromPage(request: FastifyRequest): boolean {
  return request.headers[pageHeader] === '1';
}

/**
 * Cookies count only for requests that our own page made (docs/decisions/0021): a header of ours, and whatever the browser
 * says of where the request began.
 *
 * @throws AppError 403 `not_from_page`.
 */
export function requirePage(request: FastifyRequest): void {
  if (!isFromPage(request) || !beganHere(request))
    throw new AppError(403, 'not_from_page', 'This address is for the account page of this service alone.');
}

/** The browser's own word over TLS and on this machine; elsewhere it names the origin, which must be the host it asked. */
function beganHere({ headers, host }: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || URL.parse(origin)?.host === host;
}

export function browserOf(request: FastifyRequest): BrowserRequest {
  return {
    cookie: request.headers.cookie,
    userAgent: request.headers['user-agent']?.slice(0, longestUserAgent),
    address: request.ip,
    secure: request.protocol === 'https',
  };
}

const longestUserAgent = 300;

/**
 * The person behind a request of the page; their session may be extended with the reply.
 *
 * @throws AppError 401 `signed_out`, 403 `not_from_page`, 403 `no_account`.
 */
export async function identify(people: People, request: FastifyRequest, reply: FastifyReply): Promise<Visitor> {
  requirePage(request);
  const visitor = await people.visitor(browserOf(request));
  if (visitor === undefined) throw new AppError(401, 'signed_out', 'You are signed out. Sign in to go on.');
  setCookies(reply, visitor.cookies);
  return visitor;
}

export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  if (cookies.length > 0) void reply.header('Set-Cookie', [...cookies]);
}

/** The person as the audit log names them. */
export function actorOf({ visitor, ip }: FastifyRequest): Actor {
  return { name: visitor.email, address: ip };
}
