import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { StoredOutput } from '../db/schema.ts';
import { cleanFilename } from '../files/names.ts';
import { acceptedAs } from '../files/accept.ts';
import { isEmpty } from '../files/content-sample.ts';
import { sniff } from '../files/sniff.ts';
import type { FileStore } from '../files/store.ts';
import { AppError, toError } from '../lib/errors.ts';
import { Failure, failureCodes } from '../lib/failure.ts';
import { publicId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { articleAndName, extensionOf, fileTypes, mediaTypeOf, type FileTypeId } from '../lib/media-types.ts';
import { outputKey, type ClaimedRun } from '../runs/runs.ts';
import type { Tool } from '../tools/define.ts';
import type { Host, HostPool } from './hosts.ts';
import type { FetchAnswer, FetchRequest, HostMessage } from './messages.ts';
import type { WebAccess } from './web-fetch.ts';

/** Largest number of outputs one run may have. */
const mostOutputs = 10_000;

export type Outcome =
  | { kind: 'done'; outputs: StoredOutput[] }
  | { kind: 'failed'; failure: Failure }
  /** The host died under the run without a reason of its own. */
  | { kind: 'lost' }
  /** The run was taken away: its owner cancelled it, or this worker stops. */
  | { kind: 'aborted' };

interface Parts {
  hosts: HostPool;
  store: FileStore;
  findTool(slug: string): Tool | undefined;
  /** Absent when the operator has closed the way to the web. */
  web: WebAccess | undefined;
  onProgress(run: ClaimedRun, percent: number): void;
  log: Log;
}

/** How an attempt ended, and the end of tidying up after it, which nobody's result has to wait for. */
export interface Execution {
  outcome: Outcome;
  tidied: Promise<void>;
}

/**
 * Executes one attempt: inputs staged, the tool run in its host, outputs checked and published under the attempt. Leaves
 * nothing in the work directory. Never throws for what a file or an engine does.
 */
export async function execute(parts: Parts, run: ClaimedRun, signal: AbortSignal): Promise<Execution> {
  const tool = parts.findTool(run.tool);
  if (tool === undefined)
    return { outcome: failed('internal', 'This tool is no longer offered.'), tidied: Promise.resolve() };
  const host = await parts.hosts.acquire(run.accountId, slowEngines(tool)).catch((error: unknown) => {
    parts.log.error({ err: error, run: publicId('run', run.id) }, 'no tool host could be started');
  });
  if (host === undefined) return { outcome: { kind: 'lost' }, tidied: Promise.resolve() };
  const stop = () => host.kill();
  signal.addEventListener('abort', stop, { once: true });
  const outcome = await outcomeIn(host, tool, parts, run, signal);
  signal.removeEventListener('abort', stop);
  return { outcome, tidied: tidyHost(parts.hosts, host, outcome, run) };
}

function slowEngines(tool: Tool): string[] {
  return tool.engines.filter(({ warm }) => warm !== undefined).map(({ id }) => id);
}

async function outcomeIn(host: Host, tool: Tool, parts: Parts, run: ClaimedRun, signal: AbortSignal): Promise<Outcome> {
  try {
    signal.throwIfAborted();
    return await executeIn(host, tool, parts, run, signal);
  } catch (error) {
    return signal.aborted ? { kind: 'aborted' } : toFailure(error, parts.log);
  }
}

/** A host whose run went well stays warm; any other is replaced, and its directory goes with it. */
async function tidyHost(hosts: HostPool, host: Host, outcome: Outcome, run: ClaimedRun): Promise<void> {
  const healthy = outcome.kind === 'done' || (outcome.kind === 'failed' && isOwnersMistake(outcome.failure));
  if (healthy) {
    const name = workName(run);
    const inputs = rm(join(host.inputs.outside, name), { recursive: true, force: true, maxRetries: 3 });
    await Promise.all([inputs, host.clean(join(host.outputs.inside, name))]);
  } else {
    host.kill();
    await host.gone;
  }
  hosts.release(host, healthy);
}

/** Failures that say something about the file, not about the host. */
function isOwnersMistake(failure: Failure): boolean {
  return failure.code === 'invalid_input' || failure.code === 'password_required';
}

function workName(run: ClaimedRun): string {
  return `${run.id}.${run.attempt}`;
}

async function executeIn(host: Host, tool: Tool, parts: Parts, run: ClaimedRun, signal: AbortSignal): Promise<Outcome> {
  const name = workName(run);
  const inputs = await stageInputs(parts.store, host, run);
  const outputs = join(host.outputs.outside, name, 'out');
  await mkdir(outputs, { recursive: true, mode: 0o700 });
  await mkdir(join(host.outputs.outside, name, 'scratch'), { mode: 0o700 });
  // Held open from before the engine starts: whatever it does to the path, this is the directory we made.
  const directory = await open(outputs, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const web = openWeb(host, tool, parts, run);
  try {
    const order = {
      kind: 'run' as const,
      tool: run.tool,
      category: tool.category,
      form: run.form,
      inputs,
      outputDirectory: join(host.outputs.inside, name, 'out'),
      scratch: join(host.outputs.inside, name, 'scratch'),
      fetched: join(host.inputs.inside, name),
    };
    const result = await runInHost(host, order, tool, {
      signal,
      fetch: (request) => web.fetch(request),
      onProgress: (percent) => parts.onProgress(run, percent),
      onLog: (message) => parts.log.info({ run: publicId('run', run.id), tool: run.tool, message }, 'tool'),
    });
    if (result.kind === 'lost') return { kind: 'lost' };
    if (result.kind === 'failed') throw readFailure(result);
    const published = await publishOutputs(
      parts.store,
      run,
      tool,
      `/proc/self/fd/${directory.fd}`,
      result.outputs,
      signal,
    );
    return { kind: 'done', outputs: published };
  } finally {
    web.close();
    await directory.close();
  }
}

async function stageInputs(
  store: FileStore,
  host: Host,
  run: ClaimedRun,
): Promise<Parameters<Host['run']>[0]['inputs']> {
  const name = workName(run);
  await mkdir(join(host.inputs.outside, name), { mode: 0o700 });
  return Promise.all(
    run.inputs.map(async (input, index) => {
      const type = toFileType(input.type);
      const file = `${index}.${extensionOf(type)}`;
      await store.stage(input.key, join(host.inputs.outside, name, file));
      return {
        path: join(host.inputs.inside, name, file),
        filename: input.filename,
        type,
        sizeBytes: input.size_bytes,
      };
    }),
  );
}

function toFileType(stored: string): FileTypeId {
  return Object.hasOwn(fileTypes, stored) ? (stored as FileTypeId) : 'binary';
}

type HostResult = Extract<HostMessage, { kind: 'done' | 'failed' }> | { kind: 'lost' };

/** The host's last word on the run, or the reason it has none. */
function runInHost(
  host: Host,
  order: Parameters<Host['run']>[0],
  tool: Tool,
  listener: {
    signal: AbortSignal;
    fetch(request: FetchRequest): Promise<FetchAnswer>;
    onProgress(percent: number): void;
    onLog(message: string): void;
  },
): Promise<HostResult> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const deadline = setTimeout(() => {
      timedOut = true;
      host.kill();
    }, tool.timeoutSeconds * 1000);
    const onMessage = (message: HostMessage) => {
      if (message.kind === 'progress') return listener.onProgress(message.percent);
      if (message.kind === 'log') return listener.onLog(String(message.message).slice(0, 2000));
      if (message.kind === 'fetch') {
        const id = Number(message.id);
        return void listener.fetch(message.request).then((answer) => host.reply({ kind: 'fetched', id, answer }));
      }
      if (message.kind !== 'done' && message.kind !== 'failed') return undefined;
      clearTimeout(deadline);
      return resolve(message);
    };
    host.run(order, onMessage, ({ code, signal }) => {
      clearTimeout(deadline);
      if (timedOut)
        return reject(
          new Failure('timed_out', `The run took longer than the ${tool.timeoutSeconds} s this tool may take.`),
        );
      if (listener.signal.aborted) return reject(new Failure('cancelled', 'The run was stopped.'));
      const failure = whyHostDied(code, signal);
      return failure === undefined ? resolve({ kind: 'lost' }) : reject(failure);
    });
  });
}

