import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { acceptedAs } from '../src/files/accept.ts';
import { sniffFile } from '../src/files/sniff.ts';
import type { WebFetch } from '../src/engines/web-access.ts';
import { Failure } from '../src/lib/failure.ts';
import type { FileTypeId } from '../src/lib/media-types.ts';
import type { InputFacts, Tool } from '../src/tools/define.ts';
import { type Fields, parseSettings } from '../src/tools/settings.ts';
import { createToolContext, makeRunDirectories } from '../src/worker/tool-context.ts';

const noWeb: WebFetch = async () => {
  throw new Failure('invalid_input', 'This tool has no access to the web.');
};

export interface ToolRun {
  outputs: { filename: string; path: string; type: FileTypeId; sizeBytes: number }[];
  progress: number[];
}

/**
 * Runs a tool as a host would, without the service around it: form text in, files out in a directory of their own that is
 * removed by `[Symbol.asyncDispose]`. `files` are paths, or `{ path, filename }` where the given name matters.
 *
 * @throws Failure what the tool threw; Error for settings that the form refuses.
 */
export async function runTool<F extends Fields>(
  tool: Tool<F>,
  files: readonly (string | { path: string; filename: string })[],
  form: Record<string, string> = {},
  signal: AbortSignal = new AbortController().signal,
  fetch: WebFetch = noWeb,
): Promise<ToolRun & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), 'millrun-tool-'));
  const remove = () => rm(root, { recursive: true, force: true });
  try {
    const inputs: (InputFacts & { path: string })[] = [];
    for (const file of files) {
      const { path, filename } = typeof file === 'string' ? { path: file, filename: basename(file) } : file;
      const { size } = await stat(path);
      const shown = await sniffFile(path);
      inputs.push({ path, filename, type: acceptedAs(shown, tool.accepts, filename) ?? shown, sizeBytes: size });
    }
    const parsed = parseSettings(tool.settings, new Map(Object.entries(form).map(([name, value]) => [name, [value]])));
    if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors));
    const broken = tool.check?.(parsed.values, inputs) ?? {};
    if (Object.keys(broken).length > 0) throw new Error(JSON.stringify(broken));

    const progress: number[] = [];
    const { context, outputs } = createToolContext({
      ...(await makeRunDirectories(root)),
      inputs,
      settings: parsed.values,
      onProgress: (percent) => progress.push(percent),
      onLog: () => undefined,
      fetch,
      signal,
    });
    await tool.run(context);
    const described = [];
    for (const { path, filename } of outputs) {
      const shown = await sniffFile(path);
      const type = acceptedAs(shown, tool.produces, filename) ?? shown;
      described.push({ filename, path, type, sizeBytes: (await stat(path)).size });
    }
    return { outputs: described, progress, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
