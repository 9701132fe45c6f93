import { mkdir, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../lib/failure.ts';
import { filterProgram, runProgram } from '../sandbox/program.ts';
import type { ArchiveEntry, ArchiveOptions } from './archive-entry.ts';
import type { Engine } from './engine.ts';

const program = '7zz';

export const sevenZip: Engine = {
  id: '7zip',
  name: '7-Zip',
  license: 'LGPL-2.1-or-later',
  install: 'apt-get install -y --no-install-recommends 7zip',
  async version() {
    const result = await runProgram(program, ['i'], { timeoutMs: 10_000 }).catch(() => undefined);
    return result === undefined ? undefined : /7-Zip \(z\) ([\d.]+)/.exec(result.stdout)?.[1];
  },
};

/**
 * Writes a 7z archive; with a password its contents and the names in it are encrypted (AES-256). `target` does not exist.
 *
 * @throws Failure `engine_failed`; what `signal` was aborted with.
 */
export async function writeSevenZip(
  target: string,
  entries: readonly ArchiveEntry[],
  {
    level,
    password,
    scratch,
    signal,
    onPercent,
  }: ArchiveOptions & { scratch: string; onPercent(percent: number): void },
): Promise<void> {
  const stage = join(scratch, 'archive');
  await mkdir(stage, { mode: 0o700 });
  try {
    // The program names entries after files: links carry the names without copying a byte. Given as one directory,
    // no name can be taken for a switch or a list.
    for (const entry of entries) await linkEntry(stage, entry);
    const encryption = password === undefined ? [] : [`-p${password}`, '-mhe=on'];
    await runProgram(
      program,
      ['a', '-t7z', `-mx=${level}`, '-mtm=off', '-bsp1', '-bso0', ...encryption, '--', target, '.'],
      {
        cwd: stage,
        signal,
        onLine: (line) => {
          const percent = /^\s*(\d{1,3})%/.exec(line)?.[1];
          if (percent !== undefined) onPercent(Number(percent));
        },
      },
    );
    const { size } = await stat(target).catch(() => ({ size: 0 }));
    if (size === 0) throw new Failure('engine_failed', 'The archive could not be written.');
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function linkEntry(stage: string, { name, path, isDirectory }: ArchiveEntry): Promise<void> {
  const place = join(stage, name);
  await mkdir(isDirectory === true ? place : dirname(place), { recursive: true, mode: 0o700 });
  if (isDirectory !== true) await symlink(path, place);
}

/** Compresses a stream as XZ. @throws Failure `engine_failed`; what `signal` was aborted with. */
export async function compressXz(input: Readable, output: Writable, level: number, signal: AbortSignal): Promise<void> {
  await filterProgram(program, ['a', '-txz', `-mx=${level}`, '-si', '-so', '-an', '-bd'], { input, output, signal });
}