/** Different ones that are logged of one run. */
const mostRefusals = 50;

/** The web of one run, until it is over. */
interface RunWeb {
  fetch(request: FetchRequest): Promise<FetchAnswer>;
  /** Ends what is under way and logs whom this service was made to call. */
  close(): void;
}

/** The web for a tool that says it needs it, and for no other. */
function openWeb(host: Host, tool: Tool, { web, log }: Parts, run: ClaimedRun): RunWeb {
  const closed = (error: string): RunWeb => ({ fetch: async () => ({ error }), close: () => undefined });
  if (tool.network !== true) return closed('This tool has no access to the web.');
  if (web === undefined) return closed('This service does not fetch web pages.');
  const over = new AbortController();
  const fetcher = web.forRun(join(host.inputs.outside, workName(run)), over.signal);
  const told = { run: publicId('run', run.id), tool: run.tool };
  const refusals = new Set<string>();
  return {
    async fetch(given) {
      const request = readRequest(given);
      if (request === undefined) return { error: 'The request is not valid.' };
      const answer = await fetcher.fetch(request);
      // Never the whole address: it may hold a secret.
      if ('error' in answer && refusals.size < mostRefusals)
        refusals.add(`${new URL(request.url).host}: ${answer.error}`);
      return answer;
    },
    close() {
      over.abort();
      const hosts = Object.fromEntries(fetcher.hosts);
      log.info({ ...told, hosts, refused: [...refusals] }, 'fetched from the web');
    },
  };
}

