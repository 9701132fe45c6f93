import { randomUUID } from 'node:crypto';
import { clientError, MillrunError } from './errors.ts';
import { followRun, isTerminal, waitForRun } from './follow.ts';
import { createForm, type FileInput, type Settings, type UploadProgress } from './form.ts';
import { deleteAt, getJson, getPages, post, wasDoneUnheard } from './requests.ts';
import { save, type SaveOptions } from './save.ts';
import { createTransport, pause, segment, type ApiRequest, type CallOptions, type Transport } from './transport.ts';
import type {
  CancelReply,
  Output,
  Run,
  RunStatus,
  StreamMessage,
  Submission,
  Tool,
  ToolList,
  Usage,
  UsageHistory,
} from './types.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export interface ClientOptions {
  /** Where the service is: `https://files.example.com`. */
  baseUrl: string;
  /** An API token, `mr_…`. It is sent to `baseUrl` and nowhere else. */
  token: string;
  /** Node's own unless told. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Tries after a first one that failed; 4 unless told. */
  maxRetries?: number | undefined;
}

export interface SubmitOptions extends CallOptions {
  /** 1 to 255 characters; a random one unless told. The same key makes the same run, for 24 hours. */
  idempotencyKey?: string | undefined;
  onUpload?: ((progress: UploadProgress) => void) | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Milliseconds; for ever unless told. */
  timeoutMs?: number | undefined;
}

export interface RunOptions extends SubmitOptions {
  /** Once, when the run has been accepted. */
  onSubmit?: ((submission: Submission) => void) | undefined;
  /** For every change of the run, its end included. */
  onProgress?: ((message: StreamMessage) => void) | undefined;
}

export interface ToolFilter extends CallOptions {
  category?: string | undefined;
  /** Searches slug, name and description. */
  query?: string | undefined;
}

export interface RunFilter extends CallOptions {
  status?: RunStatus | undefined;
  tool?: string | undefined;
  /** Runs fetched at a time, 1 to 100. */
  pageSize?: number | undefined;
}

/**
 * The API, one method a request; `run`, `wait` and `stream` put several together. Everything that goes wrong is a
 * `MillrunError`; a mistake in a call is a `TypeError`; an aborted signal throws its reason.
 */
export interface Millrun {
  tools(filter?: ToolFilter): Promise<Tool[]>;
  tool(slug: string, options?: CallOptions): Promise<Tool>;
  /** Sends files and settings; resolves when the run is accepted, which is before it starts. */
  submit(slug: string, files: readonly FileInput[], settings?: Settings, options?: SubmitOptions): Promise<Submission>;
  /**
   * Submits, follows, and resolves with the run when it is done. When the signal is aborted, the run is cancelled.
   *
   * @throws MillrunError of a run that failed: `code` and `message` are those of its `error`, `run` is the run.
   */
  run(slug: string, files: readonly FileInput[], settings?: Settings, options?: RunOptions): Promise<Run>;
  get(id: string, options?: CallOptions): Promise<Run>;
  /** Resolves with the run when it is done or failed; lost connections are borne. */
  wait(id: string, options?: WaitOptions): Promise<Run>;
  /** Every change of the run until its end, each saying the whole state; lost connections are made again. */
  stream(id: string, options?: CallOptions): AsyncGenerator<StreamMessage, void>;
  /** All runs, the newest first, fetched page by page as they are asked for. */
  list(filter?: RunFilter): AsyncGenerator<Run, void>;
  cancel(id: string, options?: CallOptions): Promise<CancelReply>;
  /** Deletes an ended run and its files. */
  remove(id: string, options?: CallOptions): Promise<void>;
  /** A new run of the same files and settings. */
  retry(id: string, options?: CallOptions): Promise<Submission>;
  /** Saves an output to a path and checks its size and SHA-256; resolves with the path. */
  download(output: Output, toPath: string, options?: SaveOptions): Promise<string>;
  /** Saves all outputs of a run as one ZIP; resolves with the path. */
  archive(id: string, toPath: string, options?: SaveOptions): Promise<string>;
  usage(options?: CallOptions): Promise<Usage>;
  /** The last 30 days, or 1 to 90. */
  usageHistory(options?: CallOptions & { days?: number | undefined }): Promise<UsageHistory>;
  readonly webhooks: Webhooks;
}

const standardRetries = 4;
/** An upload that does not move for so long, or is not answered, has failed, in milliseconds. */
const uploadSilenceMs = 120_000;
/** After an abort, how long the reply to an upload that is complete is waited for: its run is to be cancelled. */
const lastReplyMs = 5000;

