import { describe, expect, test } from 'vitest';
import type { LinkInfo, MadeLink, SessionState, SignedInDevice } from '@millrun/web/wire';
import { acceptLink, goodPassword, newPerson, openBrowser, secretOf } from '../browser.ts';
import { errorOf, queryDatabase, useServer } from '../scenario.ts';
import { startServer } from '../server.ts';

const scenario = useServer({
  env: { MILLRUN_TRUST_PROXY: 'yes', MILLRUN_SIGN_UP: 'open', MILLRUN_DEFAULT_PLAN: 'free' },
});
const open = () => openBrowser(scenario.server);
const signedIn = async (options = {}) => newPerson(scenario.server, options);
const signIn = (email: string, password: string) => open().call('POST', '/account/session', { email, password });

describe('the first start', () => {
  test('prints a link that makes the administrator, once; the next start prints none', async () => {
    await using server = await startServer({ env: { MILLRUN_DRAIN_S: '0' } });
    const link = server.greeting().match(/http\S+\/link#\S+/)?.[0] ?? '';
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/link#[\w-]{43}$/);
    const info = await openBrowser(server).ask<LinkInfo>('POST', '/account/link', { secret: secretOf(link) });
    expect(info.purpose).toBe('first_person');
    const state = await acceptLink(openBrowser(server), link, 'First@Example.com');
    expect(state).toMatchObject({
      person: { email: 'first@example.com', admin: true, has_password: true },
      account: { plan: 'unlimited', role: 'owner' },
    });
    const again = { secret: secretOf(link), email: 'second@example.com', password: goodPassword };
    expect((await errorOf(await openBrowser(server).call('POST', '/account/link/accept', again), 404)).code).toBe(
      'link_invalid',
    );
    await server.stop();
    await using next = await startServer({ dataDirectory: server.dataDirectory, env: { MILLRUN_DRAIN_S: '0' } });
    expect(next.greeting()).not.toContain('/link#');
  });

  test('of two who hold a first link, one becomes the first person', async () => {
    await using server = await startServer({ env: { MILLRUN_DRAIN_S: '0' } });
    const first = server.greeting().match(/http\S+\/link#\S+/)?.[0] ?? '';
    await server.stop();
    await using next = await startServer({ dataDirectory: server.dataDirectory, env: { MILLRUN_DRAIN_S: '0' } });
    const second = next.greeting().match(/http\S+\/link#\S+/)?.[0] ?? '';
    const accept = (link: string, email: string) =>
      openBrowser(next).call('POST', '/account/link/accept', { secret: secretOf(link), email, password: goodPassword });
    const replies = await Promise.all([accept(first, 'a@example.com'), accept(second, 'b@example.com')]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404]);
  });
});

describe('a session', () => {
  test('is a cookie no script can read and no other site sends along', async () => {
    const { email, password } = await signedIn();
    const [cookie = ''] = (await signIn(email, password)).headers.getSetCookie();
    expect(cookie).toMatch(/^millrun\.session_token=/);
    expect(cookie).toMatch(/; HttpOnly/i);
    expect(cookie).toMatch(/; SameSite=Lax/i);
    expect(cookie).not.toMatch(/; Secure/i);
  });

  test('is marked Secure behind TLS', async () => {
    const { email, password } = await signedIn();
    const headers = { 'X-Forwarded-Proto': 'https' };
    const response = await open().call('POST', '/account/session', { email, password }, headers);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Secure-millrun\.session_token=/);
    expect(cookie).toMatch(/; Secure/i);
  });

  test('begins anew with each sign-in, and ends the one the browser had', async () => {
    const { browser, email, password } = await signedIn();
    const former = browser.clone();
    const before = browser.cookies;
    await browser.ask('POST', '/account/session', { email, password });
    expect(browser.cookies).not.toBe(before);
    expect((await former.session()).person).toBeUndefined();
    expect((await browser.session()).person?.email).toBe(email);
  });

  test('cannot be chosen by somebody else', async () => {
    const { email, password } = await signedIn();
    const planted = { Cookie: 'millrun.session_token=planted.c2lnbmF0dXJl' };
    const response = await open().call('POST', '/account/session', { email, password }, planted);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).not.toContain('planted');
    expect(
      ((await (await open().call('GET', '/account/session', undefined, planted)).json()) as SessionState).person,
    ).toBeUndefined();
  });

  test('ends with sign-out, and its cookie is worth nothing afterwards', async () => {
    const { browser } = await signedIn();
    const copy = browser.clone();
    expect((await browser.call('DELETE', '/account/session')).status).toBe(204);
    expect((await copy.session()).person).toBeUndefined();
    expect((await errorOf(await copy.call('GET', '/account/tokens'), 401)).code).toBe('signed_out');
  });

  test('of another device can be ended, and all of them at once', async () => {
    const { browser, email, password } = await signedIn();
    const other = open();
    await other.ask('POST', '/account/session', { email, password });
    const { data } = await browser.ask<{ data: SignedInDevice[] }>('GET', '/account/devices');
    expect(data.map(({ current }) => current).toSorted()).toEqual([false, true]);
    const stranger = await signedIn();
    const id = data.find(({ current }) => !current)?.id ?? '';
    await errorOf(await stranger.browser.call('DELETE', `/account/devices/${id}`), 404);
    expect((await browser.call('DELETE', `/account/devices/${id}`)).status).toBe(204);
    expect((await other.session()).person).toBeUndefined();
    expect((await browser.call('DELETE', '/account/devices')).status).toBe(204);
    expect((await browser.session()).person).toBeUndefined();
    expect((await stranger.browser.session()).person).toBeDefined();
  });
});

