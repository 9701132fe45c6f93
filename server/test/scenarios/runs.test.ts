import { beforeAll, describe, expect, test } from 'vitest';
import type { Run, RunPage } from '@millrun/sdk';
import { createClient, type Client } from '../client.ts';
import { multipart, multipartType, openRaw, requestHead } from '../raw-http.ts';
import {
  cancel,
  errorOf,
  eventually,
  getRun,
  makeToken,
  quick,
  startSlow,
  storedFiles,
  submitQuick,
  submitSlow,
  useServer,
} from '../scenario.ts';

// One run at a time: what stands behind a slow one stays queued.
const scenario = useServer({ env: { MILLRUN_SLOTS: '1' } });

async function page(client: Client, query: Record<string, string> = {}): Promise<RunPage> {
  const response = await client.request(`/runs?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  return (await response.json()) as RunPage;
}

const ids = (runs: readonly Run[]) => runs.map(({ id }) => id);

describe('one run', () => {
  let client: Client;
  beforeAll(async () => (client = await scenario.client()));

  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const always = (id: string) => ({
    id,
    tool: 'qr-code-generator',
    status_url: `${scenario.server.base}/runs/${id}`,
    stream_url: `${scenario.server.base}/runs/${id}/stream`,
    settings: expect.objectContaining({ ecc: 'M' }),
    created_at: time,
    expires_at: time,
  });

  test('is the same object in every state, with what belongs to the state alone', async () => {
    const slow = await startSlow(client);
    const waiting = await submitQuick(client);
    expect(await getRun(client, slow)).toEqual({
      ...always(slow),
      status: 'processing',
      progress: expect.any(Number),
      actions: { cancel: true, delete: false },
      inputs: [{ filename: 'list.txt', size_bytes: expect.any(Number) }],
      started_at: time,
      finished_at: null,
    });
    expect(await getRun(client, waiting)).toEqual({
      ...always(waiting),
      status: 'queued',
      queue_position: 1,
      actions: { cancel: true, delete: false },
      inputs: [],
      started_at: null,
      finished_at: null,
    });
    await cancel(client, slow);
    expect(await client.finished(waiting)).toEqual({
      ...always(waiting),
      status: 'done',
      outputs: [expect.objectContaining({ filename: 'qr-code.png' })],
      archive_url: expect.stringContaining(`/runs/${waiting}/archive?expires=`),
      actions: { cancel: false, delete: true },
      inputs: [],
      started_at: time,
      finished_at: time,
    });
    expect(await getRun(client, slow)).toEqual({
      ...always(slow),
      status: 'failed',
      error: { code: 'cancelled', message: expect.any(String) },
      actions: { cancel: false, delete: false, delete_retry_after_s: expect.any(Number) },
      inputs: [{ filename: 'list.txt', size_bytes: expect.any(Number) }],
      started_at: time,
      finished_at: time,
    });
  });

  test('has times in the order of its life, and its files for a day', async () => {
    const run = await client.finished(await submitQuick(client));
    const [created, started, finished, expires] = [run.created_at, run.started_at, run.finished_at, run.expires_at].map(
      (text) => Date.parse(text ?? ''),
    ) as [number, number, number, number];
    expect(created).toBeLessThanOrEqual(started);
    expect(started).toBeLessThanOrEqual(finished);
    expect(expires - created).toBe(24 * 60 * 60 * 1000);
  });

  test('knows how many start before it', async () => {
    const slow = await startSlow(client);
    const queued = [await submitQuick(client), await submitQuick(client), await submitQuick(client)];
    const positions = await Promise.all(queued.map(async (id) => (await getRun(client, id)).queue_position));
    expect(positions).toEqual([1, 2, 3]);
    await cancel(client, queued[0] ?? '');
    expect((await getRun(client, queued[2] ?? '')).queue_position).toBe(2);
    await cancel(client, slow);
    await Promise.all(queued.map((id) => client.finished(id)));
  });

  test('asked with "wait", is answered as soon as it has ended', async () => {
    const slow = await startSlow(client);
    const answer = client.request(`/runs/${slow}?wait=60`);
    const early = await Promise.race([answer, getRun(client, slow)]);
    expect(early).toHaveProperty('status', 'processing'); // The waiting one has not been answered yet.
    const before = performance.now();
    await cancel(client, slow);
    expect(await (await answer).json()).toMatchObject({ id: slow, status: 'failed' });
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test('asked with "wait", is answered as it is when the time is over', async () => {
    const slow = await startSlow(client);
    const before = performance.now();
    const response = await client.request(`/runs/${slow}?wait=1`);
    expect(performance.now() - before).toBeGreaterThan(950);
    expect(await response.json()).toMatchObject({ id: slow, status: 'processing' });
    await cancel(client, slow);
  });

  test('is not waited for longer than a minute, nor for less than no time', async () => {
    const id = await submitQuick(client);
    for (const wait of ['61', '-1', 'long', '1.5', '']) {
      await errorOf(await client.request(`/runs/${id}?wait=${wait}`), 400);
    }
    expect((await client.request(`/runs/${id}?wait=0`)).status).toBe(200);
  });

  test('is 404 when there is none, whatever the id looks like', async () => {
    const known = await submitQuick(client);
    const strange = [
      'run_00000000000000000000000000',
      known.toUpperCase(),
      known.slice(0, -1),
      `${known}0`,
      known.replace('run_', 'wh_'),
      'run_',
      '0',
      '-1',
      '%00',
      "'%20or%201=1",
      '..%2f..%2fusage',
      'x'.repeat(60),
    ];
    for (const id of strange) {
      const error = await errorOf(await client.request(`/runs/${id}`), 404);
      expect(error.code, id).toBe('not_found');
    }
    expect((await client.request(`/runs/${known}`)).status).toBe(200);
  });

  test('is never kept by a cache', async () => {
    const response = await client.request(`/runs/${await submitQuick(client)}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

describe('the list of runs', () => {
  let client: Client;
  beforeAll(async () => (client = await scenario.client()));

  test('is empty at first', async () => {
    expect(await page(client)).toEqual({ data: [], next_cursor: null, has_more: false });
  });

  test('holds 20 a page unless told, newest first, each the object that GET gives', async () => {
    const submitted: string[] = [];
    for (let count = 0; count < 21; count++) submitted.unshift(await submitQuick(client));
    await Promise.all(submitted.map((id) => client.finished(id)));

    const first = await page(client);
    expect(ids(first.data)).toEqual(submitted.slice(0, 20));
    expect(first.has_more).toBe(true);
    expect(first.data[3]).toMatchObject({ actions: { cancel: false, delete: true } });
    // The addresses of outputs and archive are signed anew each time.
    const { outputs, archive_url, ...rest } = await getRun(client, submitted[3] ?? '');
    expect(first.data[3]).toMatchObject(rest);
    expect(first.data[3]?.archive_url?.split('?')[0]).toBe(archive_url?.split('?')[0]);
    expect(first.data[3]?.outputs).toHaveLength(outputs?.length ?? 0);

    const last = await page(client, { cursor: first.next_cursor ?? '' });
    expect(ids(last.data)).toEqual(submitted.slice(20));
    expect(last).toMatchObject({ next_cursor: null, has_more: false });
  });

  test('takes a limit from 1 to 100', async () => {
    expect((await page(client, { limit: '1' })).data).toHaveLength(1);
    expect((await page(client, { limit: '100' })).data).toHaveLength(21);
    const exact = await page(client, { limit: '21' });
    expect(exact.data).toHaveLength(21);
    expect(exact).toMatchObject({ next_cursor: null, has_more: false });
    for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '99999999999999999999']) {
      const error = await errorOf(await client.request(`/runs?limit=${limit}`), 400);
      expect(error.message, limit).toContain('limit');
    }
    await errorOf(await client.request('/runs?limit=5&limit=6'), 400);
  });

  test('refuses a cursor it has not given', async () => {
    const { next_cursor } = await page(client, { limit: '1' });
    const cursor = next_cursor ?? '';
    for (const wrong of ['x', `${cursor}A`, cursor.slice(1), cursor.toLowerCase(), '%00', 'x'.repeat(300), '']) {
      await errorOf(await client.request(`/runs?cursor=${wrong}`), 400);
    }
  });

  test('is in the order of acceptance, however long an upload has taken', async () => {
    const token = await makeToken(scenario.server);
    const own = createClient(scenario.server.base, token);
    const body = multipart([{ disposition: 'name="files[]"; filename="list.txt"', content: 'one\ntwo' }]);
    const head = requestHead('POST /api/v2/tools/qr-code-generator', {
      Authorization: `Bearer ${token}`,
      'Content-Type': multipartType,
      'Content-Length': String(body.length),
      Connection: 'close',
    });
    const before = await storedFiles(scenario.server);
    const { socket, ended, received } = await openRaw(
      scenario.server.origin,
      Buffer.concat([Buffer.from(head), body.subarray(0, -20)]),
    );
    await eventually('the upload has begun', async () => (await storedFiles(scenario.server)).length > before.length);
    const between = [await submitQuick(own), await submitQuick(own)];
    const newest = await page(own, { limit: '1' });
    expect(ids(newest.data)).toEqual(between.slice(1));

    socket.write(body.subarray(-20));
    await ended;
    const [, last = ''] = /"id":"(run_\w+)"/.exec(received()) ?? [];
    const { data } = await page(own);
    expect(ids(data)).toEqual([last, ...between.toReversed()]);
    const times = data.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    // Whoever was on the way down meets no newcomer there.
    const rest = await page(own, { cursor: newest.next_cursor ?? '' });
    expect(ids(rest.data)).toEqual(between.slice(0, 1));
  });

  test('can be narrowed to a state and to a tool', async () => {
    const list = { filename: 'list.txt', content: 'one\ntwo' };
    const failing = await client.accepted('image-compressor', [{ filename: 'a.png', content: pngHeader }]);
    expect((await client.finished(failing.id)).status).toBe('failed');
    const slow = await startSlow(client);
    const queued = (await client.accepted('qr-code-generator', [list])).id;

    expect(ids((await page(client, { status: 'processing' })).data)).toEqual([slow]);
    expect(ids((await page(client, { status: 'queued' })).data)).toEqual([queued]);
    expect(ids((await page(client, { status: 'failed' })).data)).toEqual([failing.id]);
    expect((await page(client, { status: 'done', limit: '100' })).data).toHaveLength(21);
    expect(ids((await page(client, { tool: 'image-compressor' })).data)).toEqual([failing.id]);
    expect((await page(client, { tool: 'image-compressor', status: 'done' })).data).toEqual([]);
    expect((await page(client, { tool: 'no-such-tool' })).data).toEqual([]);

    const first = await page(client, { status: 'done', limit: '15' });
    const second = await page(client, { status: 'done', limit: '15', cursor: first.next_cursor ?? '' });
    expect(new Set(ids([...first.data, ...second.data])).size).toBe(21);
    await errorOf(await client.request('/runs?status=cancelled'), 400);
    await errorOf(await client.request('/runs?status='), 400);
    await cancel(client, slow);
    await client.finished(queued);
  });

  test('is of one account alone', async () => {
    const stranger = await scenario.client();
    expect((await page(stranger)).data).toEqual([]);
    const own = await submitQuick(stranger);
    expect(ids((await page(stranger)).data)).toEqual([own]);
    expect(ids((await page(client, { limit: '100' })).data)).not.toContain(own);
  });
});

