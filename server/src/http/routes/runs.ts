import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RunPage, RunStatus } from '@millrun/sdk';
import { AppError } from '../../lib/errors.ts';
import { parseId } from '../../lib/ids.ts';
import { isTerminal } from '../../runs/lifecycle.ts';
import type { RunRow } from '../../runs/run-row.ts';
import { viewMessage } from '../../runs/view.ts';
import type { Edge } from '../edge.ts';
import * as schemas from '../schemas.ts';
import { createSignal, streamRun } from '../sse.ts';

interface IdParams {
  id: string;
}
interface ListQuery {
  limit?: number;
  cursor?: string;
  status?: RunStatus;
  tool?: string;
}

/** Streams one account may have open: each costs memory for as long as its run lasts. */
const mostStreams = 200;

export function runRoutes(api: FastifyInstance, edge: Edge): void {
  const { runs } = edge;
  const streams = createStreamCount();
  const tags = ['Runs'];
  const schema = (summary: string, response: Record<string, unknown>, more: object = {}) => ({
    schema: { tags, summary, params: schemas.idParams, response, ...more },
  });

  api.get<{ Querystring: ListQuery }>(
    '/runs',
    {
      schema: {
        tags,
        summary: 'List runs, newest first',
        querystring: schemas.runsQuery,
        response: schemas.replies({ 200: schemas.runPage }, 400),
      },
    },
    async (request): Promise<RunPage> => {
      const { rows, nextCursor } = await runs.list(request.owner, { limit: 20, ...request.query });
      const links = edge.linksFor(request);
      return { data: rows.map((row) => runs.view(row, links)), next_cursor: nextCursor, has_more: nextCursor !== null };
    },
  );
  api.get<{ Params: IdParams; Querystring: { wait?: number } }>(
    '/runs/:id',
    schema('Get a run', schemas.replies({ 200: schemas.run }, 400, 404), { querystring: schemas.waitQuery }),
    async (request, reply) => {
      const row = await waitForEnd(edge, request, (request.query.wait ?? 0) * 1000);
      void reply.header('Cache-Control', 'no-store');
      return runs.view(row, edge.linksFor(request));
    },
  );
  api.post<{ Params: IdParams }>(
    '/runs/:id/cancel',
    schema('Cancel a queued or processing run', schemas.replies({ 202: schemas.cancelReply }, 404, 409)),
    async (request, reply) => reply.code(202).send(await runs.cancel(request.owner, request.params.id)),
  );
  api.post<{ Params: IdParams }>(
    '/runs/:id/retry',
    schema('Run the same files and settings again', schemas.replies({ 202: schemas.submission }, 404, 409, 410)),
    async (request, reply) => {
      const submission = await runs.retry(request.owner, request.params.id, edge.linksFor(request));
      return reply.code(202).header('Location', submission.status_url).send(submission);
    },
  );
  api.delete<{ Params: IdParams }>(
    '/runs/:id',
    schema('Delete a terminal run and its files', {
      204: { type: 'null', description: 'Gone.' },
      ...schemas.replies({}, 404, 409),
    }),
    async (request, reply) => {
      await runs.remove(request.owner, request.params.id);
      return reply.code(204).send();
    },
  );
  api.get<{ Params: IdParams }>(
    '/runs/:id/stream',
    schema('Follow a run (Server-Sent Events)', {
      200: { type: 'string', description: 'text/event-stream of `data:` messages; the last one is done or failed.' },
      ...schemas.replies({}, 404),
    }),
    async (request, reply) => follow(edge, streams, request, reply),
  );
}

/**
 * The run now, or as soon as it is terminal within the time. Subscribed before it is read, so no end falls between; only
 * an end is worth another look.
 */
async function waitForEnd(edge: Edge, request: FastifyRequest<{ Params: IdParams }>, waitMs: number): Promise<RunRow> {
  const { id } = request.params;
  const read = () => edge.runs.get(request.owner, id);
  const uuid = parseId('run', id);
  if (waitMs === 0 || uuid === undefined) return read();
  const ended = createSignal();
  const unsubscribe = edge.events.subscribe(uuid, (status) => {
    if (status !== 'queued' && status !== 'processing') ended.raise();
  });
  let over = false;
  const giveUp = () => {
    over = true;
    ended.raise();
  };
  const timer = setTimeout(giveUp, waitMs);
  request.raw.socket.once('close', giveUp);
  try {
    let row = await read();
    while (!isTerminal(row.status) && !over) {
      await ended.next();
      row = await read();
    }
    return row;
  } finally {
    clearTimeout(timer);
    request.raw.socket.off('close', giveUp);
    unsubscribe();
  }
}

async function follow(
  edge: Edge,
  streams: StreamCount,
  request: FastifyRequest<{ Params: IdParams }>,
  reply: FastifyReply,
): Promise<void> {
  const row = await edge.runs.get(request.owner, request.params.id);
  const links = edge.linksFor(request);
  const leave = streams.enter(row.account_id);
  try {
    await streamRun(reply, {
      subscribe: (onChange) => edge.events.subscribe(row.id, () => onChange()),
      async read() {
        const current = await edge.runs.byId(row.id);
        return current === undefined ? undefined : viewMessage(current, links);
      },
    });
  } finally {
    leave();
  }
}

interface StreamCount {
  /** Counts a stream in; returns the way out. */
  enter(accountId: string): () => void;
}

function createStreamCount(): StreamCount {
  const open = new Map<string, number>();
  return {
    enter(accountId) {
      const count = (open.get(accountId) ?? 0) + 1;
      if (count > mostStreams) {
        throw new AppError(429, 'too_many_streams', `An account may have ${mostStreams} streams open.`, {
          headers: { 'Retry-After': '5' },
        });
      }
      open.set(accountId, count);
      return () => {
        const left = (open.get(accountId) ?? 1) - 1;
        if (left === 0) open.delete(accountId);
        else open.set(accountId, left);
      };
    },
  };
}
