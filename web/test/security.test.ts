import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { hasChromium, usePages } from './chromium.ts';

/** Sets a mark if any browser ever takes it for more than text. */
const script = 'window.pwned=1';
const markup = `"'><img src=x onerror=${script}><script>${script}</script>`;

describe.skipIf(!hasChromium)('hostile content (needs Chromium)', () => {
  const pages = usePages();
  const pwned = (page: Page) => page.evaluate('window.pwned');
  const addFiles = (page: Page, files: Parameters<ReturnType<Page['locator']>['setInputFiles']>[0]) =>
    page.locator('input[type=file]').first().setInputFiles(files);
  const runTool = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();

  test('in file names and settings is shown as text, on every page that shows a run', async () => {
    const page = await pages.openSignedIn();
    await page.goto('/tools/image-watermarker');
    const image = await sharp({ create: { width: 60, height: 40, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    await addFiles(page, { name: `${markup.replaceAll('/', '')}.png`, mimeType: 'image/png', buffer: image });
    await page.getByRole('textbox', { name: 'Text' }).fill(markup);
    await runTool(page);
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    expect(await pwned(page)).toBeUndefined();
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('onerror=').first().waitFor();
    expect(await pwned(page)).toBeUndefined();
    await page.goto('/runs');
    await page.getByText('onerror=').first().waitFor();
    expect(await pwned(page)).toBeUndefined();
  });

  test('in the names of tokens, accounts and in addresses is shown as text', async () => {
    const page = await pages.openSignedIn();
    await page.goto('/tokens');
    await page.getByRole('button', { name: 'New token' }).first().click();
    await page.getByLabel('Name').fill(markup);
    await page.getByRole('button', { name: 'Make the token' }).click();
    await page.getByRole('button', { name: 'Copy the token' }).click();
    await page.goto('/settings');
    await page.getByText('onerror=').first().waitFor();
    expect(await pwned(page)).toBeUndefined();
    await page.goto(`/tools?q=${encodeURIComponent(markup)}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await pwned(page)).toBeUndefined();
    await page.goto(`/runs/${encodeURIComponent(markup)}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await pwned(page)).toBeUndefined();
    await page.goto(`/sign-in?error=${encodeURIComponent(markup)}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await pwned(page)).toBeUndefined();
  });

  test('in an SVG output is an image and no document', async () => {
    const page = await pages.openSignedIn();
    await page.goto('/tools/image-compressor');
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="${script}"><script>${script}</script><image href="http://198.51.100.1/x.png" width="9" height="9"/><rect width="40" height="40" fill="green"/></svg>`;
    await addFiles(page, { name: 'drawing.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) });
    await runTool(page);
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await page.locator('img[src^="blob:"]').first().waitFor();
    expect(await pwned(page)).toBeUndefined();
    const address = await page.getByRole('link', { name: 'Download' }).getAttribute('href');
    const document = await pages.openSignedIn();
    const download = document.waitForEvent('download');
    await document.goto(address ?? '').catch(() => undefined);
    expect((await download).suggestedFilename()).toBe('drawing.svg');
  });

  test('in a text output stays text', async () => {
    const page = await pages.openSignedIn();
    await page.goto('/tools/csv-to-json-converter');
    await addFiles(page, {
      name: 'rows.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`name,note\n1,<img src=x onerror=${script}>\n`),
    });
    await runTool(page);
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await page.getByText('onerror=').first().waitFor();
    expect(await pwned(page)).toBeUndefined();
  });

  test('cannot put the page into a frame', async () => {
    const response = await fetch(`${pages.server.origin}/tokens`);
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    const nonces = [
      policy,
      (await fetch(`${pages.server.origin}/tokens`)).headers.get('content-security-policy') ?? '',
    ];
    expect(new Set(nonces.map((text) => /'nonce-([^']+)'/.exec(text)?.[1])).size).toBe(2);
  });
});
