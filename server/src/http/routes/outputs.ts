import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, notFound } from '../../lib/errors.ts';
import { parseId } from '../../lib/ids.ts';
import type { RunRow } from '../../runs/queries.ts';
import { createGate } from '../auth.ts';
import { sendOutput } from '../download.ts';
import type { Edge } from '../edge.ts';

interface OutputRequest {
  Params: { id: string; index: string; filename?: string };
  Querystring: { expires?: string; signature?: string };
}

/** Downloads: a signed address needs no token and is not counted; without a signature a token opens them, and is. */
export function outputRoutes(api: FastifyInstance, edge: Edge): void {
  const gate = createGate(edge);
  for (const url of ['/runs/:id/outputs/:index', '/runs/:id/outputs/:index/:filename']) {
    api.route<OutputRequest>({
      method: ['GET', 'HEAD'],
      url,
      schema: { hide: true },
      handler: async (request, reply) => {
        const row = await findRun(edge, gate, request, reply);
        const output = row.status === 'done' ? row.outputs?.[readIndex(request.params.index)] : undefined;
        if (output === undefined) throw noSuchOutput();
        if (row.files_removed) throw new AppError(410, 'outputs_expired', 'The files of this run are no longer kept.');
        return sendOutput(request, reply, output, edge.store);
      },
    });
  }
}

async function findRun(
  edge: Edge,
  gate: ReturnType<typeof createGate>,
  request: FastifyRequest<OutputRequest>,
  reply: FastifyReply,
): Promise<RunRow> {
  const { id, index } = request.params;
  const { expires, signature } = request.query;
  if (signature === undefined) {
    await gate(request, reply);
    return edge.runs.get(request.owner, id);
  }
  const uuid = parseId('run', id);
  const verdict = uuid === undefined ? 'forged' : edge.signer.verify(uuid, readIndex(index), expires ?? '', signature);
  if (verdict === 'expired')
    throw new AppError(410, 'link_expired', 'This download address has expired; get the run again for a new one.');
  const row = verdict === 'valid' && uuid !== undefined ? await edge.runs.byId(uuid) : undefined;
  if (row === undefined) throw noSuchOutput();
  return row;
}

function readIndex(text: string): number {
  return /^\d{1,6}$/.test(text) ? Number(text) : -1;
}

function noSuchOutput(): AppError {
  return notFound('There is no such output.');
}