/** A request as the host tells it; undefined when it has not the shape of one. */
function readRequest(given: unknown): FetchRequest | undefined {
  const { url, method, headers, body } = (given ?? {}) as Partial<Record<keyof FetchRequest, unknown>>;
  if (typeof url !== 'string' || !URL.canParse(url) || typeof method !== 'string') return undefined;
  if (typeof headers !== 'object' || headers === null || !['undefined', 'string'].includes(typeof body))
    return undefined;
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { url, method, headers: Object.fromEntries(texts), ...(typeof body === 'string' ? { body } : {}) };
}

/** Exit codes are 128 + signal when the sandbox reports them. A kill from outside (9) is nobody's verdict on the file. */
function whyHostDied(code: number | null, signal: string | null): Failure | undefined {
  const log = `the tool host ended with code ${code}, signal ${signal}`;
  if (signal === 'SIGKILL' || code === 137) return undefined;
  if (signal === 'SIGXFSZ' || code === 153)
    return new Failure('resource_limit', 'An output grew larger than a run may write.', { log });
  const outOfMemory = signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 134 || code === 133;
  if (outOfMemory) return new Failure('resource_limit', 'The file needs more memory than a run may use.', { log });
  return new Failure('engine_failed', 'The engine crashed on this file.', { log });
}

/** A failure as the host tells it, with its words bounded: the host may be under somebody else's control. */
function readFailure(message: Extract<HostMessage, { kind: 'failed' }>): Failure {
  const code = failureCodes.find((known) => known === message.code) ?? 'internal';
  // The database takes neither a zero nor half a character, as `slice` may leave one.
  const text = String(message.message).slice(0, 500).toWellFormed().replaceAll('\0', '\uFFFD');
  const file = message.file === undefined ? undefined : cleanFilename(String(message.file));
  return new Failure(code, text, { file, log: message.log?.slice(0, 4000) });
}

async function publishOutputs(
  store: FileStore,
  run: ClaimedRun,
  tool: Tool,
  directory: string,
  announced: readonly { path: string; filename: string }[],
  signal: AbortSignal,
): Promise<StoredOutput[]> {
  if (announced.length === 0) throw new Failure('engine_failed', 'The tool made no output.');
  if (announced.length > mostOutputs)
    throw new Failure('resource_limit', `A run may have at most ${mostOutputs} outputs.`);
  const published: StoredOutput[] = [];
  for (const [index, { path, filename }] of announced.entries()) {
    signal.throwIfAborted(); // Killing the host does not end this: a run that was cancelled may soon be deleted.
    published.push(
      await publishOutput(
        store,
        tool,
        join(directory, basename(String(path))),
        outputKey(run.id, run.attempt, index),
        filename,
      ),
    );
  }
  return published;
}

/** Exit code 0 is not success: an output must exist, have content and be what the tool promises. */
async function publishOutput(
  store: FileStore,
  tool: Tool,
  path: string,
  key: string,
  filename: string,
): Promise<StoredOutput> {
  const { sizeBytes, sha256, sample } = await store.publish(path, key).catch((error: unknown) => {
    if (error instanceof AppError)
      throw new Failure('internal', error.message, { cause: error, log: String(error.cause) });
    throw new Failure('engine_failed', 'The engine did not produce an output it promised.', {
      cause: error,
      log: toError(error).message,
    });
  });
  if (isEmpty(sample)) throw new Failure('engine_failed', 'The engine produced an empty file.');
  const type = await sniff(sample);
  const promised = acceptedAs(type, tool.produces, filename);
  if (promised === undefined)
    throw new Failure(
      'engine_failed',
      `The engine produced ${articleAndName(type)}, which is not what this tool makes.`,
    );
  return {
    filename: cleanFilename(filename),
    size_bytes: sizeBytes,
    media_type: mediaTypeOf(promised),
    sha256,
    key,
  };
}

function failed(code: Failure['code'], message: string): Outcome {
  return { kind: 'failed', failure: new Failure(code, message) };
}

function toFailure(error: unknown, log: Log): Outcome {
  if (error instanceof Failure) return { kind: 'failed', failure: error };
  log.error({ err: error }, 'a run failed inside the worker');
  return failed('internal', 'The service could not process this run.');
}
