import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where LibreOffice makes its pipe (`sal/osl/unx/pipe.cxx`), whatever TMPDIR says. */
const pipeDirectories = ['/tmp', '/var/tmp'];

/**
 * The pipe of the instance that uses this profile, undefined while there is none. Its name ends with the MD5 of the
 * profile's URL in UTF-16, printed without leading zeros; before that comes the user's id where there is a passwd entry.
 */
export async function findPipe(profile: string): Promise<string | undefined> {
  const digest = createHash('md5')
    .update(Buffer.from(pathToFileURL(profile).href, 'utf16le'))
    .digest();
  const ending = `_SingleOfficeIPC_${[...digest].map((byte) => byte.toString(16)).join('')}`;
  for (const directory of pipeDirectories) {
    const names = await readdir(directory).catch(() => []);
    const name = names.find((entry) => entry.startsWith('OSL_PIPE') && entry.endsWith(ending));
    if (name !== undefined) return join(directory, name);
  }
  return undefined;
}

const ready = 'InternalIPC::SendArguments\0';
const done = 'InternalIPC::ProcessingDone';

/**
 * Hands command-line arguments to a running instance, as a second `soffice` would, and waits until they are processed.
 *
 * @throws Error when the instance is not there or goes away, and what `signal` was aborted with.
 */
export function sendArguments(pipe: string, args: readonly string[], signal?: AbortSignal): Promise<void> {
  const message = `InternalIPC::Arguments0${args.map((argument) => `,${escapeArgument(argument)}`).join('')}\0`;
  return new Promise((resolve, reject) => {
    const socket = connect(pipe);
    const abort = () => socket.destroy(signal?.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      if (received === ready) {
        received = '';
        socket.write(message);
      } else if (received.startsWith(done)) {
        resolve();
        socket.destroy();
      }
    });
    socket.once('error', reject);
    socket.once('close', () => {
      signal?.removeEventListener('abort', abort);
      reject(new Error('LibreOffice closed the connection'));
    });
    if (signal?.aborted === true) abort();
  });
}

function escapeArgument(argument: string): string {
  return argument
    .replaceAll('\\', String.raw`\\`)
    .replaceAll(',', String.raw`\,`)
    .replaceAll('\0', String.raw`\0`);
}
