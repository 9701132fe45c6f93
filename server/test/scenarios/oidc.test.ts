import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import { acceptLink, newPerson, openBrowser, type Browser } from '../browser.ts';
import { client, startProvider, type KnownPerson, type TestProvider } from '../oidc-provider.ts';
import { errorOf, queryDatabase } from '../scenario.ts';
import { startServer, type TestServer } from '../server.ts';

let server: TestServer;
let provider: TestProvider;

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const nobody: KnownPerson = { sub: 'nobody', email: 'nobody@example.com', email_verified: false };

async function start(signUp: 'open' | 'invitation'): Promise<[TestServer, TestProvider]> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const started = await startProvider(`${origin}/account/auth/callback/oidc`, nobody);
  const env = {
    PORT: String(port),
    MILLRUN_PUBLIC_URL: origin,
    MILLRUN_SIGN_UP: signUp,
    MILLRUN_OIDC_ISSUER: started.issuer,
    MILLRUN_OIDC_CLIENT_ID: client.client_id,
    MILLRUN_OIDC_CLIENT_SECRET: client.client_secret,
    MILLRUN_OIDC_NAME: 'Example Login',
    MILLRUN_DRAIN_S: '0',
  };
  return [await startServer({ env }), started];
}

beforeAll(async () => {
  [server, provider] = await start('open');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** Goes to the provider and back as a browser does; returns where it ends. */
async function continueWith(
  browser: Browser,
  at: TestServer,
  known: TestProvider,
  person: KnownPerson,
): Promise<string> {
  known.person = person;
  const atProvider = new Map<string, string>();
  let address = `${at.origin}/account/oidc/start`;
  for (let hops = 0; hops < 10; hops++) {
    const response = address.startsWith(at.origin)
      ? await browser.call('GET', address.slice(at.origin.length), undefined, { 'X-Millrun-Page': '' })
      : await visit(address, atProvider);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${address}: ${response.status} ${await response.text()}`);
    address = new URL(location, address).href;
    if (address.startsWith(at.origin) && !address.includes('/callback/')) return address.slice(at.origin.length);
  }
  throw new Error(`it goes on and on: ${address}`);
}

async function visit(address: string, jar: Map<string, string>): Promise<Response> {
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(address, { redirect: 'manual', headers: { cookie } });
  for (const each of response.headers.getSetCookie()) {
    const [name = '', value = ''] = (each.split(';', 1)[0] ?? '').split(/=(.*)/s);
    jar.set(name, value);
  }
  return response;
}

describe("the operator's provider", () => {
  test('is named on the sign-in page, and brings people in with an account of their own', async () => {
    const browser = openBrowser(server);
    expect((await browser.session()).oidc).toBe('Example Login');
    const person = { sub: 'ada', email: 'Ada@Example.com', email_verified: true };
    expect(await continueWith(browser, server, provider, person)).toBe('/');
    const state = await browser.session();
    expect(state).toMatchObject({
      person: { email: 'ada@example.com', admin: false, has_password: false },
      account: { role: 'owner', plan: 'pro' },
    });
    const again = openBrowser(server);
    await continueWith(again, server, provider, person);
    expect((await again.session()).person?.id).toBe(state.person?.id);
  });

  test('leaves nothing with us that would speak for a person there', async () => {
    const rows = await queryDatabase(
      server,
      "select access_token, refresh_token, id_token from sign_in_methods where provider_id = 'oidc'",
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual(rows.map(() => ({ access_token: null, refresh_token: null, id_token: null })));
  });

  test('does not give a person here to somebody who has the address there unproved', async () => {
    const { browser, email } = await newPerson(server);
    const stranger = openBrowser(server);
    const end = await continueWith(stranger, server, provider, { sub: 'thief', email, email_verified: false });
    expect(end).toMatch(/^\/sign-in\?error=/);
    expect((await stranger.session()).person).toBeUndefined();
    expect((await browser.session()).person?.email).toBe(email);
  });

  test('does not lead a proved address to a person who only claimed it', async () => {
    const squatter = openBrowser(server);
    const claimed = { email: 'claimed@example.com', password: 'a mill runs on water' };
    await squatter.ask('POST', '/account/sign-up', claimed);
    const rightful = openBrowser(server);
    const end = await continueWith(rightful, server, provider, {
      sub: 'rightful',
      email: claimed.email,
      email_verified: true,
    });
    expect(end).toMatch(/^\/sign-in\?error=/);
    expect((await rightful.session()).person).toBeUndefined();
  });

  test('joins a proved address to the person who was invited under it', async () => {
    const { email } = await newPerson(server);
    const browser = openBrowser(server);
    await continueWith(browser, server, provider, { sub: 'invited', email, email_verified: true });
    expect((await browser.session()).person).toMatchObject({ email, has_password: true });
  });

  test('is not believed for an answer nobody here has asked for', async () => {
    const browser = openBrowser(server);
    const response = await browser.call('GET', '/account/auth/callback/oidc?code=forged&state=forged');
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toContain('error=');
    expect((await browser.session()).person).toBeUndefined();
  });

  test('brings in nobody new where people come by invitation', async () => {
    const [closed, known] = await start('invitation');
    await using _server = closed;
    await using _provider = known;
    const browser = openBrowser(closed);
    const end = await continueWith(browser, closed, known, {
      sub: 'new',
      email: 'new@example.com',
      email_verified: true,
    });
    expect(end).toMatch(/^\/sign-in\?error=/);
    expect((await browser.session()).person).toBeUndefined();
    const link = closed.greeting().match(/http\S+\/link#\S+/)?.[0] ?? '';
    await acceptLink(openBrowser(closed), link, 'new@example.com');
    const after = await continueWith(browser, closed, known, {
      sub: 'new',
      email: 'new@example.com',
      email_verified: true,
    });
    expect(after).toBe('/');
    expect((await browser.session()).person?.admin).toBe(true);
  });

  test('is not there unless it is configured, and half a configuration is refused by name', async () => {
    await using plain = await startServer({ env: { MILLRUN_DRAIN_S: '0' } });
    await errorOf(await openBrowser(plain).call('GET', '/account/oidc/start'), 404);
    const half = startServer({ env: { MILLRUN_OIDC_ISSUER: 'https://login.example.com' } });
    await expect(half).rejects.toThrow(/MILLRUN_OIDC_CLIENT_ID must be set/);
  });
});
