import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../client.ts';
import { errorOf, eventually, queryDatabase, useServer } from '../scenario.ts';
import { startServer } from '../server.ts';

const scenario = useServer({ env: { MILLRUN_TRUST_PROXY: 'yes' } });
const millrun = (...args: string[]) => scenario.server.millrun(...args);

let people = 0;
let email: string;
beforeEach(() => {
  email = `person-${(people += 1)}@example.com`;
});

let calls = 0;
/** Each from an address of its own: wrong tokens are limited by address. */
function use(token: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, 'X-Forwarded-For': `198.51.100.${(calls += 1)}` };
  return fetch(`${scenario.server.base}/usage`, { headers });
}

async function refusalOf(token: string): Promise<string> {
  const response = await use(token);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  return (await errorOf(response, 401)).code;
}

interface Listed {
  id: string;
  email: string;
  name: string;
  token: string;
  state: string;
}

/** The table that `token list` prints. */
async function listTokens(of?: string): Promise<Listed[]> {
  const [, ...rows] = (await millrun('token', 'list', ...(of === undefined ? [] : ['--email', of]))).split('\n');
  return rows.map((row) => {
    const [id = '', owner = '', name = '', token = '', state = ''] = row.split(/ {2,}/);
    return { id, email: owner, name, token, state };
  });
}

/** What a command says on standard error when it fails, with its exit code. */
async function failure(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const stdout = await millrun(...args);
    throw new Error(`it did not fail, and printed: ${stdout}`);
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number; stdout?: string; stderr?: string };
    if (code === undefined) throw error;
    return { code, stdout: stdout ?? '', stderr: (stderr ?? '').trim() };
  }
}

describe('a token', () => {
  test('is printed alone, works at once, and is kept nowhere', async () => {
    const token = await millrun('token', 'create', '--email', email, '--plan', 'team', '--name', 'ci');
    expect(token).toMatch(/^mr_[0-9A-Za-z]{40}[0-9A-Za-z]{6}$/);
    const response = await use(token);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ plan: 'team' });

    const [row, ...others] = await queryDatabase<{ hash: Buffer }>(
      scenario.server,
      'select t.*, a.email from tokens t join accounts a on a.id = t.account_id where a.email = $1',
      [email],
    );
    expect(others).toEqual([]);
    expect(row?.hash).toEqual(createHash('sha256').update(token).digest());
    expect(JSON.stringify(row)).not.toContain(token.slice(12));
    expect(scenario.server.log()).not.toContain(token);

    const [listed] = await listTokens(email);
    expect(listed).toEqual({
      id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
      email,
      name: 'ci',
      token: `${token.slice(0, 9)}…`,
      state: 'active',
    });
  });

  test('that is mistyped, cut or made up is 401 token_invalid', async () => {
    const token = await millrun('token', 'create', '--email', email);
    const last = token.endsWith('a') ? 'b' : 'a';
    const middle = token[20] === 'x' ? 'y' : 'x';
    for (const wrong of [
      token.slice(0, -1) + last,
      token.slice(0, 20) + middle + token.slice(21),
      token.slice(0, -1),
      `${token}0`,
      token.toLowerCase() === token ? token.toUpperCase() : token.toLowerCase(),
      token.replace('mr_', ''),
      `mr_${'0'.repeat(46)}`,
    ]) {
      expect(await refusalOf(wrong), wrong).toBe('token_invalid');
    }
    expect((await use(token)).status).toBe(200);
  });

  test('that has expired is 401 token_expired', async () => {
    const [brief, lasting] = await Promise.all([
      millrun('token', 'create', '--email', email, '--expires', '1s'),
      millrun('token', 'create', '--email', `lasting-${email}`, '--expires', '30d'),
    ]);
    const code = await eventually('it has expired', async () => {
      const response = await use(brief);
      return response.status === 401 && (await errorOf(response, 401)).code;
    });
    expect(code).toBe('token_expired');
    expect((await use(lasting)).status).toBe(200);
  });

  test('that is revoked is refused by the very next request', async () => {
    const token = await millrun('token', 'create', '--email', email);
    const other = await millrun('token', 'create', '--email', email);
    expect((await use(token)).status).toBe(200);
    const [{ id } = { id: '' }] = await listTokens(email);
    await millrun('token', 'revoke', id);
    expect(await refusalOf(token)).toBe('token_revoked');
    expect((await use(other)).status).toBe(200);
    expect((await listTokens(email)).map(({ state }) => state)).toEqual(['revoked', 'active']);
    const again = await failure('token', 'revoke', id);
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^There is no such token/) });
  });

  test('that is rotated makes way for the new one at once', async () => {
    const token = await millrun('token', 'create', '--email', email, '--name', 'ci');
    const [{ id } = { id: '' }] = await listTokens(email);
    const fresh = await millrun('token', 'rotate', id);
    expect(fresh).toMatch(/^mr_[0-9A-Za-z]{46}$/);
    expect(await refusalOf(token)).toBe('token_revoked');
    expect((await use(fresh)).status).toBe(200);
    expect((await listTokens(email)).map(({ name, state }) => [name, state])).toEqual([
      ['ci', 'revoked'],
      ['ci', 'active'],
    ]);
    expect((await failure('token', 'rotate', id)).stderr).toMatch(/^There is no such token/);
  });

  test('that is rotated with an overlap works beside the new one until it is over', async () => {
    const [long, short] = await Promise.all(
      ['long', 'short'].map((name) => millrun('token', 'create', '--email', `${name}-${email}`)),
    );
    const [{ id: longId } = { id: '' }] = await listTokens(`long-${email}`);
    const [{ id: shortId } = { id: '' }] = await listTokens(`short-${email}`);
    const fresh = await Promise.all([
      millrun('token', 'rotate', longId, '--overlap', '1h'),
      millrun('token', 'rotate', shortId, '--overlap', '1s'),
    ]);
    for (const token of [long ?? '', ...fresh]) expect((await use(token)).status).toBe(200);
    await eventually('the overlap is over', async () => (await use(short ?? '')).status === 401);
    expect(await refusalOf(short ?? '')).toBe('token_expired');
    expect((await use(long ?? '')).status).toBe(200);
  });

  test('belongs to an account, which keeps its plan unless another is named', async () => {
    const [first] = [await millrun('token', 'create', '--email', email, '--plan', 'team')];
    await millrun('token', 'create', '--email', email.toUpperCase());
    expect(await (await use(first)).json()).toMatchObject({ plan: 'team' });
    await millrun('token', 'create', '--email', email, '--plan', 'unlimited');
    expect(await (await use(first)).json()).toMatchObject({ plan: 'unlimited' });
    expect(await listTokens(email)).toHaveLength(3);
  });
});

