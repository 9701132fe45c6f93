import { MillrunError } from '../errors.ts';
import type { Run } from '../types.ts';
import { clientCommand, exitCodes } from './command.ts';
import { createProgress } from './progress.ts';
import { readRunId, Refusal } from './refusal.ts';
import { saveOutputs, shownPath } from './save-outputs.ts';
import { formatBytes, formatJson, formatTime, printable } from './text.ts';

export default clientCommand({
  name: 'get',
  describe: 'Show a run, or save its outputs',
  positionals: [{ name: 'id', describe: 'Id of the run, run_…', required: true }],
  options: {
    out: { describe: 'Save the outputs in this directory', value: 'directory' },
    force: { describe: 'Replace files of the same name; otherwise the new ones get -1, -2, …' },
  },
  async run(call) {
    const { client, positionals, signal, option, has, print } = call;
    const run = await client.get(readRunId(positionals[0]), { signal });
    const directory = option('out');
    if (directory === undefined) {
      print(has('json') ? formatJson(run) : describe(run));
      return exitCodes.done;
    }
    checkDone(run);
    const progress = createProgress(process.stderr);
    const saved = await saveOutputs(call, run, { directory, force: has('force'), progress });
    if (has('json')) print(formatJson({ ...run, saved }));
    else for (const path of saved) print(shownPath(path));
    return exitCodes.done;
  },
});

function checkDone(run: Run): void {
  if (run.status === 'failed') {
    const { code, message } = run.error ?? { code: 'internal', message: 'The run has failed.' };
    throw new MillrunError(code, message, { run });
  }
  if (run.status !== 'done') throw new Refusal(`The run is still ${run.status}; it has no outputs yet.`);
}

function describe(run: Run): string {
  const lines: [string, string][] = [
    ['Run', run.id],
    ['Tool', run.tool],
    ['Status', run.progress === undefined ? run.status : `${run.status}, ${run.progress}%`],
  ];
  if (run.queue_position !== undefined) lines.push(['Position', String(run.queue_position)]);
  if (run.error !== undefined) lines.push(['Error', `${run.error.message} (${run.error.code})`]);
  lines.push(['Created', `${formatTime(run.created_at)} UTC`]);
  for (const { filename, size_bytes: size } of run.inputs) lines.push(['Input', `${filename}, ${formatBytes(size)}`]);
  for (const { filename, size_bytes: size } of run.outputs ?? [])
    lines.push(['Output', `${filename}, ${formatBytes(size)}`]);
  return lines.map(([label, text]) => `${label.padEnd(8)}  ${printable(text)}`).join('\n');
}
