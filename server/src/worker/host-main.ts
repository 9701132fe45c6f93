/**
 * The program inside a tool host: it waits in the sandbox for one run after another of one account. Everything it loads
 * ahead is time the next run does not wait.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WebFetch } from '../engines/web-access.ts';
import { Failure } from '../lib/failure.ts';
import { toError } from '../lib/errors.ts';
import { loadTool } from '../tools/load-tool.ts';
import { parseSettings, toForm } from '../tools/settings.ts';
import type { CleanOrder, FetchAnswer, FetchReply, HostMessage, Order, RunOrder, WarmOrder } from './messages.ts';
import { createToolContext } from './tool-context.ts';

function tell(message: HostMessage): void {
  process.send?.(message);
}

async function execute(order: RunOrder): Promise<HostMessage> {
  try {
    const tool = await loadTool(order.category, order.tool);
    if (tool === undefined) throw new Error(`no tool ${order.tool}`);
    const parsed = parseSettings(tool.settings, toForm(order.form));
    if ('errors' in parsed) throw new Failure('invalid_input', 'The settings of this run are no longer accepted.');
    const { context, outputs } = createToolContext({
      ...order,
      settings: parsed.values,
      onProgress: (percent) => tell({ kind: 'progress', percent }),
      onLog: (message) => tell({ kind: 'log', message }),
      fetch: fetchThroughWorker(order.fetched),
      // The worker ends a run by killing the sandbox; nothing in here needs to hear of it.
      signal: new AbortController().signal,
    });
    await tool.run(context);
    return { kind: 'done', outputs, memoryBytes: process.memoryUsage.rss() };
  } catch (error) {
    return { ...describe(error), memoryBytes: process.memoryUsage.rss() };
  }
}

const fetches = new Map<number, (answer: FetchAnswer) => void>();
let fetchSerial = 0;

/** There is no network in here: the worker fetches, if it wants to, and puts the body where it can be read. */
function fetchThroughWorker(directory: string): WebFetch {
  return async ({ url, method, headers, body }) => {
    const id = (fetchSerial += 1);
    const { promise, resolve } = Promise.withResolvers<FetchAnswer>();
    fetches.set(id, resolve);
    const content = body === undefined ? {} : { body: body.toString('base64') };
    tell({ kind: 'fetch', id, request: { url, method, headers: { ...headers }, ...content } });
    const answer = await promise;
    if ('error' in answer) throw new Failure('invalid_input', answer.error);
    return { status: answer.status, headers: answer.headers, body: await readFile(join(directory, answer.file)) };
  };
}

function fetched({ id, answer }: FetchReply): void {
  fetches.get(id)?.(answer);
  fetches.delete(id);
}

function describe(error: unknown): Omit<Extract<HostMessage, { kind: 'failed' }>, 'memoryBytes'> {
  if (!(error instanceof Failure)) {
    const { stack, message } = toError(error);
    return { kind: 'failed', code: 'internal', message: 'The tool failed unexpectedly.', log: stack ?? message };
  }
  const cause = error.cause === undefined ? undefined : String(error.cause);
  const log = [error.log, cause].filter((part) => part !== undefined).join('\n');
  return {
    kind: 'failed',
    code: error.code,
    message: error.message,
    ...(error.file === undefined ? {} : { file: error.file }),
    ...(log === '' ? {} : { log }),
  };
}

async function clean({ directory }: CleanOrder): Promise<HostMessage> {
  await rm(directory, { recursive: true, force: true });
  return { kind: 'cleaned' };
}

/** A start that fails now fails again, with a reason, in the run that needs it. */
async function warm({ engine }: WarmOrder): Promise<void> {
  const { allEngines } = await import('../tools/registry.ts');
  const found = allEngines().find(({ id }) => id === engine);
  await found?.warm?.().catch((error: unknown) => tell({ kind: 'log', message: toError(error).message }));
}

async function obey(order: Order): Promise<void> {
  switch (order.kind) {
    case 'run':
      return tell(await execute(order));
    case 'clean':
      return tell(await clean(order));
    case 'warm':
      return warm(order);
    case 'fetched':
      return fetched(order);
  }
}

process.on('message', (order: Order) => void obey(order));
// Without its worker a host has no purpose; the sandbox would kill it anyway.
process.on('disconnect', () => process.exit(0));

const { warmUp } = await import('../engines/warm-up.ts');
await warmUp();
tell({ kind: 'ready' });
