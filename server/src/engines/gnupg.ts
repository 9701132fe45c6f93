import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { runProgram } from '../sandbox/program.ts';
import type { Engine } from './engine.ts';

export const gnupg: Engine = {
  id: 'gnupg',
  name: 'GnuPG',
  license: 'GPL-3.0-or-later',
  install: 'apt-get install -y --no-install-recommends gnupg',
  async version() {
    const result = await runProgram('gpg', ['--version'], { timeoutMs: 5000 }).catch(() => undefined);
    return result === undefined ? undefined : /^gpg \(GnuPG\) ([\d.]+)/.exec(result.stdout)?.[1];
  },
};

interface Work {
  passphrase: string;
  /** A private directory: the program keeps its state in one below it. */
  scratch: string;
  signal: AbortSignal;
}

/** Encrypts a file with a passphrase: OpenPGP, AES-256, with a check against changes. @throws Failure `engine_failed` */
export async function encryptWithGnupg(input: string, output: string, work: Work): Promise<void> {
  await runGnupg(['--symmetric', '--cipher-algo', 'AES256', '--set-filename', '', '-o', output, input], work);
}

/**
 * Decrypts what a passphrase encrypted, armoured or not.
 *
 * @throws Failure `password_required` for a wrong passphrase, `invalid_input` for a file that was encrypted to keys, was
 * changed or is damaged.
 */
export async function decryptWithGnupg(
  { path, filename }: { path: string; filename: string },
  output: string,
  work: Work,
): Promise<void> {
  const status = await runGnupg(['--decrypt', '-o', output, path], work, [0, 2]);
  const says = (keyword: string) => status.includes(`[GNUPG:] ${keyword}`);
  // GOODMDC: what was decrypted is what was encrypted. Without it the file may have been changed on its way.
  if (says('DECRYPTION_OKAY') && says('GOODMDC')) return;
  await rm(output, { force: true });
  throw refusal(status, filename, says);
}

function refusal(status: string, filename: string, says: (keyword: string) => boolean): Failure {
  const options = { file: filename, log: status };
  if (says('ENC_TO') && !says('NEED_PASSPHRASE_SYM')) {
    return new Failure('invalid_input', `"${filename}" was encrypted to a key, not with a passphrase.`, options);
  }
  const isOpened = says('PLAINTEXT') || says('BADMDC');
  if (says('NEED_PASSPHRASE_SYM') && says('DECRYPTION_FAILED') && !isOpened) {
    return new Failure('password_required', `The passphrase for "${filename}" is wrong.`, options);
  }
  return new Failure('invalid_input', `"${filename}" is damaged, or was not encrypted with OpenPGP.`, options);
}

/** Returns what the program says for machines. The passphrase goes through standard input: arguments can be seen. */
async function runGnupg(args: string[], { passphrase, scratch, signal }: Work, okCodes = [0]): Promise<string> {
  const home = join(scratch, 'gnupg');
  await mkdir(home, { mode: 0o700, recursive: true });
  const options = ['--batch', '--yes', '--no-tty', '--homedir', home, '--no-symkey-cache', '--status-fd', '1'];
  const passing = ['--pinentry-mode', 'loopback', '--passphrase-fd', '0'];
  try {
    const { stdout, stderrTail } = await runProgram('gpg', [...options, ...passing, ...args], {
      stdin: `${passphrase}\n`,
      signal,
      okCodes,
    });
    return stdout + stderrTail;
  } finally {
    // Its agent stays behind for later keys that there are none of.
    await runProgram('gpgconf', ['--homedir', home, '--kill', 'all'], { timeoutMs: 5000 }).catch(() => undefined);
    await rm(home, { recursive: true, force: true });
  }
}
