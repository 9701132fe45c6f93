import { beforeAll, describe, expect, test } from 'vitest';
import type { StreamMessage } from '@millrun/sdk';
import { createClient, type Client } from '../client.ts';
import {
  cancel,
  errorOf,
  eventually,
  getRun,
  makeToken,
  startSlow,
  steadyCodes,
  submitQuick,
  submitSteady,
  useServer,
} from '../scenario.ts';
import { startServer } from '../server.ts';

/** One run of an account at a time, so that the next one stays queued; the other slot is for the stream that is quiet. */
const plans = JSON.stringify({ solo: { concurrent_runs: 1 } });
const scenario = useServer({ env: { MILLRUN_SLOTS: '2', MILLRUN_PLANS: plans } });
let client: Client;
let quiet: { stream: Followed; since: number };
beforeAll(async () => {
  client = await scenario.client('solo');
  const patient = await scenario.client('solo');
  quiet = { stream: await follow(patient, await startSlow(patient)), since: performance.now() };
});

interface Followed {
  response: Response;
  /** Everything that has come until now. */
  text(): string;
  messages(): StreamMessage[];
  /** Resolves when the server closes the stream. */
  closed: Promise<void>;
  leave(): void;
}

/** Follows a run byte by byte, as it comes. */
async function follow(of: Client, id: string, headers: Record<string, string> = {}): Promise<Followed> {
  const abort = new AbortController();
  const response = await of.request(`/runs/${id}/stream`, {
    headers: { Accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  expect(response.status).toBe(200);
  let text = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  const closed = read();
  closed.catch(() => undefined); // A client that leaves.
  return {
    response,
    text: () => text,
    messages: () =>
      text
        .slice(0, text.lastIndexOf('\n\n') + 1) // Whole events.
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => JSON.parse(line.slice('data: '.length)) as StreamMessage),
    closed,
    leave: () => abort.abort(),
  };
}

test('a stream is made of unnamed data messages, each with an id', async () => {
  const id = await submitQuick(client);
  const stream = await follow(client, id);
  await stream.closed;
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(stream.response.headers.get('cache-control')).toContain('no-cache');
  expect(stream.response.headers.get('x-request-id')).toMatch(/\S/);
  const [first, ...events] = stream.text().trimEnd().split('\n\n');
  expect(first).toBe('retry: 3000');
  expect(events.length).toBeGreaterThan(0);
  for (const event of events) expect(event).toMatch(/^id: \S+\ndata: \{.*\}$/);
});

test('it says at once how things are, then every change, and ends with the outputs', async () => {
  const slow = await startSlow(client);
  const id = await submitSteady(client);
  const stream = await follow(client, id);
  await eventually('the first message', () => stream.messages().length > 0);
  expect(stream.messages()).toEqual([{ status: 'queued', queue_position: 1 }]);
  const before = performance.now();
  await cancel(client, slow);
  await stream.closed;
  const seconds = (performance.now() - before) / 1000;

  const messages = stream.messages();
  const states = messages.map(({ status }) => status).filter((status, index, all) => status !== all[index - 1]);
  expect(states).toEqual(['queued', 'processing', 'done']);

  const progress = messages.filter(({ status }) => status === 'processing').map((message) => message.progress ?? -1);
  expect(progress.length).toBeGreaterThan(2);
  expect(progress).toEqual([...new Set(progress)].toSorted((a, b) => a - b));
  for (const percent of progress) expect(Number.isInteger(percent) && percent >= 0 && percent < 100).toBe(true);
  expect(progress.length).toBeLessThanOrEqual(seconds / 0.2 + 2); // At most every 200 ms.

  const last = messages.at(-1);
  expect(last?.status).toBe('done');
  expect(last).not.toHaveProperty('progress');
  expect(last?.outputs).toHaveLength(steadyCodes);
  const { outputs } = await getRun(client, id);
  const facts = (of: typeof outputs) => of?.map(({ filename, size_bytes, sha256 }) => [filename, size_bytes, sha256]);
  expect(facts(last?.outputs)).toEqual(facts(outputs));
  expect((await fetch(last?.outputs?.[0]?.url ?? '')).status).toBe(200);
});

test('a cancelled run ends its streams with the reason', async () => {
  const slow = await startSlow(client);
  const streams = await Promise.all([follow(client, slow), follow(client, slow), follow(client, slow)]);
  await cancel(client, slow);
  for (const stream of streams) {
    await stream.closed;
    const messages = stream.messages();
    expect(messages[0]).toMatchObject({ status: 'processing' });
    expect(messages.at(-1)).toEqual({ status: 'failed', error: { code: 'cancelled', message: expect.any(String) } });
    expect(messages.filter(({ status }) => status === 'failed')).toHaveLength(1);
  }
});

test('the stream of a run that has ended is its one final message', async () => {
  const id = await submitQuick(client);
  await client.finished(id);
  const stream = await follow(client, id);
  await stream.closed;
  expect(stream.messages()).toEqual([
    {
      status: 'done',
      outputs: [expect.objectContaining({ filename: 'qr-code.png' })],
      archive_url: expect.stringContaining(`/runs/${id}/archive?`),
    },
  ]);
});

test('a run that ends at any moment ends the stream of whoever began to follow it', async () => {
  // The run takes some milliseconds: followers come before, in and after its every change.
  const id = await submitQuick(client);
  const streams: Promise<StreamMessage[]>[] = [];
  while ((await getRun(client, id)).status !== 'done') streams.push(client.messages(id));
  streams.push(client.messages(id));
  for (const messages of await Promise.all(streams)) expect(messages.at(-1)?.status).toBe('done');
});

test('a client that comes back with Last-Event-ID is told the state it missed', async () => {
  const slow = await startSlow(client);
  const first = await follow(client, slow);
  await eventually('a message', () => first.messages().length > 0);
  const [, lastId] = /^id: (.*)$/m.exec(first.text()) ?? [];
  first.leave();
  await cancel(client, slow);
  const second = await follow(client, slow, { 'Last-Event-ID': lastId ?? '' });
  await second.closed;
  expect(second.messages()).toEqual([{ status: 'failed', error: expect.objectContaining({ code: 'cancelled' }) }]);
});

test('there is no stream of a run that is not one’s own', async () => {
  const id = await submitQuick(client);
  const stranger = await scenario.client();
  await errorOf(await stranger.request(`/runs/${id}/stream`), 404);
  await errorOf(await client.request('/runs/run_00000000000000000000000000/stream'), 404);
});

test('clients that go away leave nothing that counts against the account', async () => {
  const slow = await startSlow(client);
  for (let batch = 0; batch < 5; batch++) {
    const streams = await Promise.all(Array.from({ length: 50 }, () => follow(client, slow)));
    for (const stream of streams) stream.leave();
    // Its 200 places are taken for as long as the server does not see that they have gone.
    await eventually('room for more streams', async () => {
      const response = await client.request(`/runs/${slow}/stream`);
      await response.body?.cancel();
      return response.status === 200;
    });
  }
  await cancel(client, slow);
});

test('a quiet stream is kept open by a comment every 15 seconds', async () => {
  const { stream, since } = quiet;
  await eventually('a comment', () => /^:/m.test(stream.text()));
  expect(performance.now() - since).toBeGreaterThan(13_000);
  // Comments are no messages: a reader that knows only data lines sees the state and its changes.
  expect(stream.messages().every(({ status }) => status === 'processing')).toBe(true);
  stream.leave();
});

describe('a run that executes in another process', () => {
  test('is followed as if it were here', async () => {
    await using api = await startServer({ role: 'api' });
    const worker = await startServer({ role: 'worker', dataDirectory: api.dataDirectory });
    try {
      const other = createClient(api.base, await makeToken(api));
      await eventually('the worker offers its tools', async () => {
        const response = await other.request('/tools/qr-code-generator');
        return ((await response.json()) as { available: boolean }).available;
      });
      const messages = await other.messages(await submitSteady(other));
      expect(messages.filter(({ status }) => status === 'processing').length).toBeGreaterThan(2);
      expect(messages.at(-1)).toMatchObject({ status: 'done' });

      const slow = await startSlow(other);
      const stream = await follow(other, slow);
      await cancel(other, slow);
      await stream.closed;
      expect(stream.messages().at(-1)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    } finally {
      await worker.stop();
    }
  });
});
