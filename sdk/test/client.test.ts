import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually, makeToken, useServer } from '../../server/test/scenario.ts';
import { withTemporaryDirectory } from '../../server/test/temporary.ts';
import { createClient, type FileInput, type Millrun, type StreamMessage } from '../src/index.ts';
import { thrownBy } from './thrown.ts';

const scenario = useServer({ env: { MILLRUN_CANCEL_WINDOW_S: '3' } });
let client: Millrun;
beforeAll(async () => (client = await newClient()));

async function newClient(): Promise<Millrun> {
  return createClient({ baseUrl: scenario.server.origin, token: await makeToken(scenario.server) });
}

const encoder = new TextEncoder();
const text = { text: 'https://example.com' };

/** A run that takes minutes: a list of a thousand large codes. */
const slowList: FileInput = {
  filename: 'list.txt',
  content: encoder.encode(Array.from({ length: 1000 }, (_, line) => `line ${line}`).join('\n')),
};
const slow = () => client.submit('qr-code-generator', [slowList], { size: 4096 });

function streamOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
}

describe('tools and usage', () => {
  test('tools are listed, found by words and category, and shown by slug', async () => {
    const all = await client.tools();
    expect(all.length).toBeGreaterThan(10);
    const found = await client.tools({ query: 'merge', category: 'pdf' });
    expect(found.map(({ slug }) => slug)).toEqual(['pdf-merger']);
    expect(await client.tool('pdf-merger')).toEqual(found[0]);
  });

  test('usage says what the plan allows and what was used', async () => {
    const own = await newClient();
    const { id } = await own.submit('qr-code-generator', [], text);
    await own.wait(id);
    expect(await own.usage()).toMatchObject({ plan: 'unlimited', runs_today: 1 });
    const { data } = await own.usageHistory({ days: 1 });
    expect(data).toEqual([expect.objectContaining({ tool: 'qr-code-generator', done: 1 })]);
  });

  test('an address with the path of the API, and with a slash at its end, is the same one', async () => {
    const token = await makeToken(scenario.server);
    for (const baseUrl of [`${scenario.server.origin}/`, scenario.server.base, `${scenario.server.base}/`]) {
      expect((await createClient({ baseUrl, token }).usage()).plan).toBe('unlimited');
    }
  });
});

