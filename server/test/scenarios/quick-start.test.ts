/** The code of the quick start page, run as it is shown. A language is left out where the machine cannot run it. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunPage } from '@millrun/sdk';
import { writeSnippets, type Step } from '../../../web/src/pages/quick-start/snippets.ts';
import { createClient, type Client } from '../client.ts';
import { grain } from '../image-fixtures.ts';
import { startReceiver, type ReceivedEvent } from '../receiver.ts';
import { eventually, makeToken, submitQuick, useServer } from '../scenario.ts';

const scenario = useServer({ env: { MILLRUN_WEBHOOK_ALLOW: '127.0.0.1/32' } });
const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));

const languages = {
  curl: { program: 'sh', file: 'run.sh', runs: can('sh', '-c', 'command -v curl openssl') },
  typescript: { program: process.execPath, file: 'run.mts', runs: true },
  python: { program: 'python3', file: 'run.py', runs: can('python3', '-c', 'import requests') },
} as const;
type Language = keyof typeof languages;

let token: string;
let client: Client;
let snippets: ReturnType<typeof writeSnippets>;
let directory: string;

beforeAll(async () => {
  token = await makeToken(scenario.server);
  client = createClient(scenario.server.base, token);
  snippets = writeSnippets(scenario.server.base);
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-quick-start-'));
  await writeFile(join(directory, 'photo.jpg'), await (await grain(600, 400)).jpeg({ quality: 100 }).toBuffer());
  await symlink(packages, join(directory, 'node_modules'));
});
afterEach(() => rm(directory, { recursive: true }));

function can(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The code of steps as one program; in the shell, the id that a person copies is taken out of the reply. */
function programOf(language: Language, ...steps: Step[]): string {
  const codes = steps.map((step) => snippets[step][language]);
  if (language !== 'curl' || steps[0] !== 'send') return codes.join('\n\n');
  const [submit = '', ...rest] = codes;
  return [`RUN=$(${submit.split('\n\n')[0]} | grep -o 'run_[0-9a-z]*' | head -n 1)`, ...rest].join('\n\n');
}

async function run(language: Language, code: string, env: Record<string, string> = {}): Promise<string> {
  const { program, file } = languages[language];
  await writeFile(join(directory, file), code);
  const { stdout } = await promisify(execFile)(program, [file], {
    cwd: directory,
    env: { ...process.env, MILLRUN_TOKEN: token, ...env },
  });
  return stdout;
}

async function countRuns(): Promise<number> {
  return ((await (await client.request('/runs?limit=100')).json()) as RunPage).data.length;
}

describe.for(Object.keys(languages) as Language[])('the quick start in %s', (language) => {
  const { runs } = languages[language];

  test.runIf(runs)('sends a file, waits, follows and downloads', async () => {
    const said = await run(language, programOf(language, 'send', 'wait', 'follow', 'download'));
    expect(said).toMatch(/["']?status["']?: ?["']done["']/);
    expect(await readdir(join(directory, 'outputs'))).toEqual(['photo.jpg']);
    const [before, after] = await Promise.all(
      ['photo.jpg', 'outputs/photo.jpg'].map((name) => stat(join(directory, name))),
    );
    expect(after?.size).toBeGreaterThan(0);
    expect(after?.size).toBeLessThan(before?.size ?? 0);
  });

  test.runIf(runs)('sends the same thing twice and gets one run', async () => {
    const code = programOf(language, ...(language === 'curl' ? [] : (['send'] as const)), 'retry').replaceAll(
      'invoice-2026-0042',
      `invoice-${language}`,
    );
    const before = await countRuns();
    await run(language, code);
    const afterOne = await countRuns();
    await run(language, code);
    const sentWithoutKey = language === 'curl' ? 0 : 1;
    expect(afterOne - before).toBe(1 + sentWithoutKey);
    expect((await countRuns()) - afterOne).toBe(sentWithoutKey);
  });
});

describe('a webhook of the quick start', () => {
  /** Registers by the code of a language; returns the secret and a delivery that was signed with it. */
  async function deliver(language: Language): Promise<{ secret: string; event: ReceivedEvent }> {
    await using receiver = await startReceiver();
    const print = { curl: '', typescript: '\nconsole.log(secret);', python: '\nprint(secret)' }[language];
    const head = language === 'curl' ? '' : `${snippets.send[language]}\n\n`;
    const code = head + snippets.register[language].replace('https://example.com/millrun', receiver.url) + print;
    const said = await run(language, code);
    const secret = /whsec_[\w+/=-]+/.exec(said)?.[0] ?? '';
    await submitQuick(client);
    const events = await receiver.received(1);
    const { data } = (await (await client.request('/webhooks')).json()) as { data: { id: string }[] };
    for (const { id } of data) await client.request(`/webhooks/${id}`, { method: 'DELETE' });
    const [event] = events;
    if (event === undefined) throw new Error('no event came');
    return { secret, event };
  }

  test.runIf(languages.curl.runs)('is verified in the shell', async () => {
    const { secret, event } = await deliver('curl');
    const env = {
      MILLRUN_WEBHOOK_SECRET: secret,
      ID: String(event.headers['webhook-id']),
      TIME: String(event.headers['webhook-timestamp']),
      SIGNATURES: String(event.headers['webhook-signature']),
    };
    await writeFile(join(directory, 'body.json'), event.body);
    expect(await run('curl', snippets.verify.curl, env)).toBe('It is from Millrun.\n');
    await writeFile(join(directory, 'body.json'), `${event.body} `);
    expect(await run('curl', snippets.verify.curl, env)).toBe('It is not from Millrun.\n');
  });

  const verifiers = [
    { language: 'typescript', runs: true },
    { language: 'python', runs: can('python3', '-c', 'import requests, standardwebhooks') },
  ] as const;
  for (const { language, runs } of verifiers) {
    test.runIf(runs)(`is verified in ${language}`, async () => {
      const { secret, event } = await deliver(language);
      const port = await freePort();
      const { program, file } = languages[language];
      await writeFile(join(directory, file), snippets.verify[language].replace('3000', String(port)));
      const child = spawn(program, [file], {
        cwd: directory,
        env: { ...process.env, MILLRUN_WEBHOOK_SECRET: secret },
        stdio: 'ignore',
      });
      try {
        const post = (body: string) =>
          fetch(`http://127.0.0.1:${port}/millrun`, {
            method: 'POST',
            headers: Object.fromEntries(
              ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
                name,
                String(event.headers[name]),
              ]),
            ),
            body,
          }).catch(() => undefined);
        const accepted = await eventually('the receiver answers', () => post(event.body));
        expect(accepted.status).toBe(204);
        expect((await post(`${event.body} `))?.status).toBe(400);
      } finally {
        child.kill();
      }
    });
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
