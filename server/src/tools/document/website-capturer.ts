import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { capturePage, printScreen, scrollThrough, tallestCapture } from '../../engines/chromium-print.ts';
import { chromium, showPage } from '../../engines/chromium.ts';
import { loadSharp, sharpEngine } from '../../engines/sharp.ts';
import { webAccess } from '../../engines/web-access.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, flag, int, text } from '../settings.ts';
import { addressForm, addressProblem, webPage } from './web-address.ts';

const formats = ['png', 'jpeg', 'webp', 'pdf'] as const;

export default defineTool({
  slug: 'website-capturer',
  name: 'Website Capturer',
  category: 'document',
  description: 'Takes a picture of a web page.',
  accepts: [],
  produces: formats,
  files: { min: 0, max: 0 },
  timeoutSeconds: 240,
  engines: [chromium, sharpEngine, webAccess],
  network: true,
  settings: {
    url: text({ ...addressForm, required: true, describe: 'The address of the web page.' }),
    full_page: flag({ default: true, describe: 'The whole page down to its end, not only the window.' }),
    width: int({ min: 320, max: 3840, default: 1280, describe: 'Width of the window in pixels.' }),
    height: int({ min: 240, max: 4320, default: 720, describe: 'Height of the window in pixels.' }),
    delay_ms: int({ min: 0, max: 10_000, default: 0, describe: 'How long to wait after the page has loaded.' }),
    format: choice({ of: formats, default: 'png', describe: 'The format to return.' }),
  },
  check({ url }) {
    const problem = addressProblem(url);
    return problem === undefined ? {} : { url: [problem] };
  },
  async run(context) {
    const { url, full_page: fullPage, width, height, delay_ms, format } = context.settings;
    const { signal } = context;
    const source = webPage(url, context.fetch);
    await showPage({ ...source, scripts: true, waitUntil: 'networkidle', width, height, signal }, async (page) => {
      context.progress(40);
      if (fullPage) await scrollThrough(page);
      await sleep(delay_ms, undefined, { signal });
      context.progress(70);
      const target = context.output(`${source.stem}.${extensionOf(format)}`);
      if (format === 'pdf') return printScreen(page, { target, fullPage });
      const png = await capturePage(page, { fullPage, most: tallestCapture[format] });
      return writeFile(target, format === 'png' ? png : await recode(png, format));
    });
  },
});

async function recode(png: Buffer, format: 'jpeg' | 'webp'): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp(png).toFormat(format, { quality: 90 }).toBuffer();
}
