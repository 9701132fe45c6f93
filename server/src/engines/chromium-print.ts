import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Failure } from '../lib/failure.ts';
import { within, type ShownPage } from './chromium.ts';
import { readPdf } from './pdfium.ts';
import { isBlankPage } from './visible-area.ts';

const printLimitMs = 90_000;

export const paperSizes = ['a3', 'a4', 'a5', 'letter', 'legal', 'tabloid'] as const;

export type PaperSize = (typeof paperSizes)[number];

export interface PrintOptions {
  target: string;
  paper: PaperSize;
  landscape?: boolean;
  marginMm: number;
  background?: boolean;
  scale?: number;
  /** Let `@page { size }` of the page win over `paper`. */
  ownSize?: boolean;
  /** HTML in the margins; elements of the class pageNumber, totalPages, title, date or url are filled in. */
  header?: string | undefined;
  footer?: string | undefined;
}

const mostPages = 5000;

/**
 * Prints a page as a tagged PDF with bookmarks of its headings.
 *
 * @throws Failure `invalid_input` when there is nothing to see on it, `resource_limit` for too many pages, `timed_out`.
 */
export async function printPage(shown: ShownPage, options: PrintOptions): Promise<{ pages: number }> {
  const { page, name } = shown;
  const { marginMm, header, footer } = options;
  const margin = `${marginMm}mm`;
  const printing = page.pdf({
    format: options.paper,
    landscape: options.landscape ?? false,
    margin: { top: margin, right: margin, bottom: margin, left: margin },
    printBackground: options.background ?? true,
    scale: options.scale ?? 1,
    preferCSSPageSize: options.ownSize ?? false,
    displayHeaderFooter: header !== undefined || footer !== undefined,
    headerTemplate: marginTemplate(header, margin),
    footerTemplate: marginTemplate(footer, margin),
    outline: true,
    tagged: true,
  });
  const pdf = await within(printLimitMs, printing, `${name} could not be printed in time.`);
  await writeFile(options.target, pdf, { mode: 0o600 });
  return checkPrint(shown, options.target);
}

async function checkPrint({ name, file }: ShownPage, path: string): Promise<{ pages: number }> {
  const source = { path, filename: name, password: undefined, scratch: tmpdir() };
  return readPdf(source, async (reader) => {
    const { pageCount } = reader;
    if (pageCount > mostPages) {
      throw new Failure('resource_limit', `${name} has ${pageCount} pages; at most ${mostPages} are printed.`, {
        file,
      });
    }
    const empty = pageCount === 0 || (pageCount === 1 && reader.text(0).trim() === '' && isBlankPage(reader, 0));
    if (empty) throw new Failure('invalid_input', `${name} has nothing to show: the page is blank.`, { file });
    return { pages: pageCount };
  });
}

/** Templates begin without any size, so that what is not styled would not be seen. */
function marginTemplate(html: string | undefined, margin: string): string {
  return `<div style="font-size:9px;width:100%;padding:0 ${margin}">${html ?? ''}</div>`;
}

/** The tallest page there is in a PDF that every reader opens: 200 inches. */
const tallestPaper = 19_200;

/**
 * A page as it looks on the screen, as PDF of one page: the window, or the whole page down to its end.
 *
 * @throws Failure as `printPage`, and `resource_limit` for a page taller than a PDF page can be.
 */
export async function printScreen(
  shown: ShownPage,
  { target, fullPage }: { target: string; fullPage: boolean },
): Promise<void> {
  const { page, name } = shown;
  await page.emulateMedia({ media: 'screen' });
  const window = page.viewportSize() ?? { width: 1280, height: 720 };
  const { width, height } = fullPage ? await checkSize(shown, tallestPaper) : window;
  // A pixel more than the page: what is a fraction too high would begin a second one.
  const printing = page.pdf({
    width: Math.max(width, window.width),
    height: height + 1,
    printBackground: true,
    pageRanges: '1',
    tagged: true,
  });
  const pdf = await within(printLimitMs, printing, `${name} could not be printed in time.`);
  await writeFile(target, pdf, { mode: 0o600 });
  await checkPrint(shown, target);
}

/** More needs more memory than a run may use: the picture is painted in one piece. */
const mostCapturePixels = 100_000_000;

/** What a picture may have at most each way, in pixels: WebP can have no more, and of others readers take no more. */
export const tallestCapture = { png: 50_000, jpeg: 50_000, webp: 16_383 };

/**
 * A screenshot as PNG: of the window, or of the whole page down to its end.
 *
 * @throws Failure `resource_limit` when the whole page is taller than `most` pixels or 100 megapixels large.
 */
export async function capturePage(
  shown: ShownPage,
  { fullPage, most }: { fullPage: boolean; most: number },
): Promise<Buffer> {
  const { page, name } = shown;
  if (fullPage) await checkSize(shown, most);
  const taken = page.screenshot({ fullPage, type: 'png', animations: 'disabled', timeout: 60_000 });
  return within(printLimitMs, taken, `${name} could not be captured in time.`);
}

async function checkSize(shown: ShownPage, most: number): Promise<{ width: number; height: number }> {
  const { width, height } = await pageSize(shown);
  if (Math.max(width, height) <= most && width * height <= mostCapturePixels) return { width, height };
  const message = `${shown.name} is ${width} × ${height} pixels large, more than can be captured. Switch full_page off.`;
  throw new Failure('resource_limit', message, { file: shown.file });
}

/** Of the whole page, in CSS pixels. */
async function pageSize({ session }: ShownPage): Promise<{ width: number; height: number }> {
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  return { width: Math.ceil(cssContentSize.width), height: Math.ceil(cssContentSize.height) };
}

/** Pages without an end grow as they are scrolled. */
const deepestScroll = 30_000;

/** Goes down the page once and back, so that what loads only when it is seen is there. */
export async function scrollThrough(shown: ShownPage): Promise<void> {
  const { page, name } = shown;
  const { height } = await pageSize(shown);
  const step = page.viewportSize()?.height ?? 720;
  const scroll = async () => {
    for (let y = step; y < Math.min(height, deepestScroll); y += step) {
      await page.evaluate(`scrollTo(0, ${y})`);
      await page.waitForTimeout(60);
    }
    await page.evaluate('scrollTo(0, 0)');
  };
  await within(30_000, scroll(), `${name} does not answer.`);
  await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
}
