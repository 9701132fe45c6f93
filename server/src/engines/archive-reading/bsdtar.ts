import { runProgram } from '../../sandbox/program.ts';
import type { Engine } from '../engine.ts';
import { program, unpackAsTar } from './bsdtar-stream.ts';
import type { ArchiveFile, OnMember, ReadingOptions } from './member.ts';
import { checkRarMembers } from './rar-members.ts';
import { checkStoredMembers } from './stored-rar.ts';
import { readTarStream } from './tar.ts';

export const bsdtar: Engine = {
  id: 'bsdtar',
  name: 'libarchive (bsdtar)',
  license: 'BSD-2-Clause',
  install: 'apt-get install -y --no-install-recommends libarchive-tools',
  async version() {
    const result = await runProgram(program, ['--version'], { timeoutMs: 5000 }).catch(() => undefined);
    return result === undefined ? undefined : /libarchive ([\d.]+)/.exec(result.stdout)?.[1];
  },
};

/** Reads RAR, 7z, ISO and CAB by letting libarchive write a TAR of them into a pipe. */
export async function readByBsdtar(archive: ArchiveFile, options: ReadingOptions, onMember: OnMember): Promise<void> {
  await checkRarMembers(archive, options);
  await checkStoredMembers(archive, options.signal);
  const { tar, done } = unpackAsTar(archive, 'pax', options);
  await readTarStream(tar, archive, options, onMember);
  await done;
}
