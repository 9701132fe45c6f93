/**
 * Pages of the web and pages that want to reach it, in the real sandbox: the browser has no network, and the worker
 * fetches only what it should.
 */
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '@millrun/sdk';
import { chromium } from '../../src/engines/chromium.ts';
import type { Client, FormFile } from '../client.ts';
import { serveWeb } from '../local-web.ts';
import { popplerText } from '../pdf-checks.ts';
import { errorOf, useServer } from '../scenario.ts';

const missing = (await chromium.version()) === undefined;
if (missing) console.warn(`SKIPPED: pages of the web, because Chromium is missing: ${chromium.install}`);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-pages-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function finished(
  client: Client,
  tool: string,
  files: FormFile[],
  settings: Record<string, string> = {},
): Promise<Run> {
  return client.finished((await client.accepted(tool, files, settings)).id);
}

async function textOf(client: Client, run: Run): Promise<string> {
  expect(run).toMatchObject({ status: 'done' });
  const path = join(directory, 'output.pdf');
  await writeFile(path, Buffer.from(await (await client.request(run.outputs![0]!.url)).arrayBuffer()));
  return popplerText(path).join('\n');
}

describe.skipIf(missing)('with one host allowed', () => {
  const scenario = useServer({ env: { MILLRUN_FETCH_ALLOW: '127.0.0.1', MILLRUN_LOG_LEVEL: 'info' } });

  test('a page is printed with what it may load; the rest of the network is not there', async () => {
    const client = await scenario.client();
    await using web = await serveWeb((request, response) => {
      if (request.url === '/away') return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      if (request.url === '/api') return void response.end('from the server');
      return void response.setHeader('content-type', 'text/html').end(`<p id="a"></p><script>
        const show = (text) => document.body.append(' ', text);
        fetch('/api').then((r) => r.text()).then(show);
        for (const [name, url] of Object.entries({ metadata: 'http://169.254.169.254/', ours: '${scenario.server.base}/tools',
          six: 'http://[::1]/', file: 'file:///etc/passwd', redirect: '/away' }))
          fetch(url, { mode: 'no-cors' }).then(() => show('reached-' + name), () => show('refused-' + name));
      </script>`);
    });
    const url = `http://127.0.0.1:${web.port}`;
    const text = await textOf(
      client,
      await finished(client, 'html-to-pdf-converter', [], { url, wait_until: 'networkidle' }),
    );
    // The service itself is on the host that is allowed here, but a page of another origin cannot read it.
    for (const expected of ['from the server', 'refused-metadata', 'refused-six', 'refused-file', 'refused-redirect']) {
      expect(text).toContain(expected);
    }
    expect(scenario.server.log()).toContain('The address of 169.254.169.254 is not public.');
    const away = await finished(client, 'website-capturer', [], { url: `${url}/away` });
    expect(away.error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('not public') as string,
    });
  });

  test('an uploaded page reaches neither the host that is allowed nor a file, and a tool that takes no address nothing', async () => {
    const client = await scenario.client();
    await using web = await serveWeb((_request, response) => response.end('secret'));
    const url = `http://127.0.0.1:${web.port}/`;
    const html = `<p>text</p><img src="${url}"><iframe src="${url}"></iframe><iframe src="file:///etc/passwd"></iframe>
      <script>fetch('${url}').then(() => document.body.append('reached'), () => document.body.append('refused'))</script>`;
    const page = { filename: 'page.html', content: `<!doctype html>${html}` };
    const printed = await textOf(
      client,
      await finished(client, 'html-to-pdf-converter', [page], { wait_until: 'networkidle' }),
    );
    expect(printed).toContain('refused');
    expect(printed).not.toMatch(/root:|secret/);
    const mail = { filename: 'mail.eml', content: `From: a@example.org\r\nContent-Type: text/html\r\n\r\n${html}` };
    expect(await textOf(client, await finished(client, 'email-to-pdf-converter', [mail]))).not.toMatch(
      /root:|secret|reached/,
    );
    expect(web.asked).toEqual([]);
  });
});

describe.skipIf(missing)('with the way to the web closed', () => {
  const scenario = useServer({ env: { MILLRUN_FETCH: 'off' } });

  test('addresses are refused at the door, files are not', async () => {
    const client = await scenario.client();
    const refused = await client.submit('html-to-pdf-converter', [], { url: 'https://example.com/' });
    expect((await errorOf(refused, 503)).message).toContain('MILLRUN_FETCH');
    const page = { filename: 'page.html', content: '<!doctype html><p>text' };
    expect(await textOf(client, await finished(client, 'html-to-pdf-converter', [page]))).toContain('text');
  });
});
