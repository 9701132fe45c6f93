import type { FastifyInstance } from 'fastify';
import { badRequest } from '../../lib/errors.ts';
import { parseId, type Uuid } from '../../lib/ids.ts';
import type { WebhookChange } from '../../webhooks/webhooks.ts';
import type { Edge } from '../edge.ts';
import * as schemas from '../schemas.ts';

interface IdParams {
  id: string;
}

export function webhookRoutes(api: FastifyInstance, { webhooks }: Edge): void {
  const tags = ['Webhooks'];
  const schema = (summary: string, response: Record<string, unknown>, more: object = {}) => ({
    schema: { tags, summary, params: schemas.idParams, response, ...more },
  });

  api.post<{ Body: { url: string; events: string[] } }>(
    '/webhooks',
    {
      schema: {
        tags,
        summary: 'Register a webhook',
        body: schemas.newWebhook,
        response: schemas.replies({ 201: schemas.webhookWithSecret }, 400, 415, 422),
      },
    },
    async ({ owner, actor, body }, reply) =>
      reply.code(201).send(await webhooks.register(owner.accountId, body, actor)),
  );
  api.get(
    '/webhooks',
    { schema: { tags, summary: 'List webhooks', response: schemas.replies({ 200: schemas.webhookList }) } },
    async (request) => ({
      data: await webhooks.list(request.owner.accountId),
    }),
  );
  api.get<{ Params: IdParams }>(
    '/webhooks/:id',
    schema('Get a webhook', schemas.replies({ 200: schemas.webhook }, 404)),
    async (request) => webhooks.get(request.owner.accountId, request.params.id),
  );
  api.patch<{ Params: IdParams; Body: WebhookChange }>(
    '/webhooks/:id',
    schema('Change a webhook', schemas.replies({ 200: schemas.webhook }, 400, 404, 422), {
      body: schemas.webhookChange,
    }),
    async ({ owner, actor, params, body }) => webhooks.update(owner.accountId, params.id, body, actor),
  );
  api.delete<{ Params: IdParams }>(
    '/webhooks/:id',
    schema('Remove a webhook', { 204: { type: 'null', description: 'Gone.' }, ...schemas.replies({}, 404) }),
    async ({ owner, actor, params }, reply) => {
      await webhooks.remove(owner.accountId, params.id, actor);
      return reply.code(204).send();
    },
  );
  api.post<{ Params: IdParams }>(
    '/webhooks/:id/test',
    schema('Send a test event', schemas.replies({ 202: schemas.delivery }, 404)),
    async (request, reply) => reply.code(202).send(await webhooks.test(request.owner.accountId, request.params.id)),
  );
  api.post<{ Params: IdParams }>(
    '/webhooks/:id/rotate-secret',
    schema(
      'Make a new secret; the former one signs as well for 24 h',
      schemas.replies({ 200: schemas.webhookWithSecret }, 404),
    ),
    async ({ owner, actor, params }) => webhooks.rotateSecret(owner.accountId, params.id, actor),
  );
  api.get<{ Params: IdParams; Querystring: { limit?: number; cursor?: string } }>(
    '/webhooks/:id/deliveries',
    schema('List deliveries, newest first', schemas.replies({ 200: schemas.deliveryPage }, 400, 404), {
      querystring: schemas.pageQuery,
    }),
    async (request) => {
      const limit = request.query.limit ?? 20;
      const before = readCursor(request.query.cursor);
      const found = await webhooks.deliveries(request.owner.accountId, request.params.id, { limit: limit + 1, before });
      const data = found.slice(0, limit);
      const more = found.length > limit;
      return { data, next_cursor: more ? (data.at(-1)?.id ?? null) : null, has_more: more };
    },
  );
  api.get<{ Params: IdParams & { delivery: string } }>(
    '/webhooks/:id/deliveries/:delivery',
    {
      schema: {
        tags,
        summary: 'Get a delivery with its request and responses',
        response: schemas.replies({ 200: schemas.deliveryDetail }, 404),
      },
    },
    async (request) => webhooks.delivery(request.owner.accountId, request.params.id, request.params.delivery),
  );
  api.post<{ Params: IdParams & { delivery: string } }>(
    '/webhooks/:id/deliveries/:delivery/redeliver',
    { schema: { tags, summary: 'Send a delivery again', response: schemas.replies({ 202: schemas.delivery }, 404) } },
    async (request, reply) =>
      reply
        .code(202)
        .send(await webhooks.redeliver(request.owner.accountId, request.params.id, request.params.delivery)),
  );
}

/** The cursor of deliveries is the last one's id. */
function readCursor(cursor: string | undefined): Uuid | undefined {
  if (cursor === undefined) return undefined;
  const id = parseId('delivery', cursor);
  if (id === undefined)
    throw badRequest('invalid_cursor', 'The cursor cannot be read; use next_cursor of a page as it is.');
  return id;
}
