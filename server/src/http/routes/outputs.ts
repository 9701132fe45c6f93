import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ZipFile } from 'yazl';
import { contentDisposition } from '../../files/names.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { parseId, publicId } from '../../lib/ids.ts';
import type { Download } from '../../runs/links.ts';
import type { RunRow } from '../../runs/run-row.ts';
import { createGate } from '../auth.ts';
import { safeDownloadHeaders, sendOutput } from '../download.ts';
import type { Edge } from '../edge.ts';
import * as schemas from '../schemas.ts';

interface DownloadRequest {
  Params: { id: string };
  Querystring: { expires?: string; signature?: string };
}
interface OutputRequest extends DownloadRequest {
  Params: { id: string; index: string; filename?: string };
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
        const row = await findRun(edge, gate, request, reply, readIndex(request.params.index));
        const output = row.status === 'done' ? row.outputs?.[readIndex(request.params.index)] : undefined;
        if (output === undefined) throw noSuchOutput();
        if (row.files_removed) throw new AppError(410, 'outputs_expired', 'The files of this run are no longer kept.');
        return sendOutput(request, reply, output, edge.store);
      },
    });
  }
  api.get<DownloadRequest>(
    '/runs/:id/archive',
    {
      schema: {
        tags: ['Runs'],
        summary: 'Download all outputs as one ZIP',
        params: schemas.idParams,
        response: {
          200: { type: 'string', description: 'application/zip' },
          ...schemas.replies({}, 404, 409, 410),
        },
      },
    },
    async (request, reply) => sendArchive(edge, await findRun(edge, gate, request, reply, 'archive'), reply),
  );
}

async function findRun(
  edge: Edge,
  gate: ReturnType<typeof createGate>,
  request: FastifyRequest<DownloadRequest>,
  reply: FastifyReply,
  download: Download,
): Promise<RunRow> {
  const { id } = request.params;
  const { expires, signature } = request.query;
  if (signature === undefined) {
    await gate(request, reply);
    return edge.runs.get(request.owner, id);
  }
  const uuid = parseId('run', id);
  const verdict = uuid === undefined ? 'forged' : edge.signer.verify(uuid, download, expires ?? '', signature);
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

/** Outputs are compressed formats for the most part: stored as they are, the archive costs reading and sending only. */
async function sendArchive(edge: Edge, row: RunRow, reply: FastifyReply): Promise<FastifyReply> {
  if (row.status !== 'done') {
    throw new AppError(409, 'run_not_done', 'Only a run that is done has outputs to download.', {
      body: { status: row.status },
    });
  }
  if (row.files_removed) throw new AppError(410, 'outputs_expired', 'The files of this run are no longer kept.');
  const archive = new ZipFile();
  for (const { filename, key, size_bytes } of row.outputs ?? []) {
    const options = { compress: false, size: size_bytes, mtime: row.finished_at ?? row.created_at, mode: 0o100_644 };
    archive.addReadStreamLazy(filename, options, (give) => {
      edge.store.read(key).then(
        (stream) => give(null, stream),
        (error: unknown) => give(error as Error, undefined as never),
      );
    });
  }
  archive.on('error', (error) => reply.raw.destroy(error instanceof Error ? error : undefined));
  archive.end();
  void reply.headers({
    ...safeDownloadHeaders,
    'Content-Disposition': contentDisposition(`${row.tool}-${publicId('run', row.id).slice(-8)}.zip`),
  });
  return reply.type('application/zip').send(archive.outputStream);
}
