import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveWeb } from '../../test/local-web.ts';
import type { FetchAnswer, FetchRequest } from './messages.ts';
import { createWebAccess, fetchLimits, type FetchLimits, type RunFetcher } from './web-fetch.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-fetch-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function fetcher(limits: Partial<FetchLimits> = {}, allow = ['127.0.0.0/8']): RunFetcher {
  return createWebAccess({ allow, limits: { ...fetchLimits, ...limits } }).forRun(
    directory,
    new AbortController().signal,
  );
}

const get = (url: string, headers: FetchRequest['headers'] = {}): FetchRequest => ({ url, method: 'GET', headers });

async function bodyOf(answer: FetchAnswer): Promise<string> {
  if ('error' in answer) throw new Error(answer.error);
  return readFile(join(directory, answer.file), 'utf8');
}

describe('what may be fetched', () => {
  test.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://0.0.0.0/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://224.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://user:secret@example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://8.8.8.8:22/',
  ])('not %s', async (url) => {
    expect(await fetcher({}, []).fetch(get(url))).toHaveProperty('error');
    expect(await readdir(directory)).toEqual([]);
  });

  test('not with every method', async () => {
    await using web = await serveWeb((_request, response) => response.end());
    const url = `http://127.0.0.1:${web.port}/`;
    expect(await fetcher().fetch({ url, method: 'DELETE', headers: {} })).toHaveProperty('error');
    expect(await fetcher().fetch({ url, method: 'GET', headers: { cookie: 'a\r\nb: c' } })).toHaveProperty('error');
    expect(web.asked).toEqual([]);
  });
});

describe('what comes back', () => {
  test('status, headers and body, with redirects not followed', async () => {
    await using web = await serveWeb((request, response) => {
      if (request.url === '/away') return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      const seen = JSON.stringify([request.headers.cookie, request.headers.authorization, request.headers['x-other']]);
      return void response
        .writeHead(
          201,
          [
            ['Set-Cookie', 'a=1'],
            ['Set-Cookie', 'b=2'],
          ].flat(),
        )
        .end(seen);
    });
    const run = fetcher();
    const headers = { Cookie: 'own=1', Authorization: 'Bearer x', 'X-Other': 'y' };
    const answer = await run.fetch(get(`http://127.0.0.1:${web.port}/`, headers));
    expect(await bodyOf(answer)).toBe('["own=1",null,null]');
    expect(answer).toMatchObject({ status: 201 });
    const cookies = 'headers' in answer ? answer.headers.filter(({ name }) => name === 'Set-Cookie') : [];
    expect(cookies).toHaveLength(2);
    expect(await run.fetch(get(`http://127.0.0.1:${web.port}/away`))).toMatchObject({ status: 302 });
    expect(web.asked).toEqual(['GET /', 'GET /away']);
    expect([...run.hosts]).toEqual([[`127.0.0.1:${web.port}`, 2]]);
  });

  test('decoded, and cut off where it grows too large', async () => {
    const packed = { gzip: gzipSync('x'.repeat(100_000)), br: brotliCompressSync('x'.repeat(100_000)) };
    await using web = await serveWeb((request, response) => {
      const coding = request.url === '/br' ? 'br' : 'gzip';
      response.writeHead(200, { 'content-encoding': coding }).end(packed[coding]);
    });
    const at = (path: string) => get(`http://127.0.0.1:${web.port}${path}`);
    const run = fetcher({ answerBytes: 100_000, totalBytes: 250_000 });
    for (const path of ['/br', '/gzip']) expect(await bodyOf(await run.fetch(at(path)))).toHaveLength(100_000);
    expect(await run.fetch(at('/gzip'))).toEqual({ error: 'The answer is larger than a web page may be.' });
  });

  test('nothing more when a run has had enough', async () => {
    await using web = await serveWeb((_request, response) => response.end('x'.repeat(1000)));
    const request = get(`http://127.0.0.1:${web.port}/`);
    const few = fetcher({ requests: 2 });
    const answers = [await few.fetch(request), await few.fetch(request), await few.fetch(request)];
    expect(answers.map((answer) => 'error' in answer)).toEqual([false, false, true]);
    expect(web.asked).toHaveLength(2);
  });

  test('an error when the server is too slow', async () => {
    await using web = await serveWeb(() => undefined);
    const answer = await fetcher({ timeoutMs: 200 }).fetch(get(`http://127.0.0.1:${web.port}/`));
    expect(answer).toEqual({ error: 'The server did not answer in time.' });
  });
});