describe('a wrong sign-in', () => {
  test('gives the same answer for a wrong password and for an address nobody has', async () => {
    const { email } = await signedIn();
    const wrong = await errorOf(await signIn(email, 'not the password'), 401);
    const unknown = await errorOf(await signIn('nobody-at-all@example.com', 'not the password'), 401);
    expect({ ...wrong, request_id: '' }).toEqual({ ...unknown, request_id: '' });
    expect(wrong.code).toBe('credentials_invalid');
  });

  test('is possible ten times from an address; then the right password is refused as well, elsewhere it is not', async () => {
    const { email, password } = await signedIn();
    const browser = open();
    const attempts = Array.from({ length: 14 }, (_, index) =>
      browser.call('POST', '/account/session', { email, password: `guess number ${index}` }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const refused = await browser.call('POST', '/account/session', { email, password });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await errorOf(refused, 429)).code).toBe('rate_limited');
    expect((await signIn(email, password)).status).toBe(200);
  });

  test.each([
    ['no JSON object', '[]'],
    ['a number for a password', { email: 'a@example.com', password: 1 }],
    ['an unknown field', { email: 'a@example.com', password: 'x', admin: true }],
    ['a password of a megabyte', { email: 'a@example.com', password: 'x'.repeat(1_000_000) }],
  ])('that is %s is refused as such', async (_what, body) => {
    const { status } = await open().call('POST', '/account/session', body);
    expect([400, 413, 422]).toContain(status);
  });
});

describe('sign-up', () => {
  const signUp = (email: string, password = goodPassword) =>
    open().call('POST', '/account/sign-up', { email, password });

  test('makes a person with an account on the default plan', async () => {
    expect((await signUp('New.Person@Example.com')).status).toBe(202);
    const browser = open();
    const state = await browser.ask<SessionState>('POST', '/account/session', {
      email: 'new.person@example.com',
      password: goodPassword,
    });
    expect(state).toMatchObject({ person: { admin: false }, account: { plan: 'free', role: 'owner' } });
  });

  test('does not tell whether an address is taken, by a person or by an account, and changes nothing there', async () => {
    const { email, password } = await signedIn();
    await scenario.server.millrun('token', 'create', '--email', 'only-tokens@example.com');
    const replies = await Promise.all(
      ['free-address@example.com', email, 'only-tokens@example.com'].map(async (address) => {
        const response = await signUp(address, 'another good password');
        return { status: response.status, body: await response.text() };
      }),
    );
    expect(replies).toEqual([replies[0], replies[0], replies[0]]);
    expect((await signIn(email, password)).status).toBe(200);
    expect((await signIn(email, 'another good password')).status).toBe(401);
    expect((await signIn('only-tokens@example.com', 'another good password')).status).toBe(401);
  });

  test.each([
    ['no address', 'nobody', goodPassword, 'email'],
    ['a short password', 'short@example.com', 'ninechars', 'password'],
    ['the address as the password', 'same-same@example.com', 'same-same@example.com', 'password'],
    ['one letter many times', 'aaaa@example.com', 'aaaaaaaaaaaa', 'password'],
  ])('refuses %s', async (_what, email, password, field) => {
    const { errors } = await errorOf(await signUp(email, password), 422);
    expect(Object.keys(errors ?? {})).toEqual([field]);
  });

  test('is closed unless the operator opens it', async () => {
    await using server = await startServer({ env: { MILLRUN_DRAIN_S: '0' } });
    const browser = openBrowser(server);
    expect((await browser.session()).open_sign_up).toBe(false);
    const response = await browser.call('POST', '/account/sign-up', { email: 'a@example.com', password: goodPassword });
    expect((await errorOf(response, 403)).code).toBe('sign_up_closed');
  });
});

