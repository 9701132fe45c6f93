import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Submission, ToolList } from '@millrun/sdk';
import { acceptedAs } from '../../files/accept.ts';
import { AppError, badRequest, notFound, unavailable, validationFailed, type FieldErrors } from '../../lib/errors.ts';
import { newUuid, type Uuid } from '../../lib/ids.ts';
import { articleAndName, namesOf, type FileTypeId } from '../../lib/media-types.ts';
import { keyReused, readKey } from '../../runs/idempotency.ts';
import { filesOf, type SubmitRequest } from '../../runs/runs.ts';
import type { Tool } from '../../tools/define.ts';
import { unusableEngines, unavailableReason, viewTool, type Capabilities } from '../../tools/offer.ts';
import { parseSettings, shownSettings } from '../../tools/settings.ts';
import type { Edge } from '../edge.ts';
import * as schemas from '../schemas.ts';
import { receiveUpload, type Upload } from '../upload.ts';

interface SlugParams {
  slug: string;
}

export function toolRoutes(api: FastifyInstance, edge: Edge): void {
  const tags = ['Tools'];
  api.get<{ Querystring: { category?: string; q?: string } }>(
    '/tools',
    {
      schema: {
        tags,
        summary: 'List the tools',
        querystring: schemas.toolsQuery,
        response: schemas.replies({ 200: schemas.toolList }, 400),
      },
    },
    async (request, reply) => sendCached(request, reply, await listTools(edge, request.query)),
  );
  api.get<{ Params: SlugParams }>(
    '/tools/:slug',
    { schema: { tags, summary: 'Describe one tool', response: schemas.replies({ 200: schemas.tool }, 404) } },
    async (request) => viewTool(findTool(edge, request.params.slug), await edge.capabilities()),
  );
  void api.register(async (scope) => submitRoute(scope, edge));
}

async function submitRoute(scope: FastifyInstance, edge: Edge): Promise<void> {
  // Whatever is no form is refused by us, with 400, and unread: no parser but the streaming one.
  scope.removeAllContentTypeParsers();
  await scope.register(multipart);
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.post<{ Params: SlugParams }>(
    '/tools/:slug',
    {
      // The body's schema is for readers: the form is read, and judged, part by part.
      validatorCompiler: () => () => true,
      schema: {
        tags: ['Runs'],
        summary: 'Submit a run',
        description: 'Files in the repeated field `files[]`; every other field is a setting of the tool.',
        consumes: ['multipart/form-data'],
        body: schemas.submissionForm,
        response: schemas.replies({ 202: schemas.submission }, 400, 404, 409, 413, 422, 503),
      },
    },
    async (request, reply) => submit(edge, request, reply),
  );
}

async function listTools(edge: Edge, { category, q }: { category?: string; q?: string }): Promise<ToolList> {
  const capabilities = await edge.capabilities();
  const wanted = q?.toLowerCase();
  const data = edge.tools
    .filter((tool) => category === undefined || tool.category === category)
    .filter(
      (tool) => wanted === undefined || `${tool.slug} ${tool.name} ${tool.description}`.toLowerCase().includes(wanted),
    )
    .map((tool) => viewTool(tool, capabilities));
  return { data, meta: { count: data.length } };
}

