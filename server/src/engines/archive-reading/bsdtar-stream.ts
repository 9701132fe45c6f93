import { PassThrough, Readable } from 'node:stream';
import { Failure } from '../../lib/failure.ts';
import { filterProgram } from '../../sandbox/program.ts';
import { damagedArchive, passwordFailure, type ArchiveFile, type ReadingOptions } from './member.ts';

export const program = 'bsdtar';

/** Lets libarchive write a TAR of any archive it knows into a stream; `done` fails when it did not get to the end. */
export function unpackAsTar(
  archive: ArchiveFile,
  format: 'pax' | 'gnutar',
  options: ReadingOptions,
): { tar: Readable; done: Promise<void> } {
  const tar = new PassThrough();
  const done = filterProgram(program, ['-cf', '-', `--format=${format}`, `@${archive.path}`], {
    input: Readable.from([]),
    output: tar,
    signal: options.signal,
  }).catch((error: unknown) => {
    tar.destroy(explain(error, archive, options));
    throw explain(error, archive, options);
  });
  done.catch(() => undefined);
  return { tar, done };
}

function explain(error: unknown, { filename }: ArchiveFile, { password }: ReadingOptions): Error {
  if (!(error instanceof Failure)) return error as Error;
  const log = error.log ?? '';
  if (!/encrypt|passphrase|password/i.test(log)) return damagedArchive(filename, log);
  if (password === undefined) return passwordFailure(filename, password);
  const message = `"${filename}" is encrypted in a way that cannot be opened here.`;
  return new Failure('invalid_input', message, { file: filename, log });
}
