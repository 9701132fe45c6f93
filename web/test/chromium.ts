import { existsSync } from 'node:fs';
import AxeSource from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { useServer, type Scenario } from '../../server/test/scenario.ts';
import type { ServerOptions, TestServer } from '../../server/test/server.ts';

/** Debian's Chromium; the packages are in `scripts/engines.ts`. */
const program = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find((path) => existsSync(path));
export const hasChromium = program !== undefined;

export const sizes = {
  phone: { width: 390, height: 844 },
  tablet: { width: 820, height: 1180 },
  desktop: { width: 1440, height: 900 },
} as const;

interface OpenOptions {
  size?: keyof typeof sizes;
  scheme?: 'light' | 'dark';
}

export interface Pages extends Scenario {
  /** A page of the account page's server in a browser of its own; it must end without problems. */
  open(options?: OpenOptions): Promise<Page>;
  /** The same, with the first person signed in. */
  openSignedIn(options?: OpenOptions): Promise<Page>;
  /** Problems of a page that belong to the test, by a part of their text. */
  expectProblem(text: RegExp): void;
}

/**
 * A server and a browser for a file of tests. After each test no page may have reported an error, broken the content
 * security policy, or asked another host for anything.
 */
export function usePages(options: ServerOptions = {}): Pages {
  const scenario = useServer(options);
  let browser: Browser | undefined;
  let contexts: BrowserContext[] = [];
  let problems: string[] = [];
  let expected: RegExp[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({
      ...(program === undefined ? {} : { executablePath: program }),
      args: ['--no-sandbox'],
    });
  });
  afterAll(async () => browser?.close());
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    const unexpected = problems.filter((problem) => !expected.some((text) => text.test(problem)));
    [contexts, problems, expected] = [[], [], []];
    expect(unexpected).toEqual([]);
  });
  let cookies: Cookies | undefined;
  const open: Pages['open'] = async ({ size = 'desktop', scheme = 'light' } = {}) => {
    if (browser === undefined) throw new Error('the browser has not been started yet');
    const context = await browser.newContext({
      baseURL: scenario.server.origin,
      viewport: sizes[size],
      colorScheme: scheme,
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(20_000);
    contexts.push(context);
    const page = await context.newPage();
    watch(page, scenario.server, (problem) => problems.push(problem));
    return page;
  };
  return {
    get server() {
      return scenario.server;
    },
    client: (plan) => scenario.client(plan),
    expectProblem: (text) => void expected.push(text),
    open,
    async openSignedIn(how) {
      const page = await open(how);
      if (cookies === undefined) {
        await signInFirst(page, scenario.server);
        cookies = await page.context().cookies();
      } else await page.context().addCookies(cookies);
      return page;
    },
  };
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>;

function watch(page: Page, server: TestServer, report: (problem: string) => void): void {
  page.on('pageerror', (error) => report(`error: ${error.message}`));
  page.on('console', (message) => {
    // A refusal that a test brings about is shown on the page; the browser's own line about it is no problem.
    const refused = /the server responded with a status of (400|401|403|404|409|413|422|429)/.test(message.text());
    if (message.type() === 'error' && !refused) report(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (/^(blob|data):$/.test(protocol) || origin === server.origin) return;
    report(`request to ${request.url()}`);
  });
}

/** Serious and critical findings of axe, one line each. */
export async function findBarriers(page: Page): Promise<string[]> {
  // Injected by the debugger, so the page's policy need not allow it.
  await page.evaluate(AxeSource.source);
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ': ' + failureSummary)))`,
  );
  return found as string[];
}

/** Signs the first person in through the link the server printed. */
async function signInFirst(page: Page, server: TestServer): Promise<void> {
  const link = server.greeting().match(/http\S+\/link#\S+/)?.[0];
  if (link === undefined) throw new Error('the server printed no link');
  await page.goto(link);
  await page.getByLabel('E-mail').fill('owner@example.com');
  await page.getByLabel('New password', { exact: true }).fill('a mill runs on water');
  await page.locator('button[type=submit]').click();
  await page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor();
}
