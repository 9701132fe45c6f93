import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { openWeb, serveWeb } from '../../../test/local-web.ts';
import { runTool } from '../../../test/run-tool.ts';
import { chromium, stopChromium } from '../../engines/chromium.ts';
import type { WebFetch } from '../../engines/web-access.ts';
import htmlToPdf from './html-to-pdf-converter.ts';

const version = await chromium.version();
if (version === undefined)
  console.warn(`SKIPPED: html-to-pdf-converter, because Chromium is missing: ${chromium.install}`);

const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

interface Printed {
  text: string;
  info: string;
  /** As `pdfimages -list` has them. */
  images: string;
}

async function print(path: string | undefined, form: Record<string, string> = {}, fetch?: WebFetch): Promise<Printed> {
  const inputs = path === undefined ? [] : [path];
  await using result = await runTool(htmlToPdf, inputs, form, undefined, fetch);
  const [output] = result.outputs;
  expect(output!.type).toBe('pdf');
  const [text, info, images] = await Promise.all([
    run('pdftotext', ['-layout', output!.path, '-']),
    run('pdfinfo', [output!.path]),
    run('pdfimages', ['-list', output!.path]),
  ]);
  return { text: text.stdout, info: info.stdout, images: images.stdout };
}

async function writeHtml(name: string, html: string | Buffer): Promise<string> {
  await writeFile(file(name), html);
  return file(name);
}

async function writeZip(name: string, files: Record<string, string | Buffer>, mode = 0o100644): Promise<string> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path, { mode });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file(name)));
  return file(name);
}

const page = (body: string) => `<!doctype html><html lang="en"><title>T</title><body>${body}</body></html>`;

