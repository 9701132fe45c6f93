import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { toError } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import { answerRequest, type PausedRequest, type Visit } from './chromium-requests.ts';
import type { Engine } from './engine.ts';
import type { WebFetch } from './web-access.ts';

/*
 * One browser stays and shows one page after another, each in a context of its own that nothing survives: cookies,
 * storage and cache go with it. It has no network. Every request of every frame, worker and redirect is paused by the
 * browser and answered by us (`chromium-requests.ts`). It runs without a sandbox of its own, because inside ours no new
 * namespaces can be made; see docs/decisions/0023.
 */

const program = '/usr/bin/chromium-headless-shell';

let known: { changed: number; version: string } | undefined;

export const chromium: Engine = {
  id: 'chromium',
  name: 'Chromium',
  license: 'BSD-3-Clause',
  interpretsPrograms: true,
  install:
    'apt-get install -y --no-install-recommends chromium-headless-shell fonts-liberation2 fonts-noto-core fonts-noto-color-emoji',
  async warm() {
    await runningBrowser();
  },
  async version() {
    try {
      // Workers ask every few seconds, and the program is large.
      const changed = statSync(program).mtimeMs;
      if (known?.changed !== changed) {
        const { stdout } = await runProgram(program, ['--version'], { timeoutMs: 20_000 });
        known = { changed, version: /[\d.]{5,}/.exec(stdout)?.[0] ?? '' };
      }
      return known.version === '' ? undefined : known.version;
    } catch {
      return undefined;
    }
  },
};

interface Running {
  browser: Browser;
  session: CDPSession;
  /** What is being shown; requests of anything else are refused. */
  visit: Visit | undefined;
}

let running: Promise<Running> | undefined;

async function runningBrowser(): Promise<Running> {
  const current = await running?.catch(() => undefined);
  if (current?.browser.isConnected() === true) return current;
  running = startBrowser();
  return running;
}

/** Ends the browser; the next page starts another. */
export async function stopChromium(): Promise<void> {
  const stopping = running;
  running = undefined;
  const current = await stopping?.catch(() => undefined);
  await current?.browser.close().catch(() => undefined);
}

/** Beside those of playwright. The resolver rule only says twice what the sandbox does: no name leads anywhere. */
const browserArguments = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-features=IsolateOrigins,site-per-process,WebRtcHideLocalIpsWithMdns,MediaRouter',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--font-render-hinting=none',
  '--hide-scrollbars',
];

async function startBrowser(): Promise<Running> {
  const { chromium: driver } = await import('playwright-core');
  try {
    const browser = await driver.launch({
      executablePath: program,
      chromiumSandbox: false,
      args: browserArguments,
      env: { PATH: '/usr/bin:/bin', HOME: tmpdir(), TMPDIR: tmpdir(), LANG: 'C.UTF-8' },
      timeout: 30_000,
    });
    const session = await browser.newBrowserCDPSession();
    const started: Running = { browser, session, visit: undefined };
    session.on('Fetch.requestPaused', (paused: PausedRequest) => void answerRequest(session, started.visit, paused));
    await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
    return started;
  } catch (cause) {
    throw new Failure('engine_failed', 'Chromium did not start.', { cause, log: toError(cause).message });
  }
}

export interface ShowOptions {
  url: string;
  /** Answers every request of the page, the first one too. */
  fetch: WebFetch;
  /** What the page is called in messages: a file's name or an address. */
  name: string;
  /** The name of the input it came from. */
  file?: string | undefined;
  /** Whether scripts of the page run. */
  scripts: boolean;
  /** `networkidle` waits on until nothing was asked for during half a second, but not for ever. */
  waitUntil?: 'load' | 'networkidle';
  width?: number;
  height?: number;
  signal: AbortSignal;
}

/** A page that is loaded. */
export interface ShownPage {
  page: Page;
  session: CDPSession;
  name: string;
  file: string | undefined;
}

const loadLimitMs = 45_000;
const quietLimitMs = 15_000;

/**
 * Loads a page and lets `use` work with it. One page at a time in a process. A browser that hangs or crashes is ended.
 *
 * @throws Failure `invalid_input` when the page cannot be loaded or is an error page, `timed_out`, `engine_failed`.
 */
