import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { WebFetch } from '../engines/web-access.ts';
import type { InputFacts, InputFile, ToolContext } from '../tools/define.ts';

/** An output a tool has announced: where its bytes are and what its owner will see it called. */
export interface AnnouncedOutput {
  path: string;
  filename: string;
}

interface ContextOptions {
  inputs: readonly (InputFacts & { path: string })[];
  settings: unknown;
  /** Existing, empty and private to this run. */
  outputDirectory: string;
  scratch: string;
  onProgress(percent: number): void;
  onLog(message: string): void;
  fetch: WebFetch;
  signal: AbortSignal;
}

/** How often progress is passed on at most, in milliseconds. */
const progressIntervalMs = 200;

/** The context of one run, and the outputs that were announced through it, in order. */
export function createToolContext(options: ContextOptions): {
  context: ToolContext<never>;
  outputs: AnnouncedOutput[];
} {
  const outputs: AnnouncedOutput[] = [];
  const taken = new Set<string>();
  const context: ToolContext<unknown> = {
    inputs: options.inputs.map((input): InputFile => ({ ...input, stem: splitName(input.filename).stem })),
    settings: options.settings,
    scratch: options.scratch,
    signal: options.signal,
    log: options.onLog,
    fetch: options.fetch,
    progress: throttledProgress(options.onProgress),
    output(filename) {
      const unique = uniqueName(filename, taken);
      const { extension } = splitName(unique);
      const path = join(
        options.outputDirectory,
        `${outputs.length}${/^\.[A-Za-z0-9]{1,10}$/.test(extension) ? extension : ''}`,
      );
      outputs.push({ path, filename: unique });
      return path;
    },
  };
  return { context: context as ToolContext<never>, outputs };
}

function throttledProgress(onProgress: (percent: number) => void): (percent: number) => void {
  let highest = 0;
  let nextAt = 0;
  return (percent) => {
    const whole = Math.floor(percent);
    // 100 is said by the terminal state, which follows at once.
    if (!(whole > highest && whole < 100) || performance.now() < nextAt) return;
    highest = whole;
    nextAt = performance.now() + progressIntervalMs;
    onProgress(whole);
  };
}

const doubleExtensions = /^(.+)(\.tar\.[A-Za-z0-9]{1,4})$/;

/** `photo.jpg` → `photo` and `.jpg`; `backup.tar.gz` → `backup` and `.tar.gz`; a leading dot is part of the stem. */
export function splitName(filename: string): { stem: string; extension: string } {
  const double = doubleExtensions.exec(filename);
  if (double?.[1] !== undefined && double[2] !== undefined) return { stem: double[1], extension: double[2] };
  const dot = filename.lastIndexOf('.');
  if (dot <= 0) return { stem: filename, extension: '' };
  return { stem: filename.slice(0, dot), extension: filename.slice(dot) };
}

/** The name itself, or `name-1.ext`, `name-2.ext`, … when it is taken; case does not make a difference on every disk. */
function uniqueName(filename: string, taken: Set<string>): string {
  const { stem, extension } = splitName(filename);
  let candidate = filename;
  for (let n = 1; taken.has(candidate.toLowerCase()); n++) candidate = `${stem}-${n}${extension}`;
  taken.add(candidate.toLowerCase());
  return candidate;
}

/** Makes the private directories of a run below `root`. */
export async function makeRunDirectories(root: string): Promise<{ outputDirectory: string; scratch: string }> {
  const outputDirectory = join(root, 'out');
  const scratch = join(root, 'scratch');
  await mkdir(outputDirectory, { recursive: true, mode: 0o700 });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  return { outputDirectory, scratch };
}