describe('submitting', () => {
  test('several files of every kind arrive whole, in their order and under their names', async () => {
    await withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'on disk.txt');
      const large = Buffer.alloc(3_000_000, 'a line of some text\n');
      await writeFile(path, large);
      const files: FileInput[] = [
        path,
        { filename: 'a "blob" \r\n.txt', content: new Blob(['blob ', 'of two']) },
        { filename: 'Übersicht ☂.txt', content: encoder.encode('bytes') },
        { filename: 'stream.txt', content: streamOf('first ', 'second') },
      ];
      const run = await client.run('archive-creator', files, { format: 'zip', password: undefined });
      expect(run.inputs).toEqual([
        { filename: 'on disk.txt', size_bytes: large.length },
        { filename: expect.stringMatching(/^a .*blob.*\.txt$/), size_bytes: 11 },
        { filename: 'Übersicht ☂.txt', size_bytes: 5 },
        { filename: 'stream.txt', size_bytes: 12 },
      ]);
      expect(run.settings).toMatchObject({ format: 'zip' });
    });
  });

  test('the upload is counted as it goes, to its announced end', async () => {
    const seen: { sentBytes: number; totalBytes: number | undefined }[] = [];
    const content = Buffer.alloc(2_000_000, 'text, ');
    await client.submit(
      'archive-creator',
      [{ filename: 'a.txt', content }],
      {},
      { onUpload: (state) => seen.push(state) },
    );
    const sent = seen.map(({ sentBytes }) => sentBytes);
    expect(sent).toEqual(sent.toSorted((a, b) => a - b));
    expect(sent.at(-1)).toBe(seen.at(-1)?.totalBytes);
    expect(sent.at(-1)).toBeGreaterThan(content.length);
  });

  test('settings are numbers, switches and texts as their tool reads them; undefined ones are left out', async () => {
    const settings = { text: 'x', size: 300, ecc: 'H', margin: undefined, dark: null };
    const run = await client.run('qr-code-generator', [], settings);
    expect(run.settings).toMatchObject({ text: 'x', size: 300, ecc: 'H' });
  });

  test('the same key makes one run, however often it is sent', async () => {
    const options = { idempotencyKey: 'order-4711' };
    const first = await client.submit('qr-code-generator', [], text, options);
    const second = await client.submit('qr-code-generator', [], text, options);
    expect(second.id).toBe(first.id);
    const other = await thrownBy(client.submit('qr-code-generator', [], { text: 'another' }, options));
    expect(other).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });

  test('what breaks a rule is refused by field, with the request’s id', async () => {
    const file: FileInput = { filename: 'a.txt', content: encoder.encode('no image') };
    const error = await thrownBy(client.submit('image-compressor', [file], { qualty: 5 }));
    expect(error).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(error.requestId).toMatch(/\S/);
    expect(error.errors).toEqual({
      'files.0': [expect.stringContaining('is plain text')],
      qualty: [expect.stringContaining('quality')],
    });
  });

  test('a file that is not there, or is none, is named before anything is sent', async () => {
    for (const [path, why] of [
      ['/nowhere/photo.jpg', /^\/nowhere\/photo\.jpg does not exist\.$/],
      ['/', /is not a file\.$/],
    ] as const) {
      const error = await thrownBy(client.submit('image-compressor', [path]));
      expect(error).toMatchObject({ status: 0, code: 'file_unreadable' });
      expect(error.message).toMatch(why);
    }
  });

  test('a file that changes while it is sent is not sent as something it never was', async () => {
    await withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'growing.txt');
      await writeFile(path, Buffer.alloc(4_000_000, 'text '));
      let changing: Promise<void> | undefined;
      const shrink = () => {
        changing ??= writeFile(path, 'short');
      };
      const error = await thrownBy(client.submit('archive-creator', [path], {}, { onUpload: shrink }));
      await changing;
      expect(error).toMatchObject({ code: 'file_unreadable', message: `${path} changed while it was being sent.` });
    });
  });

  test('an aborted signal ends it with its reason', async () => {
    const reason = new Error('changed my mind');
    await expect(client.submit('qr-code-generator', [], text, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    const abort = new AbortController();
    const content = Buffer.alloc(8_000_000, 'text');
    const onUpload = () => abort.abort(reason);
    const sending = client.submit(
      'archive-creator',
      [{ filename: 'a.txt', content }],
      {},
      { onUpload, signal: abort.signal },
    );
    await expect(sending).rejects.toBe(reason);
  });
});