async function sendCached(request: FastifyRequest, reply: FastifyReply, body: ToolList): Promise<FastifyReply> {
  const text = JSON.stringify(body);
  // A quarter of a megabyte of forms, which packs to a tenth. Packed, it is another representation with a tag of its own.
  const isPacked = /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '');
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 27);
  const etag = isPacked ? `"${hash}-gzip"` : `"${hash}"`;
  void reply.headers({ ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Accept-Encoding' });
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  void reply.type('application/json; charset=utf-8');
  if (!isPacked) return reply.send(text);
  return reply.header('Content-Encoding', 'gzip').send(await pack(text));
}

const pack = promisify(gzip);

/** RFC 9110, section 13.1.2: any of a list matches, and a tag that a proxy made weak is the same. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || header === '*';
}

function findTool(edge: Edge, slug: string): Tool {
  const tool = edge.findTool(slug);
  if (tool === undefined) throw notFound('There is no tool with this slug.');
  return tool;
}

async function submit(
  edge: Edge,
  request: FastifyRequest<{ Params: SlugParams }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const tool = findTool(edge, request.params.slug);
  const capabilities = await edge.capabilities();
  const reason = unavailableReason(tool, capabilities);
  if (reason !== undefined) throw toolUnavailable(tool, reason);
  await checkRoom(edge);
  const key = readKey(request.headers['idempotency-key']?.toString());
  if (key === undefined)
    return sendSubmission(reply, await receiveAndSubmit(edge, request, tool, capabilities, undefined));
  return submitOnce(edge, request, reply, tool, capabilities, key);
}

/** Under an Idempotency-Key: the first request makes the run, the same one again gets the same reply. */
async function submitOnce(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
  tool: Tool,
  capabilities: Capabilities,
  key: string,
): Promise<FastifyReply> {
  const { accountId, plan } = request.owner;
  const state = await edge.idempotency.reserve(accountId, key);
  if (state.kind === 'answered') {
    const upload = await receiveUpload(request, {
      runId: newUuid(edge.clock),
      plan,
      store: undefined,
      withFingerprint: true,
    });
    if (!fingerprintOf(tool, upload).equals(state.fingerprint)) throw keyReused();
    return sendSubmission(reply.header('Idempotency-Replayed', 'true'), state.reply);
  }
  try {
    return await sendSubmission(reply, await receiveAndSubmit(edge, request, tool, capabilities, key));
  } catch (error) {
    await edge.idempotency.free(accountId, key);
    throw error;
  }
}

function fingerprintOf(tool: Tool, upload: Upload): Buffer {
  return createHash('sha256')
    .update(tool.slug)
    .update(upload.fingerprint ?? '')
    .digest();
}

async function receiveAndSubmit(
  edge: Edge,
  request: FastifyRequest,
  tool: Tool,
  capabilities: Capabilities,
  key: string | undefined,
): Promise<Submission> {
  const runId = newUuid(edge.clock);
  try {
    const { plan } = request.owner;
    const upload = await receiveUpload(request, { runId, plan, store: edge.store, withFingerprint: key !== undefined });
    const accepted = judge(tool, upload, capabilities);
    const idempotency = key === undefined ? {} : { idempotency: { key, fingerprint: fingerprintOf(tool, upload) } };
    return await edge.runs.submit(request.owner, { ...accepted, ...idempotency, id: runId }, edge.linksFor(request));
  } catch (error) {
    await discardUpload(edge, runId, error);
    throw error;
  }
}

/** The files go, unless the run may exist: when the reply to a commit is lost, nobody knows. The janitor does later. */
async function discardUpload(edge: Edge, runId: Uuid, error: unknown): Promise<void> {
  if (edge.isOutage(error)) return;
  await edge.store.removeAll(filesOf(runId));
}

/** Everything that can be said of a submission before any engine sees it. */
function judge(tool: Tool, upload: Upload, capabilities: Capabilities): Omit<SubmitRequest, 'id'> {
  const { form } = upload;
  const inputs = upload.inputs.map((input) => ({ ...input, type: readAs(tool, input) ?? input.type }));
  if (inputs.length === 0 && tool.files.min > 0) {
    throw badRequest('file_missing', 'Send at least one file in the form field files[].');
  }
  const errors: FieldErrors = judgeFiles(tool, upload);
  const parsed = parseSettings(tool.settings, form);
  if ('errors' in parsed) throw validationFailed({ ...errors, ...parsed.errors });
  const facts = inputs.map(({ filename, type, size_bytes }) => ({ filename, type, sizeBytes: size_bytes }));
  if (Object.keys(errors).length === 0) Object.assign(errors, tool.check?.(parsed.values, facts));
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  const missing = unusableEngines(tool.enginesFor?.(parsed.values, facts) ?? [], capabilities);
  if (missing !== undefined) throw toolUnavailable(tool, missing);
  return {
    tool: tool.slug,
    settings: shownSettings(tool.settings, parsed.values, form),
    form: Object.fromEntries(
      [...form].flatMap(([name, values]) => values.filter((value) => value !== '').map((value) => [name, value])),
    ),
    inputs,
  };
}

/** The format a tool reads a file as; undefined when it takes none that the file may be. */
function readAs(tool: Tool, { type, filename }: Upload['inputs'][number]): FileTypeId | undefined {
  return acceptedAs(type, tool.accepts, filename);
}

function judgeFiles(tool: Tool, { inputs }: Upload): FieldErrors {
  const errors: FieldErrors = {};
  const { min, max } = tool.files;
  if (inputs.length < min) errors['files'] = [`${tool.name} needs at least ${min} files`];
  if (max === 0 && inputs.length > 0) return { files: [`${tool.name} takes no files`] };
  if (inputs.length > max) errors['files'] = [`${tool.name} takes at most ${max} files`];
  for (const [index, input] of inputs.entries()) {
    if (input.size_bytes === 0) errors[`files.${index}`] = ['is empty'];
    else if (readAs(tool, input) === undefined) errors[`files.${index}`] = [refuseType(tool, input.type)];
  }
  return errors;
}

function refuseType(tool: Tool, type: FileTypeId): string {
  const seen = type === 'binary' ? 'is of a type that is not recognised' : `is ${articleAndName(type)}`;
  return tool.accepts === 'any' ? seen : `${seen}; ${tool.name} takes ${namesOf(tool.accepts)}`;
}

/** A full disk is refused before a byte is received, and before the database feels it. */
async function checkRoom(edge: Edge): Promise<void> {
  const free = await edge.store.freeBytes();
  if (free !== undefined && free < edge.reserveBytes) {
    throw new AppError(507, 'storage_full', 'The service has no room for more files just now.', {
      headers: { 'Retry-After': '60' },
    });
  }
}

function toolUnavailable(tool: Tool, reason: string): AppError {
  return unavailable('tool_unavailable', `${tool.name} is not available: ${reason}`, 300);
}

function sendSubmission(reply: FastifyReply, submission: Submission): FastifyReply {
  return reply.code(202).header('Location', submission.status_url).send(submission);
}
