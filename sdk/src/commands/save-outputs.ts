import { mkdir } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Run } from '../types.ts';
import type { Call } from './command.ts';
import { safeFilename } from './names.ts';
import type { Progress } from './progress.ts';
import { Refusal } from './refusal.ts';

/**
 * Saves all outputs of a run in a directory, which is made when it is not there. No file is replaced without `force`, and
 * never one of the same run.
 *
 * @returns The absolute paths, in the order of the outputs.
 */
export async function saveOutputs(
  { client, signal }: Call,
  run: Run,
  { directory, force, progress }: { directory: string; force: boolean; progress: Progress },
): Promise<string[]> {
  const outputs = run.outputs ?? [];
  if (outputs.length === 0) throw new Refusal(`The files of ${run.id} are no longer kept.`);
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    throw new Refusal(`The directory ${directory} cannot be made: ${error instanceof Error ? error.message : ''}.`);
  });
  const paths: string[] = [];
  const taken = new Set<string>();
  for (const output of outputs) {
    const filename = safeFilename(output.filename);
    // Systems that make no difference between A and a are common.
    const isTaken = taken.has(filename.toLowerCase());
    taken.add(filename.toLowerCase());
    const path = await client.download(output, join(directory, filename), {
      onExists: force && !isTaken ? 'overwrite' : 'rename',
      onProgress: (state) => progress.download(filename, state),
      signal,
    });
    paths.push(path);
  }
  progress.clear();
  return paths;
}

/** A path as somebody in this directory would write it. */
export function shownPath(path: string): string {
  const here = relative(resolve('.'), path);
  return here.startsWith('..') || isAbsolute(here) ? path : here;
}
