import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { startReceiver } from '../../server/test/receiver.ts';
import { eventually } from '../../server/test/scenario.ts';
import { hasChromium, usePages } from './chromium.ts';

/** As grainy as a photo, so that compressing it saves something. */
function makePhoto(): Promise<Buffer> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 20 };
  const background = { r: 120, g: 140, b: 90 };
  return sharp({ create: { width: 1600, height: 1200, channels: 3, background, noise } })
    .jpeg({ quality: 98 })
    .toBuffer();
}

const pdf = (name: string) => new URL(`../../server/test/fixtures/pdf/${name}`, import.meta.url).pathname;

describe.skipIf(!hasChromium)('somebody new (needs Chromium)', () => {
  const pages = usePages({ env: { MILLRUN_WEBHOOK_ALLOW: '127.0.0.0/8' } });
  let photo: { name: string; mimeType: string; buffer: Buffer };
  beforeAll(async () => {
    photo = { name: 'harbour.jpg', mimeType: 'image/jpeg', buffer: await makePhoto() };
  });

  const openSignedIn = async (address: string) => {
    const page = await pages.openSignedIn();
    await page.goto(address);
    return page;
  };

  const run = (page: Page) => page.getByRole('button', { name: /^Run( again)?$/ }).click();
  const addFiles = (page: Page, files: Parameters<ReturnType<Page['locator']>['setInputFiles']>[0]) =>
    page.locator('input[type=file]').first().setInputFiles(files);

  test('comes in by the link that was printed, makes a token, and uses it with curl', async () => {
    const page = await openSignedIn('/tokens');
    await page.getByRole('button', { name: 'New token' }).first().click();
    await page.getByLabel('Name').fill('my first');
    await page.getByRole('button', { name: 'Make the token' }).click();
    await page.getByRole('button', { name: 'Copy the token' }).click();
    const token = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(token).toMatch(/^mr_[0-9A-Za-z]{46}$/);
    const address = `${pages.server.base}/usage`;
    const { stdout } = await promisify(execFile)('curl', ['-sf', '-H', `Authorization: Bearer ${token}`, address]);
    expect(JSON.parse(stdout)).toMatchObject({ plan: 'unlimited' });
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('button', { name: 'Revoke my first' }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('Former tokens (1)').waitFor();
    const refused = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain('token_revoked');
    await page.goto('/settings');
    await page.getByText(/revoked the token/).waitFor();
  });

  test('makes a photo smaller, and compares before and after', async () => {
    const page = await openSignedIn('/tools/image-compressor');
    await addFiles(page, photo);
    await page.getByText('harbour.jpg').first().waitFor();
    await run(page);
    const slider = page.getByRole('slider', { name: 'How much is shown as it was before' });
    await slider.waitFor();
    await slider.focus();
    const before = await slider.inputValue();
    await page.keyboard.press('ArrowRight');
    expect(await slider.inputValue()).not.toBe(before);
    await page.getByText(/^\d+ % smaller$/).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const saved = await readFile(await (await download).path());
    expect((await download).suggestedFilename()).toBe('harbour.jpg');
    expect([...saved.subarray(0, 2)]).toEqual([0xff, 0xd8]);
    expect(saved.length).toBeLessThan(photo.buffer.length);
  });

  test('finds the settings in the code beside the form, as they are now', async () => {
    const page = await openSignedIn('/tools/image-compressor');
    await page.getByRole('textbox', { name: 'Quality' }).fill('55');
    const code = page.getByRole('region', { name: 'curl program' });
    await code.waitFor();
    expect(await code.innerText()).toContain('quality=55');
  });

  test('merges PDFs in the order of the list, and sees the pages', async () => {
    const page = await openSignedIn('/tools/pdf-merger');
    await addFiles(page, [pdf('three-pages.pdf'), pdf('twelve-pages.pdf')]);
    await run(page);
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await page.getByText(/of 15/).first().waitFor();
    await page.locator('canvas').first().waitFor();
  });

  test('is told what is wrong with a file, at the file and in words', async () => {
    const page = await openSignedIn('/tools/pdf-text-extractor');
    await addFiles(page, pdf('locked.pdf'));
    await run(page);
    const alert = page.getByRole('alert').filter({ hasText: /password/i });
    await alert.first().waitFor();

    await page.goto('/tools/image-compressor');
    await addFiles(page, {
      name: 'not-a-photo.jpg',
      mimeType: 'image/jpeg',
      buffer: Buffer.from('plain text\n'.repeat(50)),
    });
    await run(page);
    await page.getByText('Something needs to be changed').waitFor();
    await page.getByText(/Image Compressor takes/).waitFor();
  });

  test('cancels a run in the middle, and deletes it when the window is over', async () => {
    const page = await openSignedIn('/tools/qr-code-generator');
    const lines = Array.from({ length: 1000 }, (_, line) => `line ${line}`).join('\n');
    await addFiles(page, { name: 'codes.txt', mimeType: 'text/plain', buffer: Buffer.from(lines) });
    await page.getByRole('textbox', { name: 'Size' }).fill('4096');
    await run(page);
    await page.getByText('Processing', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Open the run' }).click();
    const remove = page.getByRole('button', { name: /^Delete/ }).first();
    await remove.waitFor();
    expect(await remove.isDisabled()).toBe(true);
    expect(await remove.innerText()).toMatch(/\d+ s/);
  });

  test('gets a webhook, sees what was sent and answered, and sends it again', async () => {
    await using receiver = await startReceiver({ status: 500, body: 'out of order' }, 204);
    const page = await openSignedIn('/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByRole('button', { name: 'Register' }).click();
    await page
      .getByText(/^whsec_/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: /^Copy the (signing )?secret/ }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.goto('/webhooks');
    await page.getByRole('link', { name: receiver.url }).click();
    await page
      .getByRole('button', { name: /test event/i })
      .first()
      .click();
    await receiver.received(1);
    await page.getByText('out of order').first().waitFor();
    await page.getByRole('button', { name: /^(Try now|Send again)$/ }).click();
    await receiver.received(2);
    await page.getByText('Delivered').first().waitFor();
  });

  test('sees runs as they change, without asking', async () => {
    const page = await openSignedIn('/runs');
    const other = await openSignedIn('/tools/qr-code-generator');
    await other.getByRole('textbox', { name: 'Text' }).fill('seen elsewhere');
    await run(other);
    await other.getByRole('heading', { name: 'Result' }).waitFor();
    await eventually('the newest run is done in the list', async () => {
      const text = await page.getByRole('main').innerText();
      return /QR Code Generator[\s\S]{0,200}Done/.test(text);
    });
  });

  test('signs out, and is asked to sign in wherever they go', async () => {
    const page = await openSignedIn('/tools');
    await page.getByRole('button', { name: /^Account / }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.goto('/tokens');
    await page.getByLabel('E-mail').fill('owner@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not my password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(/not right/).waitFor();
    await page.getByLabel('Password', { exact: true }).fill('a mill runs on water');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'API tokens' }).waitFor();
  });
});
