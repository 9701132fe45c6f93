import { describe, expect, test } from 'vitest';
import type {
  AdminAccounts,
  AuditPage,
  MadeLink,
  MadeToken,
  Membership,
  SessionState,
  TokenInfo,
} from '@millrun/web/wire';
import { acceptLink, goodPassword, newPerson, openBrowser, secretOf, type Browser } from '../browser.ts';
import { createClient } from '../client.ts';
import { errorOf, quick, queryDatabase, useServer } from '../scenario.ts';

const scenario = useServer({
  env: {
    MILLRUN_TRUST_PROXY: 'yes',
    MILLRUN_WEBHOOK_ALLOW: '127.0.0.1/32',
    MILLRUN_PLANS: JSON.stringify({ trio: { members: 3 }, slow: { requests_per_minute: 3 } }),
  },
});
const person = (options = {}) => newPerson(scenario.server, options);
const use = async (token: string) => createClient(scenario.server.base, token).request('/usage');
const makeToken = (browser: Browser, name = 'ci', expires_at: string | null = null) =>
  browser.ask<MadeToken>('POST', '/account/tokens', { name, expires_at });
const auditOf = async (browser: Browser) => (await browser.ask<AuditPage>('GET', '/account/audit')).data;

/** Brings another person into somebody's account. */
async function bringIn(
  owner: Browser,
  role: 'owner' | 'member',
): Promise<{ browser: Browser; id: string; email: string }> {
  const { browser, email } = await person();
  const { url } = await owner.ask<MadeLink>('POST', '/account/invitations', { email, role });
  const state = await acceptLink(browser, url, email);
  const there = (await owner.session()).account;
  await browser.ask('PUT', '/account/session/account', { account_id: there?.id });
  return { browser, email, id: state.person?.id ?? '' };
}

describe('a token of the page', () => {
  test('works at once, is shown once, and is listed with what is known of it', async () => {
    const { browser } = await person();
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const made = await makeToken(browser, 'build server', expires);
    expect(made.token).toMatch(/^mr_[0-9A-Za-z]{46}$/);
    expect((await use(made.token)).status).toBe(200);
    const text = await (await browser.call('GET', '/account/tokens')).text();
    expect(text).not.toContain(made.token);
    const { data } = JSON.parse(text) as { data: TokenInfo[] };
    expect(data).toEqual([
      {
        id: made.id,
        name: 'build server',
        prefix: made.token.slice(0, 9),
        created_at: made.created_at,
        expires_at: expires,
        revoked_at: null,
        last_used_at: expect.stringMatching(/^\d{4}-/),
      },
    ]);
  });

  test('is replaced with an overlap or at once, and is refused as soon as it is revoked', async () => {
    const { browser } = await person();
    const first = await makeToken(browser);
    const second = await browser.ask<MadeToken>('POST', `/account/tokens/${first.id}/rotate`, { overlap_s: 3600 });
    expect([(await use(first.token)).status, (await use(second.token)).status]).toEqual([200, 200]);
    const third = await browser.ask<MadeToken>('POST', `/account/tokens/${second.id}/rotate`, { overlap_s: 0 });
    expect((await errorOf(await use(second.token), 401)).code).toBe('token_revoked');
    expect((await browser.call('DELETE', `/account/tokens/${third.id}`)).status).toBe(204);
    expect((await errorOf(await use(third.token), 401)).code).toBe('token_revoked');
    await errorOf(await browser.call('DELETE', `/account/tokens/${third.id}`), 404);
    const actions = (await auditOf(browser)).map(({ action }) => action);
    expect(actions.slice(0, 4)).toEqual(['token.revoked', 'token.rotated', 'token.rotated', 'token.created']);
  });

  test.each([
    ['an empty name', { name: ' ', expires_at: null }],
    ['a past expiry', { name: 'a', expires_at: '2020-01-01T00:00:00Z' }],
    ['a date for an expiry', { name: 'a', expires_at: '2099-01-01' }],
    ['a name of a thousand letters', { name: 'a'.repeat(1000), expires_at: null }],
  ])('is not made with %s', async (_what, body) => {
    const { browser } = await person();
    const response = await browser.call('POST', '/account/tokens', body);
    expect([400, 422]).toContain(response.status);
    expect((await browser.ask<{ data: TokenInfo[] }>('GET', '/account/tokens')).data).toEqual([]);
  });

  test('leaves entries of who did it and from where; commands leave theirs', async () => {
    const { browser, email } = await person();
    await makeToken(browser, 'by hand');
    await scenario.server.millrun('token', 'create', '--email', email, '--name', 'by command');
    const [command, page] = await auditOf(browser);
    expect(command).toMatchObject({ action: 'token.created', actor: 'command line', subject: 'by command' });
    expect(page).toMatchObject({ action: 'token.created', actor: email, subject: 'by hand' });
    expect(page?.address).toMatch(/^203\.0\.113\./);
  });
});