/** A client of one account. It keeps nothing open between calls. */
export function createClient(options: ClientOptions): Millrun {
  const transport = createTransport({
    baseUrl: options.baseUrl,
    token: options.token,
    fetch: options.fetch ?? globalThis.fetch,
    maxRetries: options.maxRetries ?? standardRetries,
  });
  const get = <T>(path: string, call: CallOptions, query?: ApiRequest['query']) =>
    getJson<T>(transport, path, call, query);
  const runPath = (id: string) => `/runs/${segment(id)}`;

  const client: Millrun = {
    async tools({ category, query, signal } = {}) {
      return (await get<ToolList>('/tools', { signal }, { category, q: query })).data;
    },
    tool: async (slug, call = {}) => get(`/tools/${segment(slug)}`, call),
    submit: async (slug, files, settings = {}, submitting = {}) =>
      submit(transport, slug, await createForm(files, settings, submitting.onUpload), submitting),
    run: async (slug, files, settings = {}, running = {}) => runToEnd(client, slug, files, settings, running),
    get: async (id, call = {}) => get(runPath(id), call),
    wait: async (id, waiting = {}) => waitForRun(transport, id, waiting),
    stream: (id, { signal } = {}) => followRun(transport, id, signal),
    list: ({ status, tool, pageSize, signal } = {}) =>
      getPages(transport, '/runs', { signal }, { status, tool, limit: pageSize }),
    cancel: async (id, call = {}) => cancel(client, transport, id, call),
    remove: async (id, call = {}) => deleteAt(transport, runPath(id), call),
    retry: async (id, call = {}) => post(transport, `${runPath(id)}/retry`, call),
    download: async (output, toPath, saving) =>
      save(transport, { path: addressOf(output), expected: output }, toPath, saving),
    archive: async (id, toPath, saving) => save(transport, { path: `${runPath(id)}/archive` }, toPath, saving),
    usage: async (call = {}) => get('/usage', call),
    usageHistory: async ({ days, signal } = {}) => get('/usage/history', { signal }, { days }),
    webhooks: createWebhooks(transport),
  };
  return client;
}

/** The token goes along with whatever is no address of its own. */
function addressOf({ filename, url }: Output): string {
  if (!/^https?:\/\//.test(url)) throw clientError('bad_reply', `The output ${filename} has no address.`);
  return url;
}

async function submit(
  transport: Transport,
  slug: string,
  body: NonNullable<ApiRequest['body']>,
  { idempotencyKey = randomUUID(), signal }: SubmitOptions,
): Promise<Submission> {
  return transport.json({
    method: 'POST',
    path: `/tools/${segment(slug)}`,
    headers: { 'Idempotency-Key': idempotencyKey },
    body,
    repeatable: true,
    replyWithinMs: uploadSilenceMs,
    signal,
  });
}

async function runToEnd(
  client: Millrun,
  slug: string,
  files: readonly FileInput[],
  settings: Settings,
  options: RunOptions,
): Promise<Run> {
  const { signal, onSubmit, onProgress } = options;
  const submission = await submitForRun(client, slug, files, settings, options);
  try {
    signal?.throwIfAborted();
    onSubmit?.(submission);
    for await (const message of client.stream(submission.id, { signal })) onProgress?.(message);
    return succeeded(await client.get(submission.id, { signal }));
  } catch (error) {
    if (signal?.aborted === true) await client.cancel(submission.id).catch(() => undefined); // It may have ended.
    throw error;
  }
}

/** Once everything is sent there may be a run: an abort then waits for the reply, so that the run can be cancelled. */
async function submitForRun(
  client: Millrun,
  slug: string,
  files: readonly FileInput[],
  settings: Settings,
  options: RunOptions,
): Promise<Submission> {
  const { signal, onUpload } = options;
  const ending = new AbortController();
  const finished = new AbortController();
  let isSent = false;
  const onAbort = async () => {
    if (isSent) await pause(lastReplyMs, finished.signal).catch(() => undefined);
    ending.abort(signal?.reason);
  };
  signal?.throwIfAborted();
  signal?.addEventListener('abort', () => void onAbort(), { signal: finished.signal });
  try {
    return await client.submit(slug, files, settings, {
      ...options,
      signal: ending.signal,
      onUpload(progress) {
        isSent = progress.sentBytes === progress.totalBytes;
        onUpload?.(progress);
      },
    });
  } finally {
    finished.abort();
  }
}

function succeeded(run: Run): Run {
  if (run.status === 'done') return run;
  const { code, message } = run.error ?? { code: 'internal', message: `The run ${run.id} is ${run.status}.` };
  throw new MillrunError(code, message, { run });
}

/** A cancel whose reply was lost is sent again, and then refused because it worked. */
async function cancel(client: Millrun, transport: Transport, id: string, call: CallOptions): Promise<CancelReply> {
  const path = `/runs/${segment(id)}/cancel`;
  try {
    return await transport.json({ method: 'POST', path, repeatable: true, signal: call.signal });
  } catch (error) {
    if (!wasDoneUnheard(error, 409)) throw error;
    const { status, actions, error: reason } = await client.get(id, call);
    if (!isTerminal(status) || reason?.code !== 'cancelled') throw error;
    return { message: reason.message, data: { status, actions } };
  }
}
