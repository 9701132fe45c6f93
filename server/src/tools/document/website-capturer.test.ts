import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWeb, serveWeb } from '../../../test/local-web.ts';
import { runTool } from '../../../test/run-tool.ts';
import { chromium, stopChromium } from '../../engines/chromium.ts';
import websiteCapturer from './website-capturer.ts';

const version = await chromium.version();
if (version === undefined) console.warn(`SKIPPED: website-capturer, because Chromium is missing: ${chromium.install}`);

const run = promisify(execFile);

/** 640 to 3,000 pixels of red and green, a picture that loads when it is scrolled to, and a late script. */
const page = `<!doctype html><title>T</title><body style="margin:0"><div style="height:1500px;background:#f00"></div>
  <div style="height:1500px;background:#0f0"></div><img loading="lazy" src="/lazy.svg" width="50" height="50">
  <script>setTimeout(() => { document.body.style.background = '#00f'; }, 1500)</script>`;

describe.skipIf(version === undefined)('website-capturer', { timeout: 60_000 }, () => {
  let web: Awaited<ReturnType<typeof serveWeb>>;
  let access: Awaited<ReturnType<typeof openWeb>>;
  beforeAll(async () => {
    web = await serveWeb((request, response) => {
      if (request.url === '/') return void response.setHeader('content-type', 'text/html').end(page);
      if (request.url === '/tall') {
        return void response.setHeader('content-type', 'text/html').end('<div style="height:100000px">x</div>');
      }
      if (request.url === '/file') return void response.setHeader('content-type', 'application/zip').end('PK');
      return void response.writeHead(500).end();
    });
    access = await openWeb(['127.0.0.0/8']);
  });
  afterAll(async () => {
    await stopChromium();
    await access[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
  });

  const capture = (form: Record<string, string>, path = '/') =>
    runTool(websiteCapturer, [], { url: `http://127.0.0.1:${web.port}${path}`, ...form }, undefined, access.fetch);

  test('captures the whole page, down to what loads late', async () => {
    web.asked.length = 0;
    await using result = await capture({ width: '640', height: '480' });
    const [output] = result.outputs;
    expect(output).toMatchObject({ filename: '127.0.0.1.png', type: 'png' });
    const image = sharp(output!.path);
    const { width, height } = await image.metadata();
    expect(width).toBe(640);
    expect(height).toBeGreaterThan(3000);
    const { data } = await image.raw().toBuffer({ resolveWithObject: true });
    const pixel = (y: number) => [...data.subarray(y * 640 * 3, y * 640 * 3 + 3)];
    expect([pixel(10), pixel(2900)]).toEqual([
      [255, 0, 0],
      [0, 255, 0],
    ]);
    expect(web.asked).toContain('GET /lazy.svg');
  });

  test.each(['jpeg', 'webp'])('captures the window as %s', async (format) => {
    await using result = await capture({ format, full_page: 'false', width: '800', height: '600' });
    const { width, height, format: written } = await sharp(result.outputs[0]!.path).metadata();
    expect({ width, height, written }).toEqual({ width: 800, height: 600, written: format });
  });

  test('captures a PDF of one page, as it looks on the screen', async () => {
    await using result = await capture({ format: 'pdf', width: '640' });
    const { stdout } = await run('pdfinfo', [result.outputs[0]!.path]);
    expect(stdout).toMatch(/Pages:\s+1\n/);
    expect(stdout).toMatch(/Page size:\s+480 x 22[89]\d/);
  });

  test('waits before it captures', async () => {
    const colour = async (delay: string) => {
      await using result = await capture({ full_page: 'false', height: '4320', delay_ms: delay });
      const { data } = await sharp(result.outputs[0]!.path).raw().toBuffer({ resolveWithObject: true });
      return [...data.subarray(-3)];
    };
    expect(await colour('2000')).toEqual([0, 0, 255]);
  });

  test('says that a page is too tall', async () => {
    await expect(capture({}, '/tall')).rejects.toMatchObject({ code: 'resource_limit' });
  });

  test('captures no error page and no download', async () => {
    await expect(capture({}, '/missing')).rejects.toThrow('error 500');
    await expect(capture({}, '/file')).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
