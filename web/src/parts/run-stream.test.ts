import type { StreamMessage } from '@millrun/sdk';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../api.ts';
import { followRun } from './run-stream.ts';

describe('following a run', () => {
  const fetched = vi.fn<typeof fetch>();

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', fetched);
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    fetched.mockReset();
  });

  function reply(text: string): Response {
    return new Response(text, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  function follow() {
    const stopping = new AbortController();
    const messages: StreamMessage[] = [];
    const connections: boolean[] = [];
    const ended = followRun('run_1', {
      signal: stopping.signal,
      onMessage: (message) => messages.push(message),
      onConnection: (connected) => connections.push(connected),
    });
    ended.catch(() => undefined);
    return { stopping, messages, connections, ended };
  }

  const processing = 'id: processing-5\ndata: {"status":"processing","progress":5}\n\n';
  const done = 'id: done\ndata: {"status":"done","outputs":[]}\n\n';

  test('gives every message and ends with the last', async () => {
    fetched.mockResolvedValueOnce(reply(`retry: 3000\n\n${processing}${done}`));
    const { ended, messages } = follow();
    await expect(ended).resolves.toEqual({ status: 'done', outputs: [] });
    expect(messages.map(({ status }) => status)).toEqual(['processing', 'done']);
    expect(fetched.mock.calls[0]?.[0]).toBe('/api/v2/runs/run_1/stream');
    expect(fetched.mock.calls[0]?.[1]?.headers).not.toHaveProperty('Last-Event-ID');
  });

  test('connects again where it was cut off, after the time the service asked for', async () => {
    fetched.mockResolvedValueOnce(reply(`retry: 3000\n\n${processing}`)).mockResolvedValueOnce(reply(done));
    const { ended, connections } = follow();
    await vi.advanceTimersByTimeAsync(2900);
    expect(fetched).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(200);
    await ended;
    expect(fetched.mock.calls[1]?.[1]?.headers).toMatchObject({
      'Last-Event-ID': 'processing-5',
      'X-Millrun-Page': '1',
    });
    expect(connections).toEqual([true, false, true]);
  });

  test('waits longer with every failure', async () => {
    fetched.mockRejectedValue(new TypeError('network'));
    const { stopping, ended } = follow();
    const counts = [];
    for (const ms of [0, 1000, 2000, 4000, 8000]) {
      await vi.advanceTimersByTimeAsync(ms);
      counts.push(fetched.mock.calls.length);
    }
    expect(counts).toEqual([1, 2, 3, 4, 5]);
    stopping.abort();
    await expect(ended).rejects.toThrow('abort');
  });

  test('waits as long as a busy service asks', async () => {
    fetched
      .mockResolvedValueOnce(new Response('{}', { status: 429, headers: { 'Retry-After': '20' } }))
      .mockResolvedValueOnce(reply(done));
    const { ended } = follow();
    await vi.advanceTimersByTimeAsync(19_000);
    expect(fetched).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1100);
    await ended;
  });

  test('takes a silent connection for dead', async () => {
    const silent = new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(processing)) }));
    fetched.mockResolvedValueOnce(silent).mockResolvedValueOnce(reply(done));
    const { ended } = follow();
    await vi.advanceTimersByTimeAsync(44_000);
    expect(fetched).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2500);
    await ended;
  });

  test('takes what it cannot read for a broken connection', async () => {
    fetched.mockResolvedValueOnce(reply('data: {"stat\n\n')).mockResolvedValueOnce(reply(done));
    const { ended, messages } = follow();
    await vi.advanceTimersByTimeAsync(1100);
    await ended;
    expect(messages).toHaveLength(1);
  });

  test('gives up when the run is gone', async () => {
    fetched.mockResolvedValueOnce(new Response('{"code":"not_found","message":"Gone."}', { status: 404 }));
    const { ended } = follow();
    await expect(ended).rejects.toThrow(ApiError);
    await expect(ended).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  test('ends at once when nobody wants it any more', async () => {
    fetched.mockImplementation(
      (_url, init) =>
        new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))),
    );
    const { stopping, ended } = follow();
    stopping.abort();
    await expect(ended).rejects.toThrow('abort');
    expect(fetched).toHaveBeenCalledTimes(1);
  });
});
