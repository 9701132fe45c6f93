import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findBarriers, hasChromium, sizes, usePages } from './chromium.ts';

const signedOut = ['/sign-in', '/link'];
const signedIn = [
  '/tools',
  '/tools/image-compressor',
  '/tools/qr-code-generator',
  '/runs',
  '/tokens',
  '/webhooks',
  '/usage',
  '/quick-start',
  '/settings',
  '/admin',
  '/nothing-here',
];
const mostFirstLoadBytes = 300_000;
/** Of Google's Web Vitals: up to here a page does not jump. */
const mostLayoutShift = 0.1;

describe.skipIf(!hasChromium)('every page (needs Chromium)', () => {
  const pages = usePages();

  test.each(['light', 'dark'] as const)('has no barriers that axe calls serious, in the %s theme', async (scheme) => {
    const stranger = await pages.open({ scheme, size: 'phone' });
    for (const address of signedOut) expect([address, await barriersAt(stranger, address)]).toEqual([address, []]);
    const page = await pages.openSignedIn({ scheme });
    for (const address of signedIn) expect([address, await barriersAt(page, address)]).toEqual([address, []]);
  });

  test.each(Object.keys(sizes) as (keyof typeof sizes)[])('none is wider than a %s, and none jumps', async (size) => {
    const page = await pages.openSignedIn({ size });
    // Counted from the beginning of each document.
    await page.addInitScript(`
      window.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    for (const address of signedIn) {
      await settle(page, address);
      const { overflow, shift } = await page.evaluate<{ overflow: number; shift: number }>(
        '({ overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth), shift: window.shift })',
      );
      expect([address, overflow]).toEqual([address, 0]);
      expect([address, shift < mostLayoutShift || shift]).toEqual([address, true]);
    }
  });

  test.each(['/tools', '/tools/image-compressor'])('the first load of %s is small', async (address) => {
    const page = await pages.openSignedIn();
    let bytes = 0;
    // Signing in has filled the cache; a first load finds it empty.
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    session.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength));
    await page.goto('about:blank');
    await page.goto(address);
    await page.waitForLoadState('networkidle');
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(mostFirstLoadBytes);
  });

  test('can be used by keyboard alone: to the content, through the menu, to a run', async () => {
    const page = await pages.openSignedIn();
    await page.goto('/tools');
    await page.getByRole('searchbox', { name: 'Search the tools' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('/');
    await page.keyboard.type('qr');
    // What does not fit goes from the page, and with it the focus that stood on it.
    await page.getByRole('link', { name: 'Image Compressor' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    for (let tabs = 0; tabs < 15 && !(await isOn(page, 'QR Code Generator')); tabs++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'QR Code Generator' }).waitFor();
    await page.getByRole('textbox', { name: 'Text' }).focus();
    await page.keyboard.type('by keyboard');
    for (let tabs = 0; tabs < 60 && !(await isOn(page, 'Run')); tabs++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Result' }).waitFor();
  });
});

async function barriersAt(page: Page, address: string): Promise<string[]> {
  await settle(page, address);
  const headings = await page.getByRole('heading', { level: 1 }).count();
  return [...(headings === 1 ? [] : [`${headings} main headings`]), ...(await findBarriers(page))];
}

async function settle(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
}

function isOn(page: Page, text: string): Promise<boolean> {
  return page
    .evaluate(`document.activeElement === document.body ? '' : (document.activeElement.innerText ?? '')`)
    .then((found) => String(found).includes(text));
}
