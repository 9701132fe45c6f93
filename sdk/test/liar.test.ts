import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../server/test/temporary.ts';
import { createClient, type Output } from '../src/index.ts';
import { sendJson, startLiar, type Liar } from './liar.ts';
import { thrownBy } from './thrown.ts';

const clientOf = ({ origin }: Liar) => createClient({ baseUrl: origin, token: 'mr_test', maxRetries: 2 });
const refusal = { code: 'rate_limited', message: 'Too many requests.', request_id: 'r1' };
const usage = { plan: 'pro' };
const page = '<html>Welcome to the hotel</html>';

describe('Retry-After', () => {
  test.each([429, 503])('of a %i is honoured, and then it works', async (status) => {
    await using liar = await startLiar((_request, response, number) =>
      number === 1 ? sendJson(response, status, refusal, { 'Retry-After': '1' }) : sendJson(response, 200, usage),
    );
    const before = performance.now();
    expect(await clientOf(liar).usage()).toEqual(usage);
    expect(performance.now() - before).toBeGreaterThan(990);
    expect(liar.requests).toHaveLength(2);
  });

  test('of more than a minute is handed on at once', async () => {
    await using liar = await startLiar((_request, response) =>
      sendJson(response, 429, { ...refusal, code: 'daily_run_limit_reached' }, { 'Retry-After': '40000' }),
    );
    const error = await thrownBy(clientOf(liar).usage());
    expect(error).toMatchObject({ code: 'daily_run_limit_reached', retryAfterS: 40_000, requestId: 'r1' });
    expect(liar.requests).toHaveLength(1);
  });

  test('has its end: tries are counted', async () => {
    await using liar = await startLiar((_request, response) =>
      sendJson(response, 503, refusal, { 'Retry-After': '0' }),
    );
    expect(await thrownBy(clientOf(liar).usage())).toMatchObject({ status: 503 });
    expect(liar.requests).toHaveLength(3);
  });

  test('a 503 of what would be made anew each time is not tried again; a 429 was not begun, and is', async () => {
    await using liar = await startLiar((_request, response, number) =>
      number === 1
        ? sendJson(response, 429, refusal, { 'Retry-After': '0' })
        : sendJson(response, 503, { ...refusal, code: 'database_unavailable' }, { 'Retry-After': '0' }),
    );
    const hook = { url: 'https://example.com', events: ['run.completed' as const] };
    expect(await thrownBy(clientOf(liar).webhooks.create(hook))).toMatchObject({ status: 503, replyLost: true });
    expect(liar.requests).toHaveLength(2);
  });
});