describe('a webhook', () => {
  test('leaves an entry for every change, of the person or the token that made it', async () => {
    const { browser, email } = await person();
    const { token } = await makeToken(browser, 'build server');
    const api = (path: string, method: string, body?: unknown) =>
      createClient(scenario.server.base, token).request(path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
      });
    const url = 'http://127.0.0.1:9/a';
    const refused = await api('/webhooks', 'POST', { url: 'http://10.0.0.1/', events: ['run.failed'] });
    expect(refused.status).toBe(422);
    const made = await api('/webhooks', 'POST', { url, events: ['run.failed'] });
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { id: string };
    expect((await api(`/webhooks/${id}`, 'PATCH', { enabled: false })).status).toBe(200);
    expect((await browser.call('POST', `/api/v2/webhooks/${id}/rotate-secret`)).status).toBe(200);
    expect((await browser.call('DELETE', `/api/v2/webhooks/${id}`)).status).toBe(204);

    const entries = (await auditOf(browser)).filter(({ action }) => action.startsWith('webhook.'));
    expect(entries.map(({ action, actor, subject }) => [action, actor, subject])).toEqual([
      ['webhook.removed', email, url],
      ['webhook.secret_rotated', email, url],
      ['webhook.changed', 'token build server', url],
      ['webhook.registered', 'token build server', url],
    ]);
    expect(entries.every(({ address }) => address !== '')).toBe(true);
  });
});

/** Every route of the page that needs somebody, with an id that could be anybody's. */
const routes = [
  ['GET', '/account/tokens'],
  ['POST', '/account/tokens'],
  ['POST', '/account/tokens/tok_00000000000000000000000000/rotate'],
  ['DELETE', '/account/tokens/tok_00000000000000000000000000'],
  ['GET', '/account/audit'],
  ['PATCH', '/account'],
  ['GET', '/account/members'],
  ['POST', '/account/invitations'],
  ['DELETE', '/account/invitations/lnk_00000000000000000000000000'],
  ['PATCH', '/account/members/per_00000000000000000000000000'],
  ['DELETE', '/account/members/per_00000000000000000000000000'],
  ['POST', '/account/password'],
  ['GET', '/account/devices'],
  ['DELETE', '/account/devices'],
  ['PUT', '/account/session/account'],
  ['GET', '/account/admin/settings'],
  ['GET', '/account/admin/accounts'],
  ['PATCH', '/account/admin/accounts/acc_00000000000000000000000000'],
  ['POST', '/account/admin/invitations'],
] as const;
const bodyFor = (method: string) => (method === 'GET' || method === 'DELETE' ? undefined : {});

