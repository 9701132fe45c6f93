import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveWeb } from '../../../test/local-web.ts';
import { runTool } from '../../../test/run-tool.ts';
import { chromium, stopChromium } from '../../engines/chromium.ts';
import emailToPdf from './email-to-pdf-converter.ts';

const version = await chromium.version();
if (version === undefined)
  console.warn(`SKIPPED: email-to-pdf-converter, because Chromium is missing: ${chromium.install}`);

const run = promisify(execFile);
const sample = (name: string) => join(import.meta.dirname, '../../../test/fixtures/samples', name);
let folder: string;

/** A mail with the given HTML, a picture `pic1` that may be part of it, and two attachments. */
async function writeMail(html: string): Promise<string> {
  const picture = await sharp({ create: { width: 21, height: 21, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const lines = [
    'From: =?utf-8?Q?=C3=84nne?= <a@example.org>',
    'To: "Doe, Jane" <j@example.org>',
    'Subject: =?koi8-r?B?8NLJ18XU?=',
    'Date: Tue, 05 May 2026 10:20:30 +0200',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    ...['', '--b', 'Content-Type: text/html; charset=utf-8', '', html],
    ...['--b', 'Content-Type: image/png; name=pic.png', 'Content-ID: <pic1>', 'Content-Transfer-Encoding: base64', ''],
    picture.toString('base64'),
    ...[
      '--b',
      'Content-Type: text/csv',
      'Content-Disposition: attachment; filename="../../data.csv"',
      '',
      'a,b',
      '1,2',
    ],
    ...[
      '--b',
      'Content-Type: message/rfc822',
      'Content-Disposition: attachment',
      '',
      'Subject: Inner',
      '',
      'Inner text',
    ],
    '--b--',
  ];
  const path = join(folder, 'mail.eml');
  await writeFile(path, lines.join('\r\n'));
  return path;
}

async function textOf(path: string): Promise<string> {
  return (await run('pdftotext', ['-layout', path, '-'])).stdout;
}

async function print(path: string, form: Record<string, string> = {}): Promise<string> {
  await using result = await runTool(emailToPdf, [path], form);
  expect(result.outputs[0]!.type).toBe('pdf');
  return await textOf(result.outputs[0]!.path);
}

describe.skipIf(version === undefined)('email-to-pdf-converter', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-mail-'));
  });
  afterAll(async () => {
    await stopChromium();
    await rm(folder, { recursive: true, force: true });
  });

  test.each([
    ['text/plain; charset=windows-1251', 'Летний отпуск', 'cbe5f2ede8e920eef2eff3f1ea'],
    ['multipart/mixed; boundary=b', 'Verão', '566572e36f'],
  ])('reads a head that is written in bytes of %s', async (type, subject, hex) => {
    const head = `From: a@example.org\r\nContent-Type: ${type.replace(' ', '\r\n ')}\r\nSubject: `;
    const path = join(folder, 'bytes.eml');
    const body = type.startsWith('text') ? 'Text' : '--b\r\n\r\nText\r\n--b--\r\n';
    await writeFile(path, Buffer.concat([Buffer.from(head), Buffer.from(hex, 'hex'), Buffer.from(`\r\n\r\n${body}`)]));
    expect(await print(path)).toContain(subject);
  });

  test('prints a mail with its headers and pictures, and returns its attachments beside it', async () => {
    const path = await writeMail('<p>Hello <b>bold</b></p><img src="cid:pic1">');
    await using result = await runTool(emailToPdf, [path]);
    expect(result.outputs.map(({ filename }) => filename)).toEqual(['mail.pdf', 'data.csv', 'message.eml']);
    const text = await textOf(result.outputs[0]!.path);
    for (const shown of ['Änne <a@example.org>', '"Doe, Jane"', 'Привет', '10:20:30 +0200', 'Hello bold', 'data.csv']) {
      expect(text).toContain(shown);
    }
    expect((await run('pdfimages', ['-list', result.outputs[0]!.path])).stdout).toMatch(/\b21 +21\b/);
    expect(await readFile(result.outputs[1]!.path, 'utf8')).toContain('1,2');
  });

  test('embeds attachments, or leaves them and the headers out', async () => {
    const path = await writeMail('<p>Hello</p>');
    await using embedded = await runTool(emailToPdf, [path], { attachments: 'embed' });
    expect(embedded.outputs).toHaveLength(1);
    const { stdout } = await run('pdfdetach', ['-list', embedded.outputs[0]!.path]);
    for (const name of ['data.csv', 'message.eml', 'pic.png']) expect(stdout).toContain(name);
    await using bare = await runTool(emailToPdf, [path], { attachments: 'skip', headers: 'false' });
    expect(bare.outputs).toHaveLength(1);
    expect((await textOf(bare.outputs[0]!.path)).trim()).toBe('Hello');
  });

  test('reads mails of Outlook', async () => {
    const text = await print(sample('msg.msg'));
    expect(text).toContain('Anna Miller <anna@example.org>');
    expect(text).toContain('Größe: 12 m²');
  });

  test.each([
    ['iso-8859-1', Buffer.from('Größe', 'latin1'), 'Größe'],
    ['koi8-r', Buffer.from('f0d2c9d7c5d4', 'hex'), 'Привет'],
    ['windows-1252', Buffer.from('80939a', 'hex'), '€“š'],
  ])('reads text in %s', async (charset, bytes, expected) => {
    const head = `From: a@example.org\r\nContent-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`;
    await writeFile(join(folder, 'text.eml'), Buffer.concat([Buffer.from(head), bytes]));
    expect(await print(join(folder, 'text.eml'))).toContain(expected);
  });

  test('runs nothing in a mail and fetches nothing for it', async () => {
    await using canary = await serveWeb((_request, response) => response.end('secret'));
    const address = `http://127.0.0.1:${canary.port}`;
    const path = await writeMail(`<p>Text</p><script>document.body.append('ran')</script>
      <img src="${address}/i" alt="a picture" onerror="document.body.append('ran')"><iframe src="file:///etc/passwd"></iframe>
      <style>@import url(${address}/css); p { background: url(${address}/bg) }</style><link rel="stylesheet" href="${address}/l">
      <meta http-equiv="refresh" content="0;url=${address}/r"><object data="${address}/o"></object>`);
    const text = await print(path);
    expect(text).toContain('a picture');
    expect(text).not.toMatch(/ran\b|root:|secret/);
    expect(canary.asked).toEqual([]);
  });

  test.each([
    ['text', 'no header here\n'],
    ['an empty mail without headers shown', 'From: a@example.org\r\n\r\n'],
  ])('refuses %s', async (_name, content) => {
    await writeFile(join(folder, 'bad.eml'), content);
    await expect(print(join(folder, 'bad.eml'), { headers: 'false' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('refuses a damaged mail of Outlook', async () => {
    await writeFile(join(folder, 'bad.msg'), (await readFile(sample('msg.msg'))).subarray(0, 3000));
    const damaged = { path: join(folder, 'bad.msg'), filename: 'bad.msg' };
    await expect(runTool(emailToPdf, [damaged])).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
