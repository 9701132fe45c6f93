import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually, makeToken, useServer } from '../../server/test/scenario.ts';
import { withTemporaryDirectory } from '../../server/test/temporary.ts';
import { createClient, type FileInput, type Millrun, type StreamMessage } from '../src/index.ts';
import { startProxy, type Proxy } from './proxy.ts';
import { thrownBy } from './thrown.ts';

const scenario = useServer();
let proxy: Proxy;
let token: string;
/** Over the bad line, and over a good one. */
let client: Millrun;
let direct: Millrun;
beforeAll(async () => {
  proxy = await startProxy(scenario.server.origin);
});
afterAll(async () => proxy[Symbol.asyncDispose]());
beforeEach(async () => {
  token = await makeToken(scenario.server);
  client = createClient({ baseUrl: proxy.origin, token });
  direct = createClient({ baseUrl: scenario.server.origin, token });
});

function listOf(codes: number): FileInput {
  const lines = Array.from({ length: codes }, (_, line) => `line ${line}`);
  return { filename: 'list.txt', content: Buffer.from(lines.join('\n')) };
}

const text = { text: 'https://example.com' };

describe('a stream whose connection is cut', () => {
  test('goes on where it was, repeats nothing, never falls, and ends with the run', async () => {
    const { id } = await direct.submit('qr-code-generator', [listOf(100)], { size: 1024 });
    const before = proxy.connections();
    const messages: StreamMessage[] = [];
    let cuts = 0;
    for await (const message of client.stream(id)) {
      messages.push(message);
      if (message.status === 'processing' && (message.progress ?? 0) > 0 && cuts < 1) {
        cuts += 1;
        proxy.cutAll();
      }
    }
    expect(cuts).toBe(1);
    expect(proxy.connections()).toBeGreaterThan(before + 1);
    expect(proxy.sent()).toMatch(/\r\nlast-event-id: processing-\d+\r\n/i);
    expect(messages.at(-1)).toMatchObject({ status: 'done' });
    const progress = messages.map((message) => message.progress).filter((percent) => percent !== undefined);
    expect(progress).toEqual([...new Set(progress)].toSorted((a, b) => a - b));
  });

  test('tells what happened while it was away', async () => {
    const { id } = await direct.submit('qr-code-generator', [listOf(1000)], { size: 4096 });
    const messages: StreamMessage[] = [];
    for await (const message of client.stream(id)) {
      messages.push(message);
      if (messages.length > 1) continue;
      proxy.cutAll();
      proxy.refuse(true);
      await direct.cancel(id);
      setTimeout(() => proxy.refuse(false), 1000);
    }
    expect(messages.at(-1)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  });

  test('ends with an error when the run is gone', async () => {
    const { id } = await direct.submit('qr-code-generator', [], text);
    await direct.wait(id);
    await direct.remove(id);
    expect(await thrownBy(Array.fromAsync(client.stream(id)))).toMatchObject({ status: 404 });
  });
});

describe('a wait whose connection is cut', () => {
  test('waits on', async () => {
    const { id } = await direct.submit('qr-code-generator', [listOf(1000)], { size: 4096 });
    const waiting = client.wait(id);
    await eventually('it waits', () => proxy.sent().includes(`${id}?wait=60`));
    proxy.cutAll();
    await direct.cancel(id);
    expect(await waiting).toMatchObject({ id, status: 'failed', error: { code: 'cancelled' } });
  });

  test('is over at its time, however the line is', async () => {
    const { id } = await direct.submit('qr-code-generator', [], text);
    proxy.refuse(true);
    proxy.cutAll();
    const before = performance.now();
    try {
      const error = await thrownBy(client.wait(id, { timeoutMs: 2000 }));
      expect(error).toMatchObject({ code: 'timed_out', status: 0 });
      expect(performance.now() - before).toBeLessThan(8000);
    } finally {
      proxy.refuse(false);
    }
  });
});

describe('a reply that is lost', () => {
  test('of a submission: it is sent again under its own key, and there is one run', async () => {
    proxy.cutNextReplyAfter(0);
    const { id } = await client.submit('qr-code-generator', [listOf(3)], { size: 512 });
    const runs = await Array.fromAsync(direct.list(), (run) => run.id);
    expect(runs).toEqual([id]);
  });

  test('of an upload that is cut in its middle: it is sent again, whole', async () => {
    let cuts = 0;
    const onUpload = ({ sentBytes }: { sentBytes: number }) => {
      if (sentBytes < 4_000_000 || cuts > 0) return;
      cuts += 1;
      proxy.cutAll();
    };
    const content = new Blob([Buffer.alloc(8_000_000, 'some text ')]);
    const { id } = await client.submit('archive-creator', [{ filename: 'a.txt', content }], {}, { onUpload });
    expect(cuts).toBe(1);
    expect((await direct.wait(id)).inputs).toEqual([{ filename: 'a.txt', size_bytes: 8_000_000 }]);
    expect(await Array.fromAsync(direct.list())).toHaveLength(1);
  });

  test('of a submission from a stream, which cannot be sent again: the caller is told that it may have worked', async () => {
    const content = new Blob(['line']).stream();
    proxy.cutNextReplyAfter(0);
    const error = await thrownBy(client.submit('qr-code-generator', [{ filename: 'a.txt', content }]));
    expect(error).toMatchObject({ code: 'connection_failed', status: 0, replyLost: true });
  });

  test('of a cancel: the run is cancelled, and that is the answer', async () => {
    const { id } = await direct.submit('qr-code-generator', [listOf(1000)], { size: 4096 });
    proxy.cutNextReplyAfter(0);
    expect(await client.cancel(id)).toMatchObject({ data: { status: 'failed' } });
    expect(await direct.get(id)).toMatchObject({ error: { code: 'cancelled' } });
  });

  test('of a deletion: the run is gone, and that is the answer', async () => {
    const { id } = await direct.submit('qr-code-generator', [], text);
    await direct.wait(id);
    proxy.cutNextReplyAfter(0);
    await client.remove(id);
    expect(await thrownBy(client.remove(id))).toMatchObject({ status: 404 });
  });

  test('of a retry, which has no key: it is not sent again, and the caller is told', async () => {
    const { id } = await direct.run('qr-code-generator', [], text);
    proxy.cutNextReplyAfter(0);
    expect(await thrownBy(client.retry(id))).toMatchObject({ code: 'connection_failed', replyLost: true });
    expect(await Array.fromAsync(direct.list())).toHaveLength(2);
  });

  test('in the middle of its JSON: it is asked for again', async () => {
    proxy.cutNextReplyAfter(700);
    expect((await client.tools()).length).toBeGreaterThan(10);
  });
});

describe('a download whose connection is cut', () => {
  test('is taken up where it broke, and is whole', async () => {
    const content = Buffer.from(Array.from({ length: 400_000 }, (_, line) => `${line} ${Math.random()}\n`).join(''));
    const run = await client.run('archive-creator', [{ filename: 'numbers.txt', content }], { format: 'zip' });
    const [output] = run.outputs ?? [];
    if (output === undefined) throw new Error('there is no output');
    expect(output.url).toContain(proxy.origin);
    await withTemporaryDirectory(async (directory) => {
      proxy.cutNextReplyAfter(Math.floor(output.size_bytes / 2));
      const path = await client.download(output, join(directory, 'numbers.zip'));
      expect((await readFile(path)).length).toBe(output.size_bytes);
      expect(proxy.sent()).toMatch(/\r\nrange: bytes=\d+-\r\n/i);
      expect(await readdir(directory)).toEqual(['numbers.zip']);

      proxy.cutNextReplyAfter(100_000);
      const archive = await client.archive(run.id, join(directory, 'all.zip'));
      const bytes = await readFile(archive);
      expect(bytes.includes(await readFile(path))).toBe(true);
      expect(bytes.subarray(-22, -18).toString('latin1')).toBe('PK\x05\x06'); // Its directory is at its end.
    });
  });
});

test('a server that is not there is said in one sentence, with its address', async () => {
  const gone = await startProxy(scenario.server.origin);
  await gone[Symbol.asyncDispose]();
  const lost = createClient({ baseUrl: gone.origin, token, maxRetries: 1 });
  const error = await thrownBy(lost.usage());
  expect(error).toMatchObject({ code: 'connection_failed', status: 0, replyLost: false });
  expect(error.message).toBe(`${gone.origin} cannot be reached: nothing listens there.`);
});