describe.skipIf(version === undefined)('html-to-pdf-converter', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-html-'));
  });
  afterAll(async () => {
    await stopChromium();
    await rm(folder, { recursive: true, force: true });
  });

  test('prints a page with its scripts, in UTF-8 that nobody declared, and with bookmarks', async () => {
    const html = page('<h1>Über Жя €</h1><p id="a"></p><script>a.textContent = "by " + "script"</script>');
    const { text, info } = await print(await writeHtml('page.html', html));
    expect(text).toContain('Über Жя €');
    expect(text).toContain('by script');
    expect(info).toMatch(/Page size:\s+59\d\.\d+ x 84\d\.\d+ pts \(A4\)/);
    expect(info).toMatch(/Tagged:\s+yes/);
  });

  test('reads what the page says about its encoding', async () => {
    const html = Buffer.from('<html><meta charset="koi8-r"><p>\xF0\xD2\xC9\xD7\xC5\xD4', 'latin1');
    expect((await print(await writeHtml('russian.html', html))).text).toContain('Привет');
  });

  test('obeys paper, orientation, scale, header and footer', async () => {
    const path = await writeHtml('long.html', page('<p style="break-after:page">One</p><p>Two</p>'));
    const { text, info } = await print(path, {
      page_size: 'letter',
      orientation: 'landscape',
      margin_mm: '20',
      header_html: '<b>Top</b><img src="file:///etc/passwd"><script>document.write("ran")</script>',
      footer_html: '<span class="pageNumber"></span> of <span class="totalPages"></span>',
    });
    expect(info).toMatch(/Page size:\s+792 x 612/);
    expect(text).toContain('Top');
    expect(text).toContain('2 of 2');
    expect(text).not.toContain('ran');
  });

  test('lets the page choose its paper when told to', async () => {
    const path = await writeHtml('a6.html', page('<style>@page { size: 100mm 50mm }</style>x'));
    expect((await print(path)).info).toContain('A4');
    expect((await print(path, { prefer_css_page_size: 'true' })).info).toMatch(/28[23]\.\d+ x 14[12]\.\d+/);
  });

  test('prints a site in a ZIP with what belongs to it, also one folder down', async () => {
    const red = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const html = page(
      '<link rel=stylesheet href="css/a b.css"><h1>Hi</h1><img src="/img/red.png"><img src="../../x.png">',
    );
    const files = { 'index.html': html, 'css/a b.css': 'h1::after { content: " styled" }', 'img/red.png': red };
    const flat = await print(await writeZip('site.zip', files));
    expect(flat).toMatchObject({
      text: expect.stringContaining('Hi styled') as string,
      images: expect.stringMatching(/\b20 +20\b/) as string,
    });
    const nested = Object.fromEntries(Object.entries(files).map(([name, content]) => [`my site/${name}`, content]));
    expect((await print(await writeZip('nested.zip', nested))).images).toMatch(/\b20 +20\b/);
  });

  test.each([
    ['without a page', { 'a.txt': 'x' }, 0o100644, 'invalid_input'],
    ['with two pages and no index', { 'a.html': 'x', 'b.html': 'y' }, 0o100644, 'invalid_input'],
    ['with a link', { 'index.html': '/etc/passwd' }, 0o120777, 'invalid_input'],
  ])('refuses a ZIP %s', async (_name, files, mode, code) => {
    await expect(print(await writeZip('bad.zip', files, mode))).rejects.toMatchObject({ code, file: 'bad.zip' });
  });

  test('refuses a ZIP that leads out or is damaged', async () => {
    const outside = await writeZip('out.zip', { 'aa/index.html': page('x') });
    const { stdout } = await run('sed', ['s#aa/index.html#../index.html#g', outside], { encoding: 'buffer' });
    await writeFile(file('leads-out.zip'), stdout);
    await expect(print(file('leads-out.zip'))).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('prints no blank page', async () => {
    const blank = await writeHtml('blank.html', page('<script>1</script>'));
    await expect(print(blank)).rejects.toMatchObject({ code: 'invalid_input', file: 'blank.html' });
  });

  test('gives an uploaded page nothing from outside: no file, no address, no window', async () => {
    await using canary = await serveWeb((_request, response) => response.end('secret'));
    const address = `http://127.0.0.1:${canary.port}`;
    const html = page(`<p>before</p>
      <iframe src="file:///etc/passwd"></iframe><iframe src="${address}/frame"></iframe>
      <img src="${address}/img"><link rel="stylesheet" href="${address}/css"><link rel="attachment" href="file:///etc/passwd">
      <link rel="dns-prefetch" href="//leak.example.com"><link rel="preconnect" href="${address}">
      <object data="file:///etc/passwd"></object><embed src="view-source:file:///etc/passwd">
      <svg width="9" height="9"><image href="file:///etc/passwd" width="9" height="9"/><foreignObject><iframe src="${address}/svg"></iframe></foreignObject></svg>
      <script>
        const show = (text) => document.body.append(' ', text);
        fetch('file:///etc/passwd').then((r) => r.text()).then(show, () => show('refused-file'));
        fetch('${address}/api').then((r) => r.text()).then(show, () => show('refused-http'));
        new WebSocket('ws://127.0.0.1:${canary.port}/').onerror = () => show('refused-socket');
        navigator.sendBeacon('${address}/beacon', 'x');
        window.open('${address}/window');
        new Worker(URL.createObjectURL(new Blob(["fetch('${address}/worker')"])));
        onload = () => setTimeout(() => { location = '${address}/gone'; }, 1);
      </script>
      <meta http-equiv="refresh" content="0; url=${address}/refresh">`);
    const { text } = await print(await writeHtml('hostile.html', html), { wait_until: 'networkidle' });
    for (const expected of ['before', 'refused-file', 'refused-http', 'refused-socket'])
      expect(text).toContain(expected);
    expect(text).not.toMatch(/root:|secret/);
    expect(canary.asked).toEqual([]);
  });

  test('says when a page leads away before it is there', async () => {
    const path = await writeHtml(
      'away.html',
      page('<script>location = "https://example.com/"</script><img src="x.png">'),
    );
    await expect(print(path)).rejects.toMatchObject({ code: 'invalid_input', file: 'away.html' });
  });

  test('prints a page of the web, through redirects, with what it loads and the cookies it sets', async () => {
    await using web = await serveWeb((request, response) => {
      if (request.url === '/') return void response.writeHead(302, { location: '/page', 'set-cookie': 'a=b' }).end();
      if (request.url === '/page') {
        response.setHeader('content-type', 'text/html');
        return void response.end(page(`<p>cookie ${request.headers.cookie}</p><script src="/s.js"></script>`));
      }
      return void response.end('document.body.append("loaded")');
    });
    await using access = await openWeb(['127.0.0.0/8']);
    const { text } = await print(undefined, { url: `http://127.0.0.1:${web.port}/` }, access.fetch);
    expect(text).toContain('cookie a=b');
    expect(text).toContain('loaded');
    expect(web.asked).toEqual(['GET /', 'GET /page', 'GET /s.js']);
  });

  test.each([
    ['an address that is not public', 'http://169.254.169.254/latest/meta-data/', 'not public'],
    ['loopback', 'http://127.0.0.1:5432/', 'not public'],
    ['loopback in IPv6', 'http://[::1]/', 'not public'],
    ['a mapped address', 'http://[::ffff:127.0.0.1]/', 'not public'],
    ['a name that does not exist', 'http://nowhere.invalid/', 'cannot be resolved'],
  ])('refuses %s', async (_name, url, sentence) => {
    await using access = await openWeb([]);
    const failure = { code: 'invalid_input', message: expect.stringContaining(sentence) as string };
    await expect(print(undefined, { url }, access.fetch)).rejects.toMatchObject(failure);
  });

  test('checks where a redirect leads, and refuses error pages', async () => {
    await using inner = await serveWeb((_request, response) => response.end('secret'));
    await using web = await serveWeb((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: `http://localhost:${inner.port}/` }).end();
      else response.writeHead(404, { 'content-type': 'text/html' }).end(page('Not here'));
    });
    await using access = await openWeb([`127.0.0.1`]);
    const at = (path: string) =>
      print(undefined, { url: `http://127.0.0.1:${web.port}${path}` }, async (request) =>
        request.url.includes(String(inner.port)) ? (await openWeb([])).fetch(request) : access.fetch(request),
      );
    await expect(at('/away')).rejects.toMatchObject({ code: 'invalid_input' });
    expect(inner.asked).toEqual([]);
    await expect(at('/missing')).rejects.toThrow('answered with the error 404');
  });

  test('wants a file or an address, and a room for its header', async () => {
    const path = await writeHtml('small.html', page('x'));
    await expect(print(undefined)).rejects.toThrow('is required when no file is sent');
    await expect(print(path, { url: 'https://example.com' })).rejects.toThrow('together with a file');
    await expect(print(undefined, { url: 'https://u:p@example.com' })).rejects.toThrow('user name');
    await expect(print(path, { header_html: 'x', margin_mm: '0' })).rejects.toThrow('at least 5');
  });
});