describe('an account', () => {
  test('can be made, listed and put on another plan, which counts from the next request on', async () => {
    const id = await millrun('account', 'create', '--email', email, '--plan', 'pro');
    expect(id).toMatch(/^acc_[0-9a-z]{26}$/);
    const token = await millrun('token', 'create', '--email', email);
    expect(await (await use(token)).json()).toMatchObject({ plan: 'pro' });

    await millrun('account', 'set-plan', '--email', email, '--plan', 'free');
    expect((await errorOf(await use(token), 403)).code).toBe('plan_without_api_access');
    const listed = (await millrun('account', 'list')).split('\n').find((row) => row.includes(email));
    expect(listed?.split(/ {2,}/).slice(0, 3)).toEqual([id, email, 'free']);

    await millrun('account', 'set-plan', '--email', email, '--plan', 'team');
    expect(await (await use(token)).json()).toMatchObject({ plan: 'team' });
  });

  test('of a mistake is not made: one line says what is wrong, and the command fails', async () => {
    const mistakes: [args: string[], says: RegExp][] = [
      [['account', 'create', '--email', 'nobody'], /is not an e-mail address/],
      [['account', 'create', '--email', email, '--plan', 'gold'], /There is no plan "gold"; there are free, pro, team/],
      [['account', 'set-plan', '--email', email, '--plan', 'pro'], /There is no account/],
      [['token', 'create', '--email', email, '--expires', 'soon'], /"soon" is not a duration/],
      [['token', 'list', '--email', email], /There is no account/],
      [['token', 'revoke', 'tok_1'], /is not the id of a token/],
    ];
    await Promise.all(
      mistakes.map(async ([args, says]) => {
        const { code, stdout, stderr } = await failure(...args);
        expect(code, args.join(' ')).toBe(1);
        expect(stdout).toBe('');
        expect(stderr).toMatch(says);
        expect(stderr.split('\n')).toHaveLength(1);
      }),
    );
    expect((await millrun('account', 'list')).includes(email)).toBe(false);
  });

  test('is made once', async () => {
    await millrun('account', 'create', '--email', email);
    expect((await failure('account', 'create', '--email', email.toUpperCase())).stderr).toMatch(/There is an account/);
  });
});

test('tokens are made without a server too, and outlive its restart', async () => {
  await using first = await startServer();
  const before = await first.millrun('token', 'create', '--email', email);
  await first.stop();
  const between = await first.millrun('token', 'create', '--email', email);
  const second = await startServer({ dataDirectory: first.dataDirectory });
  try {
    for (const token of [before, between]) {
      expect((await createClient(second.base, token).request('/usage')).status).toBe(200);
    }
  } finally {
    await second.stop();
  }
});
