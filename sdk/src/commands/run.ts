import { basename } from 'node:path';
import { MillrunError } from '../errors.ts';
import type { Run } from '../types.ts';
import { clientCommand, exitCodes, type Call } from './command.ts';
import { createProgress, type Progress } from './progress.ts';
import { readSlug, Refusal } from './refusal.ts';
import { saveOutputs, shownPath } from './save-outputs.ts';
import { count, formatBytes, formatJson } from './text.ts';

export default clientCommand({
  name: 'run',
  describe: 'Run a tool on files and save what it makes. Ends with 1 when the run fails, with 2 when it is refused',
  positionals: [
    { name: 'tool', describe: 'Slug of the tool, such as image-compressor; see: millrun tools', required: true },
    { name: 'files', describe: 'Files to send, in their order', many: true },
  ],
  options: {
    set: { describe: 'A setting of the tool; may be given several times', value: 'name=value', multiple: true },
    out: { describe: 'Directory for the outputs; this one unless told', value: 'directory' },
    force: { describe: 'Replace files of the same name; otherwise the new ones get -1, -2, …' },
  },
  async run(call) {
    const [slug, ...files] = call.positionals;
    const tool = readSlug(slug);
    const settings = readSettings(call.options('set'));
    const progress = createProgress(process.stderr);
    try {
      const run = await follow(call, tool, files, settings, progress);
      const saved = await saveOutputs(call, run, {
        directory: call.option('out') ?? '.',
        force: call.has('force'),
        progress,
      });
      report(call, run, saved);
      return exitCodes.done;
    } finally {
      progress.clear();
    }
  },
});

function readSettings(pairs: readonly string[]): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const pair of pairs) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw new Refusal(`--set takes name=value, such as quality=80, not "${pair}".`);
    if (Object.hasOwn(settings, name)) throw new Refusal(`The setting ${name} is given twice.`);
    settings[name] = value;
  }
  return settings;
}

async function follow(
  { client, signal, has, print }: Call,
  tool: string,
  files: readonly string[],
  settings: Record<string, string>,
  progress: Progress,
): Promise<Run> {
  let id: string | undefined;
  try {
    return await client.run(tool, files, settings, {
      signal,
      onUpload: (state) => progress.upload(state),
      onSubmit: (submission) => (id = submission.id),
      onProgress: (message) => progress.run(message),
    });
  } catch (error) {
    progress.clear();
    if (!(error instanceof MillrunError)) throw error;
    if (error.code === 'file_missing') throw new Refusal(`${tool} needs at least one file.`);
    if (error.run !== undefined && has('json')) print(formatJson(error.run));
    if (error.run === undefined && id !== undefined)
      throw new Refusal(`${error.message} The run goes on; save its outputs with: millrun get ${id} --out .`);
    throw nameFiles(error, files);
  }
}

/** The service counts the files of a request; the person knows them by name. */
function nameFiles(error: MillrunError, files: readonly string[]): MillrunError {
  const errors = Object.fromEntries(
    Object.entries(error.errors).map(([field, problems]) => {
      const file = files[Number(/^files\.(\d+)$/.exec(field)?.[1])];
      return [file === undefined ? field : basename(file), problems];
    }),
  );
  const { code, message, status, requestId, run } = error;
  return new MillrunError(code, message, { status, requestId, errors, ...(run === undefined ? {} : { run }) });
}

/** Paths on standard output, for programs; the rest beside it, for people. */
function report({ has, print }: Call, run: Run, saved: readonly string[]): void {
  if (has('json')) {
    print(formatJson({ ...run, saved }));
    return;
  }
  for (const path of saved) print(shownPath(path));
  const sum = (sizes: readonly { size_bytes: number }[]) => sizes.reduce((all, { size_bytes }) => all + size_bytes, 0);
  const from = run.inputs.length === 0 ? '' : ` from ${formatBytes(sum(run.inputs))}`;
  console.error(`Done: ${count(saved.length, 'file')}, ${formatBytes(sum(run.outputs ?? []))}${from}.`);
}