describe('what does not come from Millrun', () => {
  test('is said, whatever its status', async () => {
    for (const status of [200, 404, 500]) {
      await using liar = await startLiar((_request, response) =>
        response.writeHead(status, { 'Content-Type': 'text/html' }).end(page),
      );
      const error = await thrownBy(clientOf(liar).usage());
      expect(error).toMatchObject({ code: 'bad_reply', status });
      expect(error.message).toContain(liar.origin);
    }
  });

  test('a redirect is named and not followed: the token stays here', async () => {
    await using other = await startLiar((_request, response) => sendJson(response, 200, usage));
    await using liar = await startLiar((_request, response) =>
      response.writeHead(308, { Location: `${other.origin}/api/v2/usage` }).end(),
    );
    const error = await thrownBy(clientOf(liar).usage());
    expect(error.message).toContain(`redirects to ${other.origin}`);
    const upload = await thrownBy(clientOf(liar).submit('any', [{ filename: 'a', content: Buffer.from('secret') }]));
    expect(upload).toMatchObject({ code: 'bad_reply', message: expect.stringContaining('redirects elsewhere') });
    expect(liar.requests).toHaveLength(2);
    expect(other.requests).toHaveLength(0);
  });

  test('a stream of something else ends with an error', async () => {
    await using liar = await startLiar((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('data: {"hello":1}\n\n'),
    );
    expect(await thrownBy(Array.fromAsync(clientOf(liar).stream('run_1')))).toMatchObject({ code: 'bad_reply' });
  });
});

describe('a download', () => {
  const bytes = Buffer.from('what the tool made');

  function outputAt(liar: Liar, over: Partial<Output> = {}): Output {
    return {
      filename: 'made.txt',
      url: `${liar.origin}/files/made.txt`,
      size_bytes: bytes.length,
      media_type: 'text/plain',
      sha256: createHash('sha256').update(bytes).digest('hex'),
      ...over,
    };
  }

  test('is sent without the token', async () => {
    await withTemporaryDirectory(async (directory) => {
      await using liar = await startLiar((_request, response) => response.end(bytes));
      await clientOf(liar).download(outputAt(liar), join(directory, 'made.txt'));
      expect(liar.requests[0]?.headers.authorization).toBeUndefined();
    });
  });

  test.each([
    ['has another hash', Buffer.from('what the tool maed')],
    ['is too short', bytes.subarray(1)],
    ['is too long', Buffer.concat([bytes, Buffer.alloc(100_000)])],
  ])('that %s leaves what was there, and nothing else', async (_how, sent) => {
    await withTemporaryDirectory(async (directory) => {
      await writeFile(join(directory, 'made.txt'), 'precious');
      await using liar = await startLiar((_request, response) => response.end(sent));
      const error = await thrownBy(clientOf(liar).download(outputAt(liar), join(directory, 'made.txt')));
      expect(error).toMatchObject({ code: 'download_damaged', status: 0 });
      expect(error.message).toMatch(/^made\.txt was damaged on the way and not saved: /);
      expect(await readdir(directory)).toEqual(['made.txt']);
      expect(await readFile(join(directory, 'made.txt'), 'utf8')).toBe('precious');
    });
  });

  test('is replaced, put beside, or refused when there is a file of the name', async () => {
    await withTemporaryDirectory(async (directory) => {
      await using liar = await startLiar((_request, response) => response.end(bytes));
      const client = clientOf(liar);
      const path = join(directory, 'made.tar.gz');
      await writeFile(path, 'precious');
      const refused = await thrownBy(client.download(outputAt(liar), path, { onExists: 'fail' }));
      expect(refused).toMatchObject({ code: 'file_exists', message: `There is a file ${path} already.` });
      const beside = [
        await client.download(outputAt(liar), path, { onExists: 'rename' }),
        await client.download(outputAt(liar), path, { onExists: 'rename' }),
      ];
      expect(beside).toEqual([join(directory, 'made-1.tar.gz'), join(directory, 'made-2.tar.gz')]);
      expect(await readFile(path, 'utf8')).toBe('precious');
      expect(await client.download(outputAt(liar), path)).toBe(path);
      expect(await readFile(path, 'utf8')).toBe(bytes.toString());
      expect(await readdir(directory)).toHaveLength(3);
    });
  });

  test('that cannot be written says why', async () => {
    await withTemporaryDirectory(async (directory) => {
      await using liar = await startLiar((_request, response) => response.end(bytes));
      const client = clientOf(liar);
      await mkdir(join(directory, 'taken'));
      for (const [path, why] of [
        [join(directory, 'nowhere', 'made.txt'), 'its directory does not exist'],
        [join(directory, 'taken'), 'there is a directory of this name'],
      ] as const) {
        const error = await thrownBy(client.download(outputAt(liar), path));
        expect(error).toMatchObject({ code: 'file_unwritable', message: `${path} cannot be written: ${why}.` });
      }
      expect(await readdir(directory)).toEqual(['taken']);
    });
  });

  test('begins again when the server cannot go on with it', async () => {
    await withTemporaryDirectory(async (directory) => {
      await using liar = await startLiar((_request, response, number) => {
        if (number > 1) {
          response.end(bytes);
          return;
        }
        response.writeHead(200, { 'Content-Length': bytes.length }).write(bytes.subarray(0, 5));
        setTimeout(() => response.destroy(), 100);
      });
      const path = await clientOf(liar).download(outputAt(liar), join(directory, 'made.txt'));
      expect(await readFile(path)).toEqual(bytes);
      expect(liar.requests[1]?.headers.range).toBe('bytes=5-');
    });
  });

  test('of an output without an address of its own is refused: the token would go along', async () => {
    await withTemporaryDirectory(async (directory) => {
      await using liar = await startLiar((_request, response) => response.end(bytes));
      for (const url of ['/files/made.txt', 'file:///etc/passwd', '']) {
        const error = await thrownBy(clientOf(liar).download(outputAt(liar, { url }), join(directory, 'made.txt')));
        expect(error.code).toBe('bad_reply');
      }
      expect(liar.requests).toHaveLength(0);
    });
  });
});
