/**
 * The program inside a tool host: it waits in the sandbox for one run after another of one account. Everything it loads
 * ahead is time the next run does not wait.
 */
import { Failure } from '../lib/failure.ts';
import { toError } from '../lib/errors.ts';
import { findTool } from '../tools/registry.ts';
import { parseSettings, toForm } from '../tools/settings.ts';
import type { HostMessage, RunOrder } from './messages.ts';
import { createToolContext } from './tool-context.ts';

function tell(message: HostMessage): void {
  process.send?.(message);
}

async function execute(order: RunOrder): Promise<HostMessage> {
  try {
    const tool = findTool(order.tool);
    if (tool === undefined) throw new Error(`no tool ${order.tool}`);
    const parsed = parseSettings(tool.settings, toForm(order.form));
    if ('errors' in parsed) throw new Failure('invalid_input', 'The settings of this run are no longer accepted.');
    const { context, outputs } = createToolContext({
      ...order,
      settings: parsed.values,
      onProgress: (percent) => tell({ kind: 'progress', percent }),
      onLog: (message) => tell({ kind: 'log', message }),
      // The worker ends a run by killing the sandbox; nothing in here needs to hear of it.
      signal: new AbortController().signal,
    });
    await tool.run(context);
    return { kind: 'done', outputs, memoryBytes: process.memoryUsage.rss() };
  } catch (error) {
    return { ...describe(error), memoryBytes: process.memoryUsage.rss() };
  }
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

process.on('message', (order: RunOrder) => {
  void execute(order).then(tell);
});
// Without its worker a host has no purpose; the sandbox would kill it anyway.
process.on('disconnect', () => process.exit(0));

const { warmUp } = await import('../engines/warm-up.ts');
await warmUp();
tell({ kind: 'ready' });