export async function showPage<T>(options: ShowOptions, use: (shown: ShownPage) => Promise<T>): Promise<T> {
  const { signal } = options;
  signal.throwIfAborted();
  const current = await runningBrowser();
  const stop = () => void stopChromium();
  signal.addEventListener('abort', stop, { once: true });
  let context: BrowserContext | undefined;
  try {
    context = await newContext(current.browser, options);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    const refused = Promise.withResolvers<string>();
    current.visit = await beginVisit(session, options.fetch, refused.resolve);
    context.on('page', (popup) => void popup.close().catch(() => undefined));
    await load(page, refused.promise, options);
    return await use({ page, session, name: options.name, file: options.file });
  } catch (error) {
    signal.throwIfAborted();
    const failure = asFailure(error, options);
    // A page that does not end, or an engine that broke: nothing of it is used again.
    if (failure.code !== 'invalid_input' && failure.code !== 'resource_limit') stop();
    throw failure;
  } finally {
    signal.removeEventListener('abort', stop);
    current.visit = undefined;
    if (current.browser.isConnected()) await closeContext(context);
  }
}

async function newContext(browser: Browser, { scripts, width, height }: ShowOptions): Promise<BrowserContext> {
  const context = await browser.newContext({
    javaScriptEnabled: scripts,
    viewport: { width: width ?? 1280, height: height ?? 720 },
    serviceWorkers: 'block',
    acceptDownloads: false,
    reducedMotion: 'reduce',
    locale: 'en-US',
  });
  context.setDefaultTimeout(30_000);
  return context;
}

async function beginVisit(session: CDPSession, fetch: WebFetch, onRefusal: Visit['onRefusal']): Promise<Visit> {
  const { frameTree } = await session.send('Page.getFrameTree');
  return { fetch, mainFrame: frameTree.frame.id, onRefusal };
}

/** A context whose page hangs may not close: then the browser goes. */
async function closeContext(context: BrowserContext | undefined): Promise<void> {
  await within(10_000, Promise.resolve(context?.close()), '').catch(() => void stopChromium());
}

/** How long a page that tries in vain to go elsewhere may still take to load, in milliseconds. */
const leavingMs = 1500;

async function load(page: Page, refused: Promise<string>, { url, name, file, waitUntil }: ShowOptions): Promise<void> {
  let status = 0;
  page.on('response', (response) => {
    if (response.request().isNavigationRequest() && response.frame() === page.mainFrame()) status = response.status();
  });
  const loading = page.goto(url, { waitUntil: 'load', timeout: loadLimitMs });
  // Its first document was refused, or a script went elsewhere before the end, on which a browser stops loading.
  const left = refused.then(async (reason) => {
    await Promise.race([loading, sleep(leavingMs)]).catch(() => undefined);
    throw new Failure('invalid_input', `${name} cannot be loaded. ${reason}`, { file });
  });
  const loaded = loading.catch(async (error: unknown) => {
    if (/ERR_ABORTED/.test(toError(error).message)) await Promise.race([left, sleep(100)]);
    throw error;
  });
  await Promise.race([loaded, left]);
  if (waitUntil === 'networkidle') {
    await page.waitForLoadState('networkidle', { timeout: quietLimitMs }).catch(() => undefined);
  }
  if (status >= 400) {
    throw new Failure('invalid_input', `${name} cannot be shown: the server answered with the error ${status}.`, {
      file,
    });
  }
}

function asFailure(error: unknown, { name, file }: ShowOptions): Failure {
  if (error instanceof Failure) return error;
  const { message, name: kind } = toError(error);
  const options = { file, cause: error, log: message };
  if (kind === 'TimeoutError') return new Failure('timed_out', `${name} did not finish loading in time.`, options);
  if (/Download is starting|ERR_ABORTED/.test(message)) {
    return new Failure('invalid_input', `${name} is not a page that a browser can show.`, options);
  }
  if (/ERR_TOO_MANY_REDIRECTS/.test(message)) {
    return new Failure('invalid_input', `${name} redirects without an end.`, options);
  }
  if (/net::ERR_/.test(message)) return new Failure('invalid_input', `${name} cannot be loaded.`, options);
  if (/crash/i.test(message)) {
    return new Failure('resource_limit', `${name} needs more memory than a run may use.`, options);
  }
  return new Failure('engine_failed', `Chromium stopped working on ${name}.`, options);
}

/** @throws Failure `timed_out` with `sentence` when `work` takes longer. */
export async function within<T>(limitMs: number, work: Promise<T>, sentence: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Failure('timed_out', sentence)), limitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
