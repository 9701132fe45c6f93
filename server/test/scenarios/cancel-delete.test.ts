import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CancelReply, Submission, Usage } from '@millrun/sdk';
import type { Client } from '../client.ts';
import { createClient } from '../client.ts';
import {
  avoidMidnight,
  cancel,
  errorOf,
  eventually,
  getRun,
  makeToken,
  startSlow,
  storedFiles,
  submitQuick,
  submitSlow,
  useServer,
} from '../scenario.ts';
import { startServer } from '../server.ts';

/** Long enough to look at everything inside it, short enough to wait for its end. */
const windowSeconds = 5;
const scenario = useServer({ env: { MILLRUN_SLOTS: '1', MILLRUN_CANCEL_WINDOW_S: String(windowSeconds) } });
avoidMidnight();
let client: Client;
beforeAll(async () => (client = await scenario.client()));

const post = (id: string, verb: 'cancel' | 'retry') => client.request(`/runs/${id}/${verb}`, { method: 'POST' });
const remove = (id: string) => client.request(`/runs/${id}`, { method: 'DELETE' });

/** The specification's 409: exactly these keys, and a `Retry-After` when waiting helps. */
async function conflictOf(response: Response, action: string, status: string): Promise<number> {
  const retryAfter = response.headers.get('retry-after');
  const error = await errorOf(response, 409);
  expect(error).toEqual({
    code: 'run_lifecycle_conflict',
    action,
    status,
    retry_after_s: expect.any(Number),
    message: expect.any(String),
    request_id: expect.any(String),
  });
  const seconds = error.retry_after_s ?? -1;
  expect(Number.isInteger(seconds)).toBe(true);
  expect(retryAfter).toBe(seconds > 0 ? String(seconds) : null);
  return seconds;
}

/** Nothing is left of a run: no record, no stream, no file. */
async function expectGone(id: string): Promise<void> {
  for (const path of [`/runs/${id}`, `/runs/${id}/stream`, `/runs/${id}/archive`, `/runs/${id}/outputs/0`]) {
    await errorOf(await client.request(path), 404);
  }
  await errorOf(await remove(id), 404);
  await errorOf(await post(id, 'cancel'), 404);
  await errorOf(await post(id, 'retry'), 404);
}

describe('a processing run that is cancelled', () => {
  let id: string;
  let reply: Response;
  let cancelledAt: number;
  let deletedWhenTold: Promise<Response>;
  beforeAll(async () => {
    const other = await startSlow(client);
    await cancel(client, other);
    deletedWhenTold = deleteWhenTold(other);
    id = await startSlow(client);
    cancelledAt = performance.now();
    reply = await post(id, 'cancel');
  });
  const deleteWhenTold = async (cancelled: string) => {
    const seconds = await conflictOf(await remove(cancelled), 'delete', 'failed');
    expect(seconds).toBeGreaterThanOrEqual(1);
    await sleep(seconds * 1000);
    return remove(cancelled);
  };
  const secondsSince = () => (performance.now() - cancelledAt) / 1000;

  test('is failed at once; the answer says when it can be deleted', async () => {
    expect(reply.status).toBe(202);
    const body = (await reply.json()) as CancelReply;
    expect(body).toEqual({
      message: expect.stringMatching(/\S/),
      data: { status: 'failed', actions: { cancel: false, delete: false, delete_retry_after_s: windowSeconds } },
    });
  });

  test('can be neither deleted, retried nor cancelled again inside the safety window', async () => {
    for (const [action, response] of [
      ['delete', await remove(id)],
      ['retry', await post(id, 'retry')],
    ] as const) {
      const seconds = await conflictOf(response, action, 'failed');
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(windowSeconds);
    }
    // A run that has ended stays ended: waiting does not help.
    expect(await conflictOf(await post(id, 'cancel'), 'cancel', 'failed')).toBe(0);
    expect(secondsSince()).toBeLessThan(windowSeconds); // Else this has looked outside the window.
  });

  test('shows in every reply that the window is running out', async () => {
    const run = await getRun(client, id);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    expect(run).not.toHaveProperty('outputs');
    const { data } = (await (await client.request('/runs?limit=1')).json()) as { data: unknown[] };
    expect(data[0]).toMatchObject({ id, actions: { cancel: false, delete: false } });

    const told: number[] = [];
    await eventually('the window is over', async () => {
      const { actions } = await getRun(client, id);
      expect(actions.delete).toBe(actions.delete_retry_after_s === undefined);
      if (actions.delete_retry_after_s !== undefined) told.push(actions.delete_retry_after_s);
      return actions.delete;
    });
    expect(told).toEqual(told.toSorted((a, b) => b - a));
    expect(new Set(told).size).toBeGreaterThan(1);
    expect(secondsSince()).toBeGreaterThanOrEqual(windowSeconds);
  });

  test('can be deleted by a client that waits as long as it is told', async () => {
    expect((await deletedWhenTold).status).toBe(204);
  });

  test('is still failed after the window, and can be deleted then', async () => {
    expect(await getRun(client, id)).toMatchObject({
      status: 'failed',
      actions: { cancel: false, delete: true },
      error: { code: 'cancelled' },
    });
    expect((await storedFiles(scenario.server)).length).toBeGreaterThan(0);
    const response = await remove(id);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    expect(await storedFiles(scenario.server)).toEqual([]);
    await expectGone(id);
  });
});

