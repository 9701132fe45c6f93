import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../lib/failure.ts';
import { readHead } from '../lib/read-head.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const age: Engine = {
  id: 'age',
  name: 'age',
  license: 'BSD-3-Clause',
  version: () => packageVersion('age-encryption'),
};

interface Work {
  passphrase: string;
  signal: AbortSignal;
  onBytes(count: number): void;
}

/** Encrypts a file with a passphrase, as `age -p` does, piece by piece. */
export async function encryptWithAge(input: string, output: string, { passphrase, ...work }: Work): Promise<void> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  await pipeline(fromWeb(await encrypter.encrypt(toWeb(input, work))), createWriteStream(output), {
    signal: work.signal,
  });
}

/**
 * Decrypts what a passphrase encrypted, armoured or not. Nothing of a file that was changed is kept: its last piece tells.
 *
 * @throws Failure `password_required` for a wrong passphrase, and for a file that was encrypted to a key; `invalid_input`
 * for a damaged one.
 */
export async function decryptWithAge(
  input: { path: string; filename: string },
  output: string,
  { passphrase, ...work }: Work,
): Promise<void> {
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    const bytes = (await isArmored(input.path)) ? armored(input.path, armor.decode) : toWeb(input.path, work);
    await pipeline(fromWeb(await decrypter.decrypt(bytes)), createWriteStream(output), { signal: work.signal });
  } catch (error) {
    work.signal.throwIfAborted();
    const log = error instanceof Error ? error.message : String(error);
    throw explain(log, input.filename);
  }
}

async function isArmored(path: string): Promise<boolean> {
  return /^\s*-----BEGIN AGE/.test((await readHead(path, 64)).toString('latin1'));
}

/** An armoured file is text that is sent by mail: small enough to be read whole. */
function armored(path: string, decode: (text: string) => Uint8Array): ReadableStream<Uint8Array> {
  const read = async function* () {
    yield decode(await readFile(path, 'latin1'));
  };
  return Readable.toWeb(Readable.from(read(), { objectMode: false })) as ReadableStream<Uint8Array>;
}

function explain(log: string, filename: string): Failure {
  // The library tries a passphrase only where a file has one.
  if (/no identity matched/.test(log)) {
    const message = `The passphrase for "${filename}" is wrong, or the file was encrypted to a key.`;
    return new Failure('password_required', message, { file: filename, log });
  }
  return new Failure('invalid_input', `"${filename}" is damaged, or no file that age has encrypted.`, {
    file: filename,
    log,
  });
}

function toWeb(path: string, { onBytes }: Pick<Work, 'onBytes'>): ReadableStream<Uint8Array> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  file.on('data', (chunk) => onBytes(chunk.length));
  file.pause();
  return Readable.toWeb(file) as ReadableStream<Uint8Array>;
}

function fromWeb(stream: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
}