/** Enough of a PNG to be taken for one. */
const pngHeader = Buffer.from('89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61', 'hex');

describe('paging through more than three hundred runs', () => {
  test('neither skips nor repeats one while new ones arrive and others are deleted', async () => {
    const client = await scenario.client();
    const slow = await startSlow(client); // The others stay queued, so that each of them can be deleted at once.
    const early: string[] = [slow];
    for (let batch = 0; batch < 31; batch++) {
      early.push(...(await Promise.all(Array.from({ length: 10 }, () => submitQuick(client)))));
    }
    const all = await Promise.all(early.map((id) => getRun(client, id)));
    const place = ({ created_at, id }: Run) => `${created_at} ${id}`;
    early.splice(0, early.length, ...ids(all.toSorted((a, b) => (place(a) < place(b) ? 1 : -1))));
    const doomed = early.filter((_, index) => index % 60 === 59);

    const seen: string[] = [];
    const arrivals: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const { data, next_cursor, has_more } = await page(client, { limit: '9', ...(cursor === '' ? {} : { cursor }) });
      seen.push(...ids(data));
      expect(has_more).toBe(next_cursor !== null);
      cursor = next_cursor;
      arrivals.push(await submitQuick(client));
      const gone = doomed[pages];
      // Deleted just when it was the last of a page, or long before: the position must not depend on the run.
      if (gone !== undefined) {
        await cancel(client, gone);
        expect((await client.request(`/runs/${gone}`, { method: 'DELETE' })).status).toBe(204);
      }
    }
    expect(early).toHaveLength(311);
    const deletedUnseen = new Set(doomed.filter((id) => !seen.includes(id)));
    expect(seen).toEqual(early.filter((id) => !deletedUnseen.has(id)));
    expect(deletedUnseen.size).toBeGreaterThan(0);
    expect(arrivals.length).toBe(pages);
    const newest = await page(client, { limit: '100' });
    expect(ids(newest.data).slice(0, arrivals.length)).toEqual(arrivals.toReversed());

    const [last] = (await page(client, { limit: '1' })).data;
    const { next_cursor: afterLast } = await page(client, { limit: '1' });
    await cancel(client, last?.id ?? '');
    await client.request(`/runs/${last?.id}`, { method: 'DELETE' });
    const rest = await page(client, { limit: '1', cursor: afterLast ?? '' });
    expect(ids(rest.data)).toEqual(arrivals.slice(-2, -1));
    await cancel(client, slow);
  });
});

test('runs of different accounts take turns: one that submits many does not hold up the next', async () => {
  const [busy, other] = [await scenario.client(), await scenario.client()];
  const slow = await startSlow(busy);
  const many = await Promise.all(Array.from({ length: 20 }, () => submitSlow(busy)));
  const { id } = await other.accepted(quick.tool, quick.files, quick.settings);
  await cancel(busy, slow);
  // Behind at most one of the other's: that one is slow, so it is cancelled as soon as it runs.
  const end = other.finished(id);
  let over = false;
  void end.finally(() => (over = true)).catch(() => undefined);
  let started = 0;
  while (!over) {
    const { data } = await page(busy, { status: 'processing' });
    for (const run of data) {
      started += 1;
      await busy.request(`/runs/${run.id}/cancel`, { method: 'POST' });
    }
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  expect((await end).status).toBe('done');
  expect(started).toBeLessThanOrEqual(2);
  await Promise.all(many.map((run) => busy.request(`/runs/${run}/cancel`, { method: 'POST' })));
});