describe('a password', () => {
  test('is changed with the present one, and every other device is signed out', async () => {
    const { browser, email, password } = await signedIn();
    const other = open();
    await other.ask('POST', '/account/session', { email, password });
    const change = (current: string, next: string) =>
      browser.call('POST', '/account/password', { current_password: current, new_password: next });
    expect((await errorOf(await change('not this one', 'a new good password'), 422)).errors).toHaveProperty(
      'current_password',
    );
    expect((await errorOf(await change(password, 'short'), 422)).errors).toHaveProperty('new_password');
    expect((await change(password, 'a new good password')).status).toBe(204);
    expect((await browser.session()).person?.email).toBe(email);
    expect((await other.session()).person).toBeUndefined();
    expect((await signIn(email, password)).status).toBe(401);
    expect((await signIn(email, 'a new good password')).status).toBe(200);
  });

  test('that is lost is replaced by a link of the command line, which signs out every device', async () => {
    const { browser, email } = await signedIn();
    const link = await scenario.server.millrun('account', 'link', '--email', email);
    const info = await open().ask<LinkInfo>('POST', '/account/link', { secret: secretOf(link) });
    expect(info).toMatchObject({ purpose: 'recovery', email });
    const answer = { secret: secretOf(link), email: 'ignored@example.com', password: 'a recovered password' };
    const state = await open().ask<SessionState>('POST', '/account/link/accept', answer);
    expect(state.person?.email).toBe(email);
    expect((await browser.session()).person).toBeUndefined();
    expect((await signIn(email, 'a recovered password')).status).toBe(200);
  });

  test('is kept as scrypt only, and neither it nor a session nor a link is in the log', async () => {
    const { browser, email } = await signedIn();
    const rows = await queryDatabase<{ password: string }>(
      scenario.server,
      'select m.password from sign_in_methods m join people p on p.id = m.person_id where p.email = $1',
      [email],
    );
    expect(rows[0]?.password).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/);
    const log = scenario.server.log();
    expect(log).toContain('/account/link/accept');
    expect(log).not.toContain(goodPassword);
    expect(log).not.toContain(browser.cookies.split('=', 2)[1]);
  });
});

describe('a link', () => {
  test('is refused when it is unknown, malformed or too old', async () => {
    const admin = await signedIn({ admin: true });
    const made = await admin.browser.ask<MadeLink>('POST', '/account/admin/invitations', { email: null, plan: 'pro' });
    await queryDatabase(scenario.server, "update links set expires_at = now() - interval '1 second'");
    for (const secret of [secretOf(made.url), 'x', '', '../..', 'A'.repeat(43)])
      expect((await errorOf(await open().call('POST', '/account/link', { secret }), 404)).code).toBe('link_invalid');
  });

  test('that is open does not give away a person or an account that is there already', async () => {
    const admin = await signedIn({ admin: true });
    const victim = await signedIn();
    await scenario.server.millrun('token', 'create', '--email', 'tokens-alone@example.com');
    const invite = () =>
      admin.browser.ask<MadeLink>('POST', '/account/admin/invitations', { email: null, plan: 'pro' });
    const accept = async (email: string) =>
      open().call('POST', '/account/link/accept', {
        secret: secretOf((await invite()).url),
        email,
        password: 'the password of a thief',
      });
    expect((await errorOf(await accept(victim.email), 422)).errors).toHaveProperty('password');
    expect((await errorOf(await accept('tokens-alone@example.com'), 409)).code).toBe('email_taken');
  });

  test('leaves nothing half done when it cannot be used', async () => {
    const admin = await signedIn({ admin: true });
    const { url } = await admin.browser.ask<MadeLink>('POST', '/account/admin/invitations', {
      email: null,
      plan: 'pro',
    });
    const answer = { secret: secretOf(url), email: 'careful@example.com', password: 'short' };
    await errorOf(await open().call('POST', '/account/link/accept', answer), 422);
    const state = await open().ask<SessionState>('POST', '/account/link/accept', { ...answer, password: goodPassword });
    expect(state.account).toMatchObject({ plan: 'pro', role: 'owner' });
  });
});
