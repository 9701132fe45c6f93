import type { SessionState } from '@millrun/web/wire';
import { makePersonLink } from './scenario.ts';
import type { TestServer } from './server.ts';

/** A browser that has the account page open: its cookies, and what it sends with every request. */
export interface Browser {
  /** The cookie header it would send. */
  readonly cookies: string;
  /** A request of the page; `headers` replace what the page sends, an empty one takes it away. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The reply's body; throws unless it is 2xx. */
  ask<T>(method: string, path: string, body?: unknown): Promise<T>;
  session(): Promise<SessionState>;
  /** Another browser with the same cookies, as they are now. */
  clone(): Browser;
}

let addresses = 0;

/** Each browser has a network address of its own where the server trusts its proxy: attempts are limited by address. */
export function openBrowser(server: TestServer, jar = new Map<string, string>()): Browser {
  const address = `203.0.113.${(addresses += 1) % 250}`;
  const cookieHeader = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const call: Browser['call'] = async (method, path, body, headers = {}) => {
    const sent = new Headers({ 'X-Millrun-Page': '1', 'X-Forwarded-For': address, ...headers });
    for (const [name, value] of Object.entries(headers)) if (value === '') sent.delete(name);
    if (jar.size > 0 && headers['Cookie'] === undefined) sent.set('Cookie', cookieHeader());
    const init: RequestInit = { method, headers: sent, redirect: 'manual' };
    if (body instanceof FormData) init.body = body;
    else if (body !== undefined) {
      sent.set('Content-Type', 'application/json');
      init.body = JSON.stringify(body);
    }
    const response = await fetch(server.origin + path, init);
    for (const cookie of response.headers.getSetCookie()) keep(jar, cookie);
    return response;
  };
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await call(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  return {
    get cookies() {
      return cookieHeader();
    },
    call,
    ask,
    session: () => ask<SessionState>('GET', '/account/session'),
    clone: () => openBrowser(server, new Map(jar)),
  };
}

function keep(jar: Map<string, string>, cookie: string): void {
  const [pair = ''] = cookie.split(';');
  const [name = '', value = ''] = pair.split('=', 2);
  if (/max-age=0/i.test(cookie)) jar.delete(name);
  else jar.set(name, value);
}

export const goodPassword = 'a mill runs on water';

/** The secret of a link such as the server prints; a secret is its own. */
export function secretOf(link: string): string {
  return link.slice(link.indexOf('#') + 1);
}

let people = 0;

/** A person of a new account on a plan, signed in through a one-time link. */
export async function newPerson(
  server: TestServer,
  options: { plan?: string; admin?: boolean; email?: string } = {},
): Promise<{ browser: Browser; email: string; password: string }> {
  const email = options.email ?? `somebody-${(people += 1)}@example.com`;
  const { plan = 'unlimited', admin = false } = options;
  const browser = openBrowser(server);
  await acceptLink(browser, await makePersonLink(server, email, { plan, admin }), email);
  return { browser, email, password: goodPassword };
}

export async function acceptLink(browser: Browser, link: string, email: string): Promise<SessionState> {
  return browser.ask('POST', '/account/link/accept', { secret: secretOf(link), email, password: goodPassword });
}
