import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';

/** The longest message a sandboxed process may send, in characters. */
export const maxMessageLength = 4 * 1024 * 1024;

/** What a Node program inside needs to find its end of the channel at file descriptor 3. */
export const channelEnvironment = { NODE_CHANNEL_FD: '3', NODE_CHANNEL_SERIALIZATION_MODE: 'json' };

/**
 * Gives `child` Node's messaging (`send`, `connected`, the events `message` and `disconnect`) over a plain pipe. Inside it
 * is Node's own channel, lines of JSON; the outer end is ours because Node's own lets one malformed line of an untrusted
 * child end this process (an uncaught SyntaxError), keeps a line without an end in memory and accepts handles. Messages
 * are JSON objects of at most `maxMessageLength`; what is in them is still the word of a stranger.
 *
 * `onViolation` is called once, with a reason, when the child breaks the protocol.
 */
export function attachChannel(child: ChildProcess, channel: Duplex, onViolation: (reason: string) => void): void {
  let pending = '';
  const violate = (reason: string) => {
    channel.destroy();
    onViolation(reason);
  };
  const receive = (line: string) => {
    const message = parseLine(line);
    if (message === undefined) violate('It sent a message that is not a JSON object.');
    else child.emit('message', message, undefined);
  };
  channel.setEncoding('utf8').on('data', (text: string) => {
    const lines = (pending + text).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) {
      if (channel.destroyed) return;
      receive(line);
    }
    if (pending.length > maxMessageLength) violate('It sent a message that is too long.');
  });
  channel.on('error', () => undefined); // A process that has ended: told by 'close'.
  channel.once('close', () => child.emit('disconnect'));
  Object.defineProperty(child, 'connected', { get: () => !channel.destroyed });
  Object.defineProperty(child, 'send', {
    value: (message: unknown) => channel.writable && channel.write(`${JSON.stringify(message)}\n`),
  });
}

function parseLine(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