describe('account functions', () => {
  test('are out of reach for an API token', async () => {
    const { browser } = await person({ admin: true });
    const { token } = await makeToken(browser);
    const asToken = { 'X-Millrun-Page': '', Authorization: `Bearer ${token}` };
    for (const [method, path] of routes) {
      const stranger = openBrowser(scenario.server);
      await errorOf(await stranger.call(method, path, bodyFor(method), asToken), 403);
      const asPage = { Authorization: `Bearer ${token}` };
      const response = await stranger.call(method, path, bodyFor(method), asPage);
      expect([method, path, response.status]).toEqual([method, path, 401]);
    }
  });

  test.each([
    ['without the header of the page', { 'X-Millrun-Page': '' }],
    ['with the origin of another site', { Origin: 'https://evil.example' }],
    ['with no origin a browser would name', { Origin: 'null' }],
    ['from another site, as the browser says', { 'Sec-Fetch-Site': 'cross-site' }],
    ['from another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
  ])('do nothing for a request %s, cookie or not', async (_what, headers) => {
    const { browser, email, password } = await person();
    const response = await browser.call('POST', '/account/tokens', { name: 'forged', expires_at: null }, headers);
    expect((await errorOf(response, 403)).code).toBe('not_from_page');
    const out = await browser.call('DELETE', '/account/session', undefined, headers);
    expect(out.status).toBe(403);
    const signIn = await openBrowser(scenario.server).call('POST', '/account/session', { email, password }, headers);
    expect(signIn.status).toBe(403);
    expect((await browser.ask<{ data: TokenInfo[] }>('GET', '/account/tokens')).data).toEqual([]);
  });

  test('work behind a proxy that changes the host: the browser says that the request began on our page', async () => {
    const { browser } = await person();
    const headers = { Origin: 'https://files.example.com', 'Sec-Fetch-Site': 'same-origin' };
    const made = await browser.call('POST', '/account/tokens', { name: 'by proxy', expires_at: null }, headers);
    expect(made.status).toBe(201);
  });

  test('of the API are open to the page, and to a cookie alone they are not', async () => {
    const { browser } = await person();
    expect((await browser.call('GET', '/api/v2/usage')).status).toBe(200);
    const bare = await browser.call('GET', '/api/v2/usage', undefined, { 'X-Millrun-Page': '' });
    expect((await errorOf(bare, 401)).code).toBe('token_missing');
    const forged = await browser.call('POST', '/api/v2/tools/qr-code-generator', new FormData(), {
      Origin: 'https://evil.example',
    });
    expect((await errorOf(forged, 403)).code).toBe('not_from_page');
  });

  test("never show or change another account's things", async () => {
    const [one, other] = [await person(), await person()];
    const token = await makeToken(one.browser);
    const invitation = await one.browser.ask<MadeLink>('POST', '/account/invitations', { email: null, role: 'member' });
    expect(invitation.url).toContain('/link#');
    const { members, invitations } = await one.browser.ask<Membership>('GET', '/account/members');
    const form = new FormData();
    form.set('text', 'secret of one');
    const run = await one.browser.ask<{ id: string }>('POST', `/api/v2/tools/${quick.tool}`, form);
    const account = (await one.browser.session()).account?.id;
    const attempts: [string, string, unknown?][] = [
      ['POST', `/account/tokens/${token.id}/rotate`, { overlap_s: 0 }],
      ['DELETE', `/account/tokens/${token.id}`],
      ['DELETE', `/account/invitations/${invitations[0]?.id}`],
      ['PATCH', `/account/members/${members[0]?.id}`, { role: 'member' }],
      ['DELETE', `/account/members/${members[0]?.id}`],
      ['PUT', '/account/session/account', { account_id: account }],
      ['GET', `/api/v2/runs/${run.id}`],
      ['GET', `/api/v2/runs/${run.id}/stream`],
      ['POST', `/api/v2/runs/${run.id}/cancel`],
      ['DELETE', `/api/v2/runs/${run.id}`],
      ['PATCH', `/account/admin/accounts/${account}`, { plan: 'free' }],
      ['GET', `/account/admin/accounts/${account}/people`],
      ['POST', `/account/admin/people/${members[0]?.id}/recovery`],
      ['PATCH', `/account/admin/people/${members[0]?.id}`, { admin: true }],
    ];
    for (const [method, path, body] of attempts) {
      const response = await other.browser.call(method, path, body);
      expect([method, path, response.status]).toEqual([method, path, 404]);
    }
    expect((await use(token.token)).status).toBe(200);
  });
});

describe('members', () => {
  test('come in by an invitation, see what owners let them, and can leave', async () => {
    const { browser: owner } = await person();
    const member = await bringIn(owner, 'member');
    const state = await member.browser.session();
    expect(state.account?.role).toBe('member');
    expect(state.accounts).toHaveLength(2);
    await makeToken(member.browser, 'of a member');
    for (const [method, path, body] of [
      ['GET', '/account/audit', undefined],
      ['PATCH', '/account', { name: 'mine now' }],
      ['POST', '/account/invitations', { email: null, role: 'owner' }],
      ['PATCH', `/account/members/${member.id}`, { role: 'owner' }],
    ] as const)
      expect((await errorOf(await member.browser.call(method, path, body), 403)).code).toBe('owners_only');
    expect((await member.browser.ask<Membership>('GET', '/account/members')).invitations).toEqual([]);
    expect((await member.browser.call('DELETE', `/account/members/${member.id}`)).status).toBe(204);
    expect((await member.browser.session()).accounts).toHaveLength(1);
  });

  test('lose the account at the moment they are removed', async () => {
    const { browser: owner } = await person();
    const member = await bringIn(owner, 'owner');
    const token = await makeToken(owner);
    await owner.ask('DELETE', `/account/members/${member.id}`);
    const { data } = await member.browser.ask<{ data: TokenInfo[] }>('GET', '/account/tokens');
    expect(data).toEqual([]);
    await errorOf(await member.browser.call('DELETE', `/account/tokens/${token.id}`), 404);
    expect((await auditOf(owner))[0]).toMatchObject({ action: 'member.removed', subject: member.email });
  });

  test('of the role owner cannot all go, even at once', async () => {
    const { browser: owner } = await person();
    const me = (await owner.session()).person?.id ?? '';
    expect((await errorOf(await owner.call('DELETE', `/account/members/${me}`), 409)).code).toBe('last_owner');
    const second = await bringIn(owner, 'owner');
    const leave = await Promise.all([
      owner.call('DELETE', `/account/members/${me}`),
      second.browser.call('DELETE', `/account/members/${second.id}`),
    ]);
    expect(leave.map(({ status }) => status).toSorted()).toEqual([204, 409]);
  });

  test('are as many as the plan allows, also when two come at once', async () => {
    const { browser: owner } = await person({ plan: 'trio' });
    await bringIn(owner, 'member');
    const links = await Promise.all(
      ['x', 'y'].map(() => owner.ask<MadeLink>('POST', '/account/invitations', { email: null, role: 'member' })),
    );
    const replies = await Promise.all(
      links.map(({ url }, index) =>
        openBrowser(scenario.server).call('POST', '/account/link/accept', {
          secret: secretOf(url),
          email: `crowd-${index}@example.com`,
          password: goodPassword,
        }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const alone = await person({ plan: 'pro' });
    const refused = await alone.browser.call('POST', '/account/invitations', { email: null, role: 'member' });
    expect((await errorOf(refused, 409)).code).toBe('members_full');
  });

  test('do not come in by an invitation that was withdrawn', async () => {
    const { browser: owner } = await person();
    const { url } = await owner.ask<MadeLink>('POST', '/account/invitations', {
      email: 'late@example.com',
      role: 'member',
    });
    const { invitations } = await owner.ask<Membership>('GET', '/account/members');
    expect(invitations).toMatchObject([{ email: 'late@example.com', role: 'member' }]);
    await owner.ask('DELETE', `/account/invitations/${invitations[0]?.id}`);
    await errorOf(await openBrowser(scenario.server).call('POST', '/account/link', { secret: secretOf(url) }), 404);
  });
});

describe('an administrator', () => {
  test('sees every account and sets its plan, which holds at once', async () => {
    const { browser: admin } = await person({ admin: true });
    const { browser, email } = await person({ plan: 'pro' });
    const { token } = await makeToken(browser);
    expect((await use(token)).status).toBe(200);
    const { data } = await admin.ask<AdminAccounts>('GET', `/account/admin/accounts?q=${encodeURIComponent(email)}`);
    expect(data).toMatchObject([{ email, plan: 'pro', members: 1 }]);
    const id = data[0]?.id;
    await admin.ask('PATCH', `/account/admin/accounts/${id}`, { plan: 'free' });
    expect((await errorOf(await use(token), 403)).code).toBe('plan_without_api_access');
    const { errors } = await errorOf(await admin.call('PATCH', `/account/admin/accounts/${id}`, { plan: 'none' }), 422);
    expect(errors).toHaveProperty('plan');
    expect((await auditOf(browser))[0]).toMatchObject({ action: 'account.plan_set', subject: 'free' });
  });

  test('finds accounts by words as they are, and page by page', async () => {
    const { browser: admin } = await person({ admin: true });
    for (const name of ['100%_sure', 'plain']) await person({ email: `${name.replaceAll('%', '+')}-find@example.com` });
    const found = async (q: string) =>
      (await admin.ask<AdminAccounts>('GET', `/account/admin/accounts?q=${encodeURIComponent(q)}`)).data.length;
    expect(await found('_sure-find')).toBe(1);
    expect(await found('%')).toBe(0);
    const first = await admin.ask<AdminAccounts>('GET', '/account/admin/accounts?limit=1');
    const second = await admin.ask<AdminAccounts>('GET', `/account/admin/accounts?limit=1&cursor=${first.next_cursor}`);
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id);
    await errorOf(await admin.call('GET', '/account/admin/accounts?cursor=nonsense'), 400);
  });

  test('makes a link for somebody who has lost their password', async () => {
    const { browser: admin } = await person({ admin: true });
    const { browser, email } = await person();
    const id = (await browser.session()).person?.id;
    const { url } = await admin.ask<MadeLink>('POST', `/account/admin/people/${id}/recovery`);
    const answer = { secret: secretOf(url), email, password: 'a recovered password' };
    const state = await openBrowser(scenario.server).ask<SessionState>('POST', '/account/link/accept', answer);
    expect(state.person?.email).toBe(email);
  });

  test('cannot be the last to go', async () => {
    const { browser: admin } = await person({ admin: true });
    const me = (await admin.session()).person?.id ?? '';
    await queryDatabase(scenario.server, 'update people set admin = false where email <> $1', [
      (await admin.session()).person?.email,
    ]);
    const refused = await admin.call('PATCH', `/account/admin/people/${me}`, { admin: false });
    expect((await errorOf(refused, 409)).code).toBe('last_admin');
  });
});

describe('the page as a client of the API', () => {
  const submit = (browser: Browser) => {
    const form = new FormData();
    form.set('text', 'hello');
    return browser.call('POST', `/api/v2/tools/${quick.tool}`, form);
  };

  test('runs tools on a plan without API access, whose tokens are refused', async () => {
    const { browser } = await person({ plan: 'free' });
    expect((await submit(browser)).status).toBe(202);
    const { token } = await makeToken(browser);
    expect((await errorOf(await use(token), 403)).code).toBe('plan_without_api_access');
  });

  test("takes nothing of the account's minute by looking; by starting runs it does", async () => {
    const { browser } = await person({ plan: 'slow' });
    for (let look = 0; look < 10; look++) expect((await browser.call('GET', '/api/v2/runs')).status).toBe(200);
    const statuses = [];
    for (let run = 0; run < 4; run++) statuses.push((await submit(browser)).status);
    expect(statuses).toEqual([202, 202, 202, 429]);
  });
});