test('a cancelled run makes way for the next one and leaves no work behind', async () => {
  const slow = await startSlow(client);
  const next = await submitQuick(client);
  await cancel(client, slow);
  expect((await client.finished(next)).status).toBe('done');
  expect(await getRun(client, slow)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
});

describe('a queued run', () => {
  let slow: string;
  beforeAll(async () => {
    slow = await startSlow(client);
    return () => cancel(client, slow);
  });

  test('can be cancelled and deleted at once, and gives its place in the day back', async () => {
    const runsToday = async () => ((await (await client.request('/usage')).json()) as Usage).runs_today;
    const before = await runsToday();
    const id = await submitSlow(client);
    expect(await runsToday()).toBe(before + 1);
    const response = await post(id, 'cancel');
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({
      message: expect.stringMatching(/\S/),
      data: { status: 'failed', actions: { cancel: false, delete: true } },
    });
    expect(await runsToday()).toBe(before);
    const run = await getRun(client, id);
    expect(run).toMatchObject({ status: 'failed', started_at: null, error: { code: 'cancelled' } });
    expect(run).not.toHaveProperty('queue_position');

    const files = await storedFiles(scenario.server);
    expect((await remove(id)).status).toBe(204);
    expect((await storedFiles(scenario.server)).length).toBe(files.length - 1);
    await expectGone(id);
    expect(await runsToday()).toBe(before); // Deleting gives nothing back.
  });

  test('cannot be deleted or retried while it waits, and nor can one that is processed', async () => {
    const queued = await submitQuick(client);
    for (const [id, status] of [
      [queued, 'queued'],
      [slow, 'processing'],
    ] as const) {
      expect(await conflictOf(await remove(id), 'delete', status)).toBe(0);
      expect(await conflictOf(await post(id, 'retry'), 'retry', status)).toBe(0);
      expect((await getRun(client, id)).status).toBe(status);
    }
    await cancel(client, queued);
  });

  test('is cancelled once, however many ask at the same time', async () => {
    const id = await submitQuick(client);
    const replies = await Promise.all(Array.from({ length: 8 }, () => post(id, 'cancel')));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([202, ...Array.from({ length: 7 }, () => 409)]);
  });

  test('is never processed once it was cancelled', async () => {
    const id = await submitQuick(client);
    await cancel(client, id);
    const later = await submitQuick(client);
    await cancel(client, slow);
    await client.finished(later); // The worker has been past the cancelled one.
    expect(await getRun(client, id)).toMatchObject({ status: 'failed', started_at: null });
    slow = await startSlow(client);
  });
});

describe('a run that is done', () => {
  test('cannot be cancelled', async () => {
    const id = await submitQuick(client);
    await client.finished(id);
    expect(await conflictOf(await post(id, 'cancel'), 'cancel', 'done')).toBe(0);
    expect((await getRun(client, id)).status).toBe('done');
  });

  test('is deleted with its files before the answer comes', async () => {
    const id = await submitQuick(client);
    const run = await client.finished(id);
    const url = run.outputs?.[0]?.url ?? '';
    expect((await fetch(url)).status).toBe(200);
    const before = await storedFiles(scenario.server);
    expect((await remove(id)).status).toBe(204);
    expect((await storedFiles(scenario.server)).length).toBe(before.length - 1);
    await errorOf(await fetch(url), 404);
    await expectGone(id);
  });

  test('is deleted once, however many ask at the same time', async () => {
    const id = await submitQuick(client);
    await client.finished(id);
    const replies = await Promise.all(Array.from({ length: 8 }, () => remove(id)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([204, ...Array.from({ length: 7 }, () => 404)]);
  });

  test('can be retried: a fresh run of the same files and settings', async () => {
    const list = { filename: 'words.txt', content: 'one\ntwo' };
    const { id } = await client.accepted('qr-code-generator', [list], { size: '100', format: 'svg' });
    const run = await client.finished(id);
    const response = await post(id, 'retry');
    expect(response.status).toBe(202);
    const again = (await response.json()) as Submission;
    expect(again).toMatchObject({ status: 'queued', tool: 'qr-code-generator' });
    expect(again.id).not.toBe(id);
    expect(response.headers.get('location')).toBe(again.status_url);

    // The copy stands on its own feet.
    expect((await remove(id)).status).toBe(204);
    const copy = await client.finished(again.id);
    expect(copy).toMatchObject({ status: 'done', settings: run.settings, inputs: run.inputs });
    expect(copy.outputs?.map(({ sha256 }) => sha256)).toEqual(run.outputs?.map(({ sha256 }) => sha256));
  });
});

test('a retried run counts as a run of the day', async () => {
  const runsToday = async () => ((await (await client.request('/usage')).json()) as Usage).runs_today;
  const id = await submitQuick(client);
  await client.finished(id);
  const before = await runsToday();
  expect((await post(id, 'retry')).status).toBe(202);
  expect(await runsToday()).toBe(before + 1);
});

test('a cancelled run can be retried after its window, and is done then', async () => {
  const list = { filename: 'list.txt', content: Array.from({ length: 60 }, (_, line) => `line ${line}`).join('\n') };
  const slow = await startSlow(client);
  const { id } = await client.accepted('qr-code-generator', [list], { size: '64' });
  await cancel(client, id); // Queued: no window.
  const response = await post(id, 'retry');
  expect(response.status).toBe(202);
  await cancel(client, slow);
  const copy = await client.finished(((await response.json()) as Submission).id);
  expect(copy.status).toBe('done');
  expect(copy.outputs).toHaveLength(60);
});

test('the lifecycle takes a request without a body, whatever Content-Type it announces', async () => {
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
    const id = await submitQuick(client);
    await client.finished(id);
    const headers = { 'Content-Type': type };
    expect((await client.request(`/runs/${id}/retry`, { method: 'POST', headers })).status, type).toBe(202);
    expect(
      await conflictOf(await client.request(`/runs/${id}/cancel`, { method: 'POST', headers }), 'cancel', 'done'),
    ).toBe(0);
    expect((await client.request(`/runs/${id}`, { method: 'DELETE', headers })).status, type).toBe(204);
  }
});

test('a run that ends while it is being cancelled has one end', async () => {
  for (let round = 0; round < 10; round++) {
    const id = await submitQuick(client);
    const followed = client.messages(id);
    if (round % 2 === 0) {
      await eventually('the run has left the queue', async () => (await getRun(client, id)).status !== 'queued');
    }
    const response = await post(id, 'cancel');
    const { status, error } = await client.finished(id);
    if (response.status === 202) expect(error?.code).toBe('cancelled');
    else await conflictOf(response, 'cancel', 'done');
    const last = (await followed).at(-1);
    expect(last?.status).toBe(status);
  }
});

describe('the safety window', () => {
  test('is 30 seconds unless the operator says otherwise', async () => {
    await using server = await startServer({ env: { MILLRUN_DRAIN_S: '0' } });
    const other = createClient(server.base, await makeToken(server));
    const id = await startSlow(other);
    const reply = await other.request(`/runs/${id}/cancel`, { method: 'POST' });
    expect(((await reply.json()) as CancelReply).data.actions.delete_retry_after_s).toBe(30);
  });

  test('cannot be made shorter than it takes to stop a lost worker', async () => {
    const starts = ['2', '601'].map((seconds) =>
      expect(startServer({ env: { MILLRUN_CANCEL_WINDOW_S: seconds } })).rejects.toThrow(
        /MILLRUN_CANCEL_WINDOW_S must be/,
      ),
    );
    await Promise.all(starts);
  });
});