describe('a run', () => {
  test('is submitted, followed and returned with its outputs, which are saved and checked', async () => {
    const messages: StreamMessage[] = [];
    let submitted = '';
    const run = await client.run('qr-code-generator', [], text, {
      onSubmit: ({ id }) => (submitted = id),
      onProgress: (message) => messages.push(message),
    });
    expect(run).toMatchObject({ id: submitted, status: 'done' });
    expect(messages.at(-1)?.status).toBe('done');
    await withTemporaryDirectory(async (directory) => {
      const [output] = run.outputs ?? [];
      if (output === undefined) throw new Error('there is no output');
      const path = await client.download(output, join(directory, 'code.png'));
      const bytes = await readFile(path);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(output.sha256);
      const archive = await readFile(await client.archive(run.id, join(directory, 'all.zip')));
      expect(archive.subarray(0, 2).toString()).toBe('PK');
      expect(archive.includes(bytes)).toBe(true);
    });
  });

  test('that fails throws its own code and sentence, with the run', async () => {
    const broken: FileInput = {
      filename: 'broken.png',
      content: Buffer.from('89504e470d0a1a0a0000000d49484452000000', 'hex'),
    };
    const error = await thrownBy(client.run('image-compressor', [broken]));
    expect(error).toMatchObject({ status: 0, code: 'invalid_input', run: { status: 'failed' } });
    expect(error.message).toContain('broken.png');
    expect((await client.wait(error.run?.id ?? '')).status).toBe('failed');
  });

  test('that is cancelled ends its stream and its wait; once it has ended there is nothing to cancel', async () => {
    const { id } = await slow();
    const followed = Array.fromAsync(client.stream(id));
    const waited = client.wait(id);
    await eventually('it is processing', async () => (await client.get(id)).status === 'processing');
    expect(await client.cancel(id)).toMatchObject({ data: { status: 'failed' } });
    expect((await followed).at(-1)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    expect(await waited).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    expect(await thrownBy(client.cancel(id))).toMatchObject({ status: 409, code: 'run_lifecycle_conflict' });
    const early = await thrownBy(client.remove(id));
    expect(early).toMatchObject({ status: 409, code: 'run_lifecycle_conflict' });
    expect(early.retryAfterS).toBeGreaterThan(0);
    await eventually('the window is over', async () => (await client.get(id)).actions.delete);
    await client.remove(id);
    expect(await thrownBy(client.get(id))).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('is cancelled when the one who waits for it gives up', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    let id = '';
    const running = client.run(
      'qr-code-generator',
      [slowList],
      { size: 4096 },
      { signal: abort.signal, onSubmit: (submission) => (id = submission.id), onProgress: () => abort.abort(reason) },
    );
    await expect(running).rejects.toBe(reason);
    expect(await client.get(id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  });

  test('is cancelled even when the abort comes between the last byte and the reply', async () => {
    const own = await newClient();
    const abort = new AbortController();
    const reason = new Error('too late');
    const onUpload = ({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number | undefined }) => {
      if (sentBytes === totalBytes) abort.abort(reason);
    };
    await expect(
      own.run('qr-code-generator', [slowList], { size: 4096 }, { signal: abort.signal, onUpload }),
    ).rejects.toBe(reason);
    const runs = await Array.fromAsync(own.list());
    expect(runs.map(({ error }) => error?.code)).toEqual(['cancelled']);
  });

  test('that takes longer than one waits for is a timeout with the run as it is', async () => {
    const { id } = await slow();
    const before = performance.now();
    const error = await thrownBy(client.wait(id, { timeoutMs: 1500 }));
    expect(error).toMatchObject({ status: 0, code: 'timed_out', run: { id } });
    expect(performance.now() - before).toBeGreaterThan(1400);
    expect(performance.now() - before).toBeLessThan(5000);
    const abort = new AbortController();
    const waiting = client.wait(id, { signal: abort.signal });
    abort.abort(new Error('no more'));
    await expect(waiting).rejects.toThrow('no more');
    await client.cancel(id);
  });

  test('is run again by retry', async () => {
    const first = await client.run('qr-code-generator', [], text);
    const { id } = await client.retry(first.id);
    expect(id).not.toBe(first.id);
    expect(await client.wait(id)).toMatchObject({ status: 'done', settings: first.settings });
  });

  test('leaving its stream leaves nothing behind that keeps the program running', async () => {
    const { id } = await slow();
    for await (const message of client.stream(id)) {
      expect(['queued', 'processing']).toContain(message.status);
      break;
    }
    await client.cancel(id);
  });
});

describe('the list', () => {
  test('goes over all pages, newest first, and no further than it is read', async () => {
    const own = await newClient();
    const ids: string[] = [];
    for (let number = 0; number < 5; number++)
      ids.push((await own.submit('qr-code-generator', [], { text: `code ${number}` })).id);
    const listed = await Array.fromAsync(own.list({ pageSize: 2 }), ({ id }) => id);
    expect(listed).toEqual(ids.toReversed());
    await Promise.all(ids.map((id) => own.wait(id)));
    expect(await Array.fromAsync(own.list({ status: 'failed' }))).toEqual([]);
    expect(await Array.fromAsync(own.list({ status: 'done', tool: 'qr-code-generator' }))).toHaveLength(5);
    for await (const { id } of own.list({ pageSize: 1 })) {
      expect(id).toBe(ids.at(-1));
      break;
    }
  });
});

describe('mistakes', () => {
  test('a token that is refused, or plainly none, is said', async () => {
    const baseUrl = scenario.server.origin;
    const error = await thrownBy(createClient({ baseUrl, token: 'mr_wrong' }).usage());
    expect(error).toMatchObject({ status: 401, code: 'token_invalid' });
    for (const token of ['', 'two words', 'line\n', 'ümlaut'])
      expect(() => createClient({ baseUrl, token })).toThrow(TypeError);
    for (const wrong of ['', 'files.example.com', 'ftp://files.example.com', 'http://user@example.com'])
      expect(() => createClient({ baseUrl: wrong, token: 'mr_x' })).toThrow(TypeError);
  });

  test('an id that would change the path is refused before it is sent', async () => {
    for (const id of ['', '.', '..']) {
      await expect(client.get(id)).rejects.toBeInstanceOf(TypeError);
      await expect(client.remove(id)).rejects.toBeInstanceOf(TypeError);
    }
    expect(await thrownBy(client.get('../usage'))).toMatchObject({ status: 404 });
  });
});
