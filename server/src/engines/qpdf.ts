import { createRequire } from 'node:module';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';

const require = createRequire(import.meta.url);

export const qpdf: Engine = {
  id: 'qpdf',
  name: 'qpdf (WebAssembly)',
  license: 'Apache-2.0',
  async version() {
    const { code, output } = await runQpdf(['--version'], {});
    return code === 0 ? /version (\S+)/.exec(output)?.[1] : undefined;
  },
};

/** The part of the Emscripten module that is used; the package's own types leave out most of it. */
interface QpdfModule {
  callMain(args: string[]): number;
  NODEFS: unknown;
  FS: {
    init(input: () => null, output: ByteSink, error: ByteSink): void;
    mkdir(path: string): void;
    mount(type: unknown, options: { root: string }, mountPoint: string): void;
  };
}
type ByteSink = (byte: number | null) => void;
type CreateQpdf = (options: {
  locateFile: () => string;
  quit: (status: number, toThrow: Error) => void;
  preRun: ((module: QpdfModule) => void)[];
}) => Promise<QpdfModule>;

/**
 * Runs qpdf on real directories: `mounts` maps a name to a host directory, seen as `/name`. Files are read and written in
 * place, never held in memory whole. A fresh instance a run, because memory that WebAssembly has taken is not given back.
 */
async function runQpdf(
  args: readonly string[],
  mounts: Record<string, string>,
): Promise<{ code: number; output: string }> {
  const createQpdf = require('@neslinesli93/qpdf-wasm') as CreateQpdf;
  const written: number[] = [];
  const keep: ByteSink = (byte) => {
    if (byte !== null && written.length < 8000) written.push(byte);
  };
  const module = await createQpdf({
    locateFile: () => require.resolve('@neslinesli93/qpdf-wasm/dist/qpdf.wasm'),
    // The default would set this process's own exit code.
    quit: (_status, toThrow) => {
      throw toThrow;
    },
    preRun: [({ FS }) => FS.init(() => null, keep, keep)],
  });
  for (const [name, root] of Object.entries(mounts)) {
    module.FS.mkdir(`/${name}`);
    module.FS.mount(module.NODEFS, { root }, `/${name}`);
  }
  const code = callMain(module, args);
  return { code, output: Buffer.from(written).toString('utf8') };
}

function callMain(module: QpdfModule, args: readonly string[]): number {
  try {
    return module.callMain([...args]);
  } catch (cause) {
    throw new Failure('engine_failed', 'The PDF engine stopped while working on the file.', { cause });
  }
}

/** Exit codes of qpdf: 0, or 3 for "worked, with warnings". */
const succeeded = new Set([0, 3]);

interface PdfPaths {
  input: string;
  output: string;
  /** The given name, for messages. */
  filename: string;
}

async function rewrite(options: readonly string[], { input, output }: PdfPaths): Promise<string | undefined> {
  const mounts = { in: dirname(input), out: dirname(output) };
  const result = await runQpdf([...options, `/in/${basename(input)}`, `/out/${basename(output)}`], mounts);
  const written = await stat(output).catch(() => undefined);
  if (succeeded.has(result.code) && written !== undefined && written.size > 0) return undefined;
  return result.output.trim() === '' ? `qpdf exited ${result.code}` : result.output;
}

/**
 * Writes a copy without encryption. Without `password` the empty user password is tried: that opens a file that only its
 * owner's rights protect.
 *
 * @throws Failure `password_required`; `invalid_input` for an unknown kind of encryption or a damaged file.
 */
export async function decryptPdf(paths: PdfPaths, password: string | undefined): Promise<void> {
  const log = await rewrite(['--decrypt', `--password=${password ?? ''}`], paths);
  if (log === undefined) return;
  const file = paths.filename;
  if (!log.includes('invalid password')) {
    throw new Failure('invalid_input', `${file} is encrypted in a way that cannot be opened, or damaged.`, {
      file,
      log,
    });
  }
  const message = password === undefined ? `${file} needs a password.` : `The password for ${file} is wrong.`;
  throw new Failure('password_required', message, { file, log });
}

/**
 * Writes a copy arranged for fast web view: the first page can be shown before the rest has arrived.
 *
 * @throws Failure `engine_failed`
 */
export async function linearizePdf(paths: PdfPaths): Promise<void> {
  const log = await rewrite(['--linearize', '--object-streams=generate'], paths);
  if (log === undefined) return;
  throw new Failure('engine_failed', `${paths.filename} could not be arranged for fast web view.`, {
    file: paths.filename,
    log,
  });
}
