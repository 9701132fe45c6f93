import type { Run, RunStatus } from '../types.ts';
import { clientCommand, exitCodes } from './command.ts';
import { Refusal } from './refusal.ts';
import { formatJson, formatTable, formatTime, printable } from './text.ts';

const statuses: readonly RunStatus[] = ['queued', 'processing', 'done', 'failed'];
const standardLimit = 20;
/** The service sends at most so many at a time. */
const largestPage = 100;

export default clientCommand({
  name: 'runs',
  describe: 'List runs, the newest first',
  options: {
    status: { describe: `Only these: ${statuses.join(', ')}`, value: 'status' },
    tool: { describe: 'Only those of this tool', value: 'slug' },
    limit: { describe: `At most so many; ${standardLimit} unless told`, value: 'number' },
  },
  async run({ client, signal, option, has, print }) {
    const limit = readLimit(option('limit'));
    const status = readStatus(option('status'));
    const filter = { status, tool: option('tool'), pageSize: Math.min(limit, largestPage), signal };
    const runs: Run[] = [];
    for await (const run of client.list(filter)) {
      runs.push(run);
      if (runs.length === limit) break;
    }
    if (has('json')) print(formatJson(runs));
    else if (runs.length === 0) console.error('There are no runs.');
    else print(formatTable([['ID', 'TOOL', 'STATUS', 'CREATED (UTC)', 'INPUT'], ...runs.map(rowOf)]));
    return exitCodes.done;
  },
});

function readLimit(text: string | undefined): number {
  if (text === undefined) return standardLimit;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Refusal(`--limit takes a whole number of at least 1, not "${text}".`);
  return Number(text);
}

function readStatus(text: string | undefined): RunStatus | undefined {
  const status = statuses.find((one) => one === text);
  if (text !== undefined && status === undefined)
    throw new Refusal(`--status takes one of ${statuses.join(', ')}, not "${text}".`);
  return status;
}

function rowOf({ id, tool, status, progress, error, created_at: created, inputs }: Run): string[] {
  const state = progress === undefined ? (error?.code ?? status) : `${status} ${progress}%`;
  const [first, ...others] = inputs;
  const input = first === undefined ? '-' : first.filename + (others.length === 0 ? '' : ` and ${others.length} more`);
  return [id, tool, state, formatTime(created), input].map(printable);
}
